"""Functions that read files, data frames and arrays into a `Dataset` of discrete variables."""
