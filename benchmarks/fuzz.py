"""Thousands of files that were right and have been changed at random: no traceback, no hang over 5 s, no memory over 1 GB.

Use: python fuzz.py [COUNT] [SEED]   10,000 of CSV, BIF, TOML and journals together by default; findings stay in ./fuzzed
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.fuzzing import WORDS, attack

BATCH = 250

if __name__ == "__main__":
    count, seed = (int(word) for word in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    batches = [(kind, seed + batch) for batch in range(-(-count // (BATCH * len(WORDS)))) for kind in WORDS]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        runs = {(k, s): pool.submit(attack, k, Path("fuzzed") / f"{k}-{s}", s, BATCH) for k, s in batches}
        findings = [text for run in runs.values() for text in run.result()]
    print(f"{len(batches) * BATCH:,} files, {len(findings)} findings")
    print("\n".join(findings))
