"""Reading of files, data frames and arrays into a `Dataset` of discrete variables."""
