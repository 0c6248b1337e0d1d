"""Rows and columns in great number. Files are made on the way, in a temporary folder.

Use: python benchmarks/scale.py rows              10^8 rows x 10 binary columns that merge, beside polars' own group-by
     python benchmarks/scale.py unmerged          10^7 rows x 40 binary columns that do not merge
     python benchmarks/scale.py columns [N...]    random networks of N variables, 10,000 rows; 50 to 1000 by default
     python benchmarks/scale.py tall [N...]       the same with 100,000 rows; 50 and 100 by default
Each case runs in a process of its own, so that peak memory is its own.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
import numpy as np

import dagneal as dn

SCORE = dn.BDeu(1.0)
TABLE_PARENTS, GLOBAL_PARENTS = 2, 4


def write(path: Path, rows: int, columns: int, flip: float, reach: int) -> None:
    """Binary columns, each a noisy copy of one of the few before it, a million rows at a time, then as one file."""
    import polars as pl

    generator = np.random.default_rng(1)
    parts = path.with_suffix(".parts")
    parts.mkdir()
    step = min(rows, 1_000_000)
    for part in range(rows // step):
        found = np.empty((columns, step), dtype=np.uint8)
        found[0] = generator.integers(0, 2, step)
        for column in range(1, columns):
            noise = generator.random(step, dtype=np.float32) < flip
            found[column] = found[generator.integers(max(0, column - reach), column)] ^ noise
        pl.DataFrame({f"c{i}": line for i, line in enumerate(found)}).write_parquet(parts / f"{part:03}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(path)


def network(n: int, seed: int = 1) -> dn.BayesianNetwork:
    """A random sparse network: two or three states, up to three parents among the thirty variables before."""
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    order = generator.permutation(n)
    states = {name: tuple(str(s) for s in range(generator.integers(2, 4))) for name in names}
    parents = {}
    for place, variable in enumerate(order):
        pool = order[max(0, place - 30) : place]
        count = min(len(pool), int(generator.choice([0, 1, 2, 3], p=[0.1, 0.4, 0.35, 0.15])))
        chosen = sorted(generator.choice(pool, count, replace=False)) if count else []
        parents[names[variable]] = tuple(names[v] for v in chosen)
    tables = {}
    for name in names:
        shape = [len(states[v]) for v in (*parents[name], name)]
        tables[name] = generator.dirichlet([0.5] * shape[-1], size=shape[:-1])
    return dn.BayesianNetwork(states, parents, tables)


def polars_merges(path: str) -> dict:
    import polars as pl

    begun = time.perf_counter()
    frame = pl.scan_parquet(path)
    found = frame.group_by(*frame.collect_schema().names()).agg(pl.len()).collect(engine="streaming")
    return {"seconds": time.perf_counter() - begun, "rows": found.height}


def we_read(path: str) -> dict:
    begun = time.perf_counter()
    data = dn.read(path)
    return {"seconds": time.perf_counter() - begun, "data": repr(data)}


def we_score(path: str) -> dict:
    begun = time.perf_counter()
    data = dn.read(path)
    read = time.perf_counter() - begun
    dn.scoring.Scorer(data, SCORE).table(TABLE_PARENTS)  # compiled
    begun = time.perf_counter()
    dn.scoring.Scorer(data, SCORE).table(TABLE_PARENTS)
    seconds = time.perf_counter() - begun
    words = dn.scoring.Scorer(data, SCORE).counter.planes.words
    begun = time.perf_counter()
    for _ in range(5):
        words.max()
    bandwidth = 5 * words.nbytes / (time.perf_counter() - begun)
    return {
        "read": read,
        "seconds": seconds,
        "rows": data.rows,
        "n": len(data.names),
        "bytes": words.nbytes,
        "bandwidth": bandwidth,
    }


def we_learn(count: str, rows: str) -> dict:
    truth = network(int(count))
    data = truth.sample(int(rows), 1)
    settings = {"score": SCORE, "max_parents": GLOBAL_PARENTS, "seed": 0}
    dn.learn(network(80).sample(500, 1), dn.Auto(), **settings)  # compiled
    begun = time.perf_counter()
    found = dn.learn(data, dn.Auto(), **settings)
    seconds = time.perf_counter() - begun
    against = dn.compare(found.dag, truth.dag)
    above = found.score - dn.scoring.Scorer(data, SCORE).score(truth.dag)
    return {
        "seconds": seconds,
        "score": repr(found.score),
        "above": above,
        "distance": against.cpdag_shd,
        "edges": truth.dag.number_of_edges(),
    }


def alone(case: str, *words: str) -> dict:
    """Run a case in a process of its own."""
    done = subprocess.run([sys.executable, __file__, case, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def merged_rows(bench: harness.Benchmark) -> None:
    """Rows that merge."""
    count = 10**6 if bench.small else 10**8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, count, 10, 0.2, 3)
        theirs, ours = alone("polars_merges", str(path)), alone("we_read", str(path))
        size = f"{count:,} x 10"
        bench.info(f"polars' streaming group-by of {size}", theirs["seconds"], "s")
        bench.info(f"polars' streaming group-by of {size}, memory", theirs["memory"], "GB")
        most = None if bench.small else 3 * theirs["seconds"]
        bench.seconds(f"dagneal reads and merges {size}", ours["seconds"], most)
        bench.memory(f"dagneal reads and merges {size}, memory", ours["memory"], 1.5)
        bench.info("ratio of the times", ours["seconds"] / theirs["seconds"])


def unmerged_rows(bench: harness.Benchmark) -> None:
    """Rows that do not merge."""
    count = 10**5 if bench.small else 10**7
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, count, 40, 0.3, 6)
        found = alone("we_score", str(path))
        n, work = found["n"], found["rows"] / found["seconds"]
        triples = n * (n - 1) * (n - 2) // 6
        bench.seconds(f"dagneal reads {count:,} x 40 and packs them", found["read"], note=f"{found['bytes'] / 1e6:.0f} MB")
        bench.seconds(f"score table, at most {TABLE_PARENTS} parents", found["seconds"])
        bench.info("rows x triples a second", f"{triples * work:.3g}")
        # A triple of binary variables is four conjunctions of two planes of N / 8 bytes, which stay in the cache; memory is
        # read once for each of the sixteen pieces that the sets are cut into.
        speed = found["bandwidth"]
        cached, read = triples * work, 16 * found["bytes"] / found["seconds"]
        note = f"{cached / speed:.1f} x memory bandwidth"
        bench.info("bytes in conjunctions, a second, both cores", cached / 1e9, "GB", note=note)
        note = f"{read / speed:.0%} of one core's {speed / 1e9:.0f} GB"
        bench.info("bytes from memory, a second", read / 1e9, "GB", note=note)
        bench.memory("peak memory", found["memory"])


def learn_columns(bench: harness.Benchmark, counts: list[str], rows: int) -> None:
    """Random networks of many variables."""
    heads = ("variables", "rows", "s", "peak memory, GB", "edges of the truth", "score above the truth's", "CPDAG distance")
    table = harness.Table(bench, heads)
    for count in counts:
        found = alone("we_learn", count, str(rows))
        figures = (found["edges"], f"{found['above']:.1f}", found["distance"])
        cells = (count, f"{rows:,}", f"{found['seconds']:.1f}", f"{found['memory']:.2f}", *figures)
        table.row(f"{count} variables, {rows:,} rows", cells, found["seconds"], exact=(found["score"], *figures))


PARTS = {"polars_merges": polars_merges, "we_read": we_read, "we_score": we_score, "we_learn": we_learn}
CASES = ("rows", "unmerged", "columns", "tall")


def main() -> None:
    """Run what the command line asks for."""
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:]) | {"memory": harness.peak_memory()}))
        return
    arguments = (("case", {"choices": CASES, "nargs": "?", "default": "columns"}), ("counts", {"nargs": "*"}))
    options = harness.parse_options(__doc__, *arguments)
    with harness.Benchmark(f"scale-{options.case}", options) as bench:
        if options.case == "rows":
            merged_rows(bench)
        elif options.case == "unmerged":
            unmerged_rows(bench)
        else:
            tall = options.case == "tall"
            counts = ["50", "100"] if tall else ["50", "100", "200", "500", "1000"]
            learn_columns(bench, options.counts or (["30"] if bench.small else counts), 100_000 if tall else 10_000)


if __name__ == "__main__":
    main()
