"""Damage journals at random, and check that every loss is reported.

The benchmark damages closed journals, copies of open journals and journals of killed processes: in the file, in its log or
in both. It flips bits, truncates files, zeroes or swaps pages, overwrites ranges, deletes logs and appends garbage. A
damaged journal must return everything that was committed, report a loss, or be refused with one line. It must never return a
wrong value.

Usage: python journals.py [COUNT] [SEED]   2,000 journals and seed 0 by default
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.damage import attack, workspace


def main(count: int, seed: int) -> int:
    """Run the benchmark; return the exit status."""
    start = time.perf_counter()
    with workspace() as folder:
        tally = attack(folder, count, seed)
    print(f"{count:,} damaged journals, seed {seed}, {time.perf_counter() - start:.0f} s")
    print("\ndamage")
    for kind, number in sorted(tally.kinds.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {kind:50} {number:6,}")
    rows = {
        "everything recovered": tally.outcomes["complete"],
        "everything recovered, with a note": tally.outcomes["complete, with a note"],
        "reported losses": tally.outcomes["reported"],
        "refused": tally.outcomes["refused"],
        "unreported losses (target 0)": tally.outcomes["unreported"],
        "wrong values, errors, false notes (target 0)": len(tally.failures) - tally.outcomes["unreported"],
    }
    print("\noutcome")
    for name, number in rows.items():
        print(f"  {name:50} {number:6,}")
    for text in tally.failures[:20]:
        print(f"  {text}")
    print(f"\nverdict: {'FAIL' if tally.failures else 'PASS'}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    sys.exit(main(*(numbers + [2000, 0][len(numbers) :])))
