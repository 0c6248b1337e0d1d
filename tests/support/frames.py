"""Data frames for tests."""

import numpy as np
import polars as pl


def frame(rows=400, seed=0):
    generator = np.random.default_rng(seed)
    age = generator.normal(50, 15, rows).round(3)
    return pl.DataFrame({"age": age, "old": (age > 60).astype(int), "dose": generator.exponential(size=rows)})
