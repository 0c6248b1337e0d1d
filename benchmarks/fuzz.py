"""Give dagneal thousands of randomly damaged files: no traceback, no run over 5 s, no memory over 1 GB.

Usage: python benchmarks/fuzz.py [COUNT] [SEED]   10,000 CSV, BIF, TOML and journal files; files that fail stay in ./fuzzed
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import harness

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.fuzzing import WORDS, attack

if __name__ == "__main__":
    numbers = [(name, {"nargs": "?", "type": int, "default": value}) for name, value in (("count", 10_000), ("seed", 0))]
    with harness.start("fuzz", __doc__, *numbers) as bench:
        batch = 5 if bench.small else 250
        total = batch * len(WORDS) if bench.small else bench.options.count
        first = bench.options.seed
        batches = [(kind, first + number) for number in range(-(-total // (batch * len(WORDS)))) for kind in WORDS]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            runs = [pool.submit(attack, k, Path("fuzzed") / f"{k}-{s}", s, batch) for k, s in batches]
            findings = [text for run in runs for text in run.result()]
        print("\n".join(findings))
        bench.exact(f"findings in {len(batches) * batch:,} files, seed {first}", len(findings), equal_to=0)
