# Run one R learner on one file, for tools.py: Rscript tools.R TOOL ROWS.csv SEED
# Prints one edge per line, separated by a tab, then the seconds of the search. Exits with 3 if a package is not installed.
words <- commandArgs(trailingOnly = TRUE)
for (name in c("bnlearn", if (words[1] == "BLIP") "r.blip"))
  if (!requireNamespace(name, quietly = TRUE)) {
    message("R has no package ", name)
    quit(status = 3)
  }
rows <- read.csv(words[2], colClasses = "character", check.names = FALSE, na.strings = character(0))
rows[] <- lapply(rows, factor)
set.seed(as.integer(words[3]))
start <- proc.time()[["elapsed"]]
network <- switch(words[1],
  "R bnlearn climb, 10 restarts" = bnlearn::hc(rows, score = "bde", iss = 1, restart = 10),
  "R bnlearn tabu" = bnlearn::tabu(rows, score = "bde", iss = 1),
  "BLIP" = r.blip::blip.learn(rows, scorer.method = "is", solver.method = "winasobs", indeg = 4, time = 40,
                              scorefunction = "bdeu", alpha = 1, cores = 1, verbose = 0))
seconds <- proc.time()[["elapsed"]] - start
edges <- bnlearn::arcs(network)
if (nrow(edges)) cat(paste(edges[, 1], edges[, 2], sep = "\t"), sep = "\n")
cat("\n", seconds, "\n", sep = "")
