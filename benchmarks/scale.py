"""Measure many rows and many columns. The data files are created in a temporary folder.

Usage: python benchmarks/scale.py rows              10^8 rows x 10 binary columns, few distinct rows; also polars' group-by
       python benchmarks/scale.py unmerged          10^7 rows x 40 binary columns, mostly distinct rows
       python benchmarks/scale.py columns [N...]    random networks of N variables, 10,000 rows; 50 to 1000 by default
       python benchmarks/scale.py tall [N...]       random networks of N variables, 100,000 rows; 50 and 100 by default
Each case runs in a separate process, to measure its own peak memory.
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


def write_rows(path: Path, rows: int, columns: int, flip: float, reach: int) -> None:
    """Write binary columns to one Parquet file. Each column is a noisy copy of one of the `reach` columns before it."""
    import polars as pl

    generator = np.random.default_rng(1)
    parts = path.with_suffix(".parts")
    parts.mkdir()
    step = min(rows, 1_000_000)
    for part in range(rows // step):
        values = np.empty((columns, step), dtype=np.uint8)
        values[0] = generator.integers(0, 2, step)
        for column in range(1, columns):
            noise = generator.random(step, dtype=np.float32) < flip
            values[column] = values[generator.integers(max(0, column - reach), column)] ^ noise
        pl.DataFrame({f"c{i}": line for i, line in enumerate(values)}).write_parquet(parts / f"{part:03}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(path)


def random_network(n: int, seed: int = 1) -> dn.BayesianNetwork:
    """Return a random sparse network: two or three states, up to three parents among the previous thirty variables."""
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    order = generator.permutation(n)
    states = {name: tuple(str(s) for s in range(generator.integers(2, 4))) for name in names}
    parents = {}
    for position, variable in enumerate(order):
        pool = order[max(0, position - 30) : position]
        count = min(len(pool), int(generator.choice([0, 1, 2, 3], p=[0.1, 0.4, 0.35, 0.15])))
        chosen = sorted(generator.choice(pool, count, replace=False)) if count else []
        parents[names[variable]] = tuple(names[v] for v in chosen)
    tables = {}
    for name in names:
        shape = [len(states[v]) for v in (*parents[name], name)]
        tables[name] = generator.dirichlet([0.5] * shape[-1], size=shape[:-1])
    return dn.BayesianNetwork(states, parents, tables)


def merge_with_polars(path: str) -> dict:
    import polars as pl

    start = time.perf_counter()
    frame = pl.scan_parquet(path)
    merged = frame.group_by(*frame.collect_schema().names()).agg(pl.len()).collect(engine="streaming")
    return {"seconds": time.perf_counter() - start, "rows": merged.height}


def read_rows(path: str) -> dict:
    start = time.perf_counter()
    data = dn.read(path)
    return {"seconds": time.perf_counter() - start, "data": repr(data)}


def score_rows(path: str) -> dict:
    start = time.perf_counter()
    data = dn.read(path)
    read = time.perf_counter() - start
    dn.scoring.Scorer(data, SCORE).table(TABLE_PARENTS)  # compiles the kernels
    start = time.perf_counter()
    dn.scoring.Scorer(data, SCORE).table(TABLE_PARENTS)
    seconds = time.perf_counter() - start
    words = dn.scoring.Scorer(data, SCORE).counter.planes.words
    start = time.perf_counter()
    for _ in range(5):
        words.max()
    bandwidth = 5 * words.nbytes / (time.perf_counter() - start)
    return {
        "read": read,
        "seconds": seconds,
        "rows": data.rows,
        "n": len(data.names),
        "bytes": words.nbytes,
        "bandwidth": bandwidth,
    }


def learn_network(count: str, rows: str) -> dict:
    truth = random_network(int(count))
    data = truth.sample(int(rows), 1)
    settings = {"score": SCORE, "max_parents": GLOBAL_PARENTS, "seed": 0}
    dn.learn(random_network(80).sample(500, 1), dn.Auto(), **settings)  # compiles the kernels
    start = time.perf_counter()
    result = dn.learn(data, dn.Auto(), **settings)
    seconds = time.perf_counter() - start
    comparison = dn.compare(result.dag, truth.dag)
    above = result.score - dn.scoring.Scorer(data, SCORE).score(truth.dag)
    return {
        "seconds": seconds,
        "score": repr(result.score),
        "above": above,
        "distance": comparison.cpdag_shd,
        "edges": truth.dag.number_of_edges(),
    }


def run_separately(case: str, *words: str) -> dict:
    """Run a case in a separate process and return its figures."""
    done = subprocess.run([sys.executable, __file__, case, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def merged_rows(bench: harness.Benchmark) -> None:
    """Measure reading of data with few distinct rows."""
    count = 10**6 if bench.small else 10**8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, count, 10, 0.2, 3)
        polars, ours = run_separately("merge_with_polars", str(path)), run_separately("read_rows", str(path))
        size = f"{count:,} x 10"
        bench.info(f"polars' streaming group-by of {size}", polars["seconds"], "s")
        bench.info(f"polars' streaming group-by of {size}, memory", polars["memory"], "GB")
        most = None if bench.small else 3 * polars["seconds"]
        bench.seconds(f"dagneal reads and merges {size}", ours["seconds"], most)
        bench.memory(f"dagneal reads and merges {size}, memory", ours["memory"], 1.5)
        bench.info("ratio of the times", ours["seconds"] / polars["seconds"])


def unmerged_rows(bench: harness.Benchmark) -> None:
    """Measure scoring of data with mostly distinct rows."""
    count = 10**5 if bench.small else 10**7
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, count, 40, 0.3, 6)
        figures = run_separately("score_rows", str(path))
        n, work = figures["n"], figures["rows"] / figures["seconds"]
        triples = n * (n - 1) * (n - 2) // 6
        note = f"{figures['bytes'] / 1e6:.0f} MB"
        bench.seconds(f"dagneal reads {count:,} x 40 and packs them", figures["read"], note=note)
        bench.seconds(f"score table, at most {TABLE_PARENTS} parents", figures["seconds"])
        bench.info("rows x triples per second", f"{triples * work:.3g}")
        # Counting a triple of binary variables takes four conjunctions of two bit planes of N / 8 bytes, which stay in the
        # cache. The sets are split into sixteen tasks, and each task reads the planes from memory once.
        bandwidth = figures["bandwidth"]
        cached, read = triples * work, 16 * figures["bytes"] / figures["seconds"]
        note = f"{cached / bandwidth:.1f} x memory bandwidth"
        bench.info("bytes in conjunctions per second, both cores", cached / 1e9, "GB", note=note)
        note = f"{read / bandwidth:.0%} of one core's {bandwidth / 1e9:.0f} GB"
        bench.info("bytes from memory per second", read / 1e9, "GB", note=note)
        bench.memory("peak memory", figures["memory"])


def learn_columns(bench: harness.Benchmark, counts: list[str], rows: int) -> None:
    """Learn random networks of many variables."""
    heads = ("variables", "rows", "s", "peak memory, GB", "true edges", "score minus true score", "CPDAG distance")
    table = harness.Table(bench, heads)
    for count in counts:
        result = run_separately("learn_network", count, str(rows))
        figures = (result["edges"], f"{result['above']:.1f}", result["distance"])
        cells = (count, f"{rows:,}", f"{result['seconds']:.1f}", f"{result['memory']:.2f}", *figures)
        table.row(f"{count} variables, {rows:,} rows", cells, result["seconds"], exact=(result["score"], *figures))


PARTS = {
    "merge_with_polars": merge_with_polars,
    "read_rows": read_rows,
    "score_rows": score_rows,
    "learn_network": learn_network,
}
CASES = ("rows", "unmerged", "columns", "tall")


def main() -> None:
    """Run the case given on the command line."""
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
