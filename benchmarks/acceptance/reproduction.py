"""Check the reproduction of the paper: Tables 9 to 11, the report, the emulator, interruptions and the cloud service.

Usage: python benchmarks/acceptance/reproduction.py [PART ...] [--records FOLDER] [--draws FILE]

The parts are tables, report, emulator, interruption (about 20 minutes) and service. FOLDER contains the records of
`dagneal reproduce all --scale paper`, by default docs/reproduction/paper. FILE contains draws of benchmarks/emulator.py.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from verdict import Verdicts

sys.path.insert(0, str(Path(__file__).parents[1]))
import emulator

from dagneal.paper import evaluation
from dagneal.paper.division_items import TABLES
from dagneal.paper.document import write_report
from dagneal.paper.items import Setting
from dagneal.paper.records import Records
from dagneal.qpu.chip_models import MODELS, make_model

ROOT = Path(__file__).parents[2]
LEVEL, HOURS = 0.01, 3.0
FIGURES = ("correct", "wrong", "distinct correct", "distinct wrong")


def check_tables(options: argparse.Namespace, verdicts: Verdicts) -> None:
    """Compare the SA rows of Tables 9 to 11 with the paper."""
    records = Records(options.records / "records.jsonl")
    for table in TABLES:
        results, p_values = table.compare(records, Setting("paper"))
        published = {k for k, method in table.published if method == "sa"}
        tested = {index: p for index, p in p_values.items() if results[index].runs.solver == "sa"}
        sizes = {results[index].runs.k for index in tested}
        verdicts.add(f"Table {table.number}: rows tested", f"{len(sizes)}", f"{len(published)}", sizes == published)
        for index, adjusted in tested.items():
            runs = results[index].runs
            text = ", ".join(f"{name} {p:.2g}" for name, p in zip(FIGURES, adjusted, strict=True))
            what = f"Table {table.number}, k = {runs.k}, {len(results[index].found[0])} runs: {text}"
            verdicts.add(what, f"{min(adjusted):.2g}", f"at least {LEVEL}", min(adjusted) >= LEVEL)


def check_report(options: argparse.Namespace, verdicts: Verdicts) -> None:
    """Check that all runs of the paper's scale are recorded, and their CPU time."""
    records = Records(options.records / "records.jsonl")
    cases = evaluation.all_cases(list(evaluation.ITEMS), Setting("paper"))
    done = records.select(cases)
    verdicts.add("runs of the paper's scale that are recorded", len(done), f"{len(cases)}", len(done) == len(cases))
    hours = sum(record.cpu for record in done) / 3600
    verdicts.add("CPU hours of these runs", f"{hours:.2f}", f"at most {2 * HOURS:g}", hours <= 2 * HOURS)
    text = (options.records / "report.md").read_text(encoding="utf-8")
    missing = [name for name in ("Date: ", "Machine: ", "Versions: ", "CPU time of all runs: ") if f"- {name}" not in text]
    verdicts.add("missing lines about the runs in the report", ", ".join(missing) or "none", "none", not missing)


def check_emulator(options: argparse.Namespace, verdicts: Verdicts) -> None:
    """Count the draws of each cell."""
    stored = emulator.read_draws(options.draws)
    for name in MODELS:
        counts = emulator.select_draws(stored, repr(make_model(name)))
        for label, tables, cells in (("6", (6,), 12), ("4", (4,), 7), ("9 to 11", (9, 10, 11), 11)):
            full = [cell for cell, draws in counts.items() if cell.table in tables and len(draws) >= emulator.DRAWS]
            what = f"{name}: cells of Tables {label} with {emulator.DRAWS} draws"
            verdicts.add(what, len(full), f"{cells}", len(full) == cells)


def interrupt_after(folder: Path, records: int | None) -> int:
    """Run `dagneal reproduce all` in a folder, press Ctrl-C after a number of records, and return the exit status."""
    command = [sys.executable, "-m", "dagneal", "reproduce", "all", "-o", str(folder), "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    path = folder / "records.jsonl"
    while records is not None and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= records:
            os.kill(process.pid, signal.SIGINT)
            break
        time.sleep(0.1)
    return process.wait()


def write_timeless(folder: Path, target: Path) -> dict[str, bytes]:
    """Write a report from records whose times are all equal, and return its files."""
    records = Records(folder / "records.jsonl")
    items = list(evaluation.ITEMS)
    target.mkdir()
    timeless = Records(target / "timeless.jsonl", writing=True)
    for case in evaluation.all_cases(items, Setting("quick")):
        record = records.get(case)
        if record is not None:
            timeless.add(replace(record, seconds=dict.fromkeys(record.seconds, 1.0), finished=0.0, cpu=0.0))
    write_report(items, timeless, Setting("quick"), target)
    timeless.close()
    return {str(path.relative_to(target)): path.read_bytes() for path in sorted(target.rglob("*")) if path.is_file()}


def check_interruption(_: argparse.Namespace, verdicts: Verdicts) -> None:
    """Interrupt the quick scale twice, and compare the report with that of an uninterrupted run."""
    total = len(evaluation.all_cases(list(evaluation.ITEMS), Setting("quick")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        status = interrupt_after(folder / "steady", None)
        verdicts.add("status of the uninterrupted run", status, "0", status == 0)
        for stop in (total // 3, 2 * total // 3, None):
            status = interrupt_after(folder / "broken", stop)
            expected = 0 if stop is None else 130
            verdicts.add(
                f"status of a run that is interrupted after {stop} records", status, f"{expected}", status == expected
            )
        reports = [write_timeless(folder / run, folder / f"{run}-timeless") for run in ("steady", "broken")]
        differing = [file for file in reports[0] if reports[0][file] != reports[1].get(file)]
        verdicts.add(f"files that differ, of {len(reports[0])}", ", ".join(differing) or "none", "none", not differing)


def check_service(_: argparse.Namespace, verdicts: Verdicts) -> None:
    """Run the tests against the stand-in for the cloud service; they search all outputs for the token."""
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/qpu/test_service.py"], cwd=ROOT, capture_output=True)
    last = run.stdout.decode().strip().splitlines()[-1:]
    verdicts.add("tests against the stand-in for the cloud service", " ".join(last), "all pass", run.returncode == 0)


PARTS = {
    "tables": check_tables,
    "report": check_report,
    "emulator": check_emulator,
    "interruption": check_interruption,
    "service": check_service,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="parts to check; all by default")
    parser.add_argument("--records", type=Path, default=ROOT / "docs" / "reproduction" / "paper")
    parser.add_argument("--draws", type=Path, default=emulator.STORED)
    parsed = parser.parse_args()
    outcome = Verdicts()
    for part in parsed.parts or PARTS:
        PARTS[part](parsed, outcome)
    outcome.exit()
