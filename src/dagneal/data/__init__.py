"""From files, frames and arrays to a Dataset of discrete variables."""
