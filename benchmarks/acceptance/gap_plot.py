"""Plot the gap of proof attempts against time.

Usage: python benchmarks/acceptance/gap_plot.py OUTPUT.svg [NETWORK...] [--networks FOLDER] [--seconds S]

Score BDeu(1), at most 3 parents, 10,000 rows, sample 1. Each attempt starts with the network of the search. A curve that
falls to the lowest line of the plot is a complete proof.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import proofs
from dagneal.proofs import Attempt, prove
from dagneal.runtime.run import Deadline, Run
from networks import OPTION

NETWORKS = ("insurance", "hepar2", "hailfinder", "alarm", "win95pts")
MAX_PARENTS, SMALLEST = 3, 0.1  # SMALLEST is in nats; smaller gaps are drawn at this height


def plot(attempts: dict[str, Attempt], path: Path) -> None:
    """Draw one curve for each attempt."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    figure, axes = pyplot.subplots(figsize=(9, 5))
    for name, attempt in attempts.items():
        seconds, scores, bounds = (list(column) for column in zip(*attempt.trace, strict=True))
        gaps = [max(bound - score, SMALLEST) for score, bound in zip(scores, bounds, strict=True)]
        (line,) = axes.step(seconds, gaps, where="post", label=f"{name} ({len(attempt.dag)} variables)")
        if attempt.optimal:
            axes.plot(seconds[-1], SMALLEST, "o", color=line.get_color())
    axes.set(xscale="log", yscale="log", xlabel="wall seconds", ylabel="gap in nats; a dot is a complete proof")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, metavar="OUTPUT.svg")
    parser.add_argument("names", nargs="*", default=list(NETWORKS), metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--seconds", type=float, default=300.0, metavar="S", help="time limit of an attempt")
    options = parser.parse_args()
    options.only = []
    attempts = {}
    with tempfile.TemporaryDirectory() as folder:
        run = proofs.Acceptance(options, Path(folder))
        run.compile_kernels()
        for name in options.names:
            case = run.case(name, 1, proofs.ROWS, MAX_PARENTS)
            attempts[name] = prove(case.table, case.found.dag, Run(deadline=Deadline.after(options.seconds)))
            gap = attempts[name].bound.score - attempts[name].score
            print(f"{name}: gap {gap:.3f} after {attempts[name].seconds:.1f} s", flush=True)
    plot(attempts, options.output)


if __name__ == "__main__":
    main()
