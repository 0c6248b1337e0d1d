"""The quantum annealer: chips, embeddings, tiling, submission, planning and emulation. Needs `pip install dagneal[qpu]`."""
