"""`dagneal reproduce`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.cli import show
from dagneal.errors import InputError, whole_number

if TYPE_CHECKING:
    from dagneal.paper.items import Item, Setting
    from dagneal.paper.records import Records
    from dagneal.paper.report import Part


def reproduce(options: argparse.Namespace) -> None:
    """Run the paper's evaluation, or list its items."""
    from dagneal.kernels import cores
    from dagneal.paper import evaluation, figures
    from dagneal.paper.items import Setting
    from dagneal.paper.records import Records
    from dagneal.paper.report import parts_of, write_report
    from dagneal.paper.running import run
    from dagneal.qpu import chips

    setting = Setting(options.scale, "qpu" if options.qpu else "qa")
    items = evaluation.items_named(options.items or ["all"])
    jobs = cores() if options.jobs is None else whole_number("--jobs", options.jobs, least=1)
    folder = Path(options.output)
    if options.list:
        records = Records(folder / "records.jsonl")
        _list(items, records, setting, jobs, options)
        return
    figures.check_installed()
    chips.check_installed()
    if options.qpu:
        from dagneal.paper.experiments import annealer

        annealer("qpu")  # what is wrong with the configuration is said before the work
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from error
    records = Records(folder / "records.jsonl", writing=not options.report)
    cases = evaluation.all_cases(items, setting)
    try:
        if not options.report:
            runs, seconds = evaluation.left(cases, records)
            if runs and not options.quiet:
                about = _duration(seconds * evaluation.speed() / jobs)
                show.note(
                    f"{runs:,} of {len(cases):,} runs to do, about {about} on {jobs} cores; Ctrl-C stops, the same "
                    f"command goes on"
                )
            with show.progress(options.quiet) as progress:
                run(cases, records, jobs, progress, evaluation.cost)
    finally:
        records.close()
        if len(records):
            write_report(items, records, setting, folder)
    _verdicts(parts_of(items, records, setting), folder, options)


def _duration(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _list(found: Sequence[Item], records: Records, setting: Setting, jobs: int, options: argparse.Namespace) -> None:
    """Print the items of the paper with the time that each takes on this machine."""
    from dagneal.paper.evaluation import left, speed

    slower = speed()
    rows, lines = [], [f"{'item':18} {'the paper':14} {'runs':>6} {'left':>6} {'time left':>10}   what"]
    for item in found:
        cases = list({case.key: case for case in item.cases(setting)}.values())
        runs, seconds = left(cases, records)
        time = seconds * slower / jobs
        rows.append(
            {
                "name": item.name,
                "number": item.number,
                "title": item.title,
                "runs": len(cases),
                "left": runs,
                "seconds": time,
            }
        )
        lines.append(f"{item.name:18} {item.number:14} {len(cases):6,} {runs:6,} {_duration(time):>10}   {item.title}")
    whole = {case.key: case for item in found for case in item.cases(setting)}
    runs, seconds = left(list(whole.values()), records)
    lines.append(
        f"{'all':18} {'':14} {len(whole):6,} {runs:6,} {_duration(seconds * slower / jobs):>10}   runs that items share "
        f"are run once"
    )
    lines += ["", f"scale {setting.scale}, {jobs} cores; times are estimates, made with a short run on this machine"]
    show.result({"scale": setting.scale, "jobs": jobs, "items": rows}, "\n".join(lines), options)


def _verdicts(parts: Sequence[Part], folder: Path, options: argparse.Namespace) -> None:
    """Print the verdicts of a report."""
    rows = [
        {
            "name": part.item.name,
            "number": part.item.number,
            "verdict": part.verdict,
            "why": part.section.why if part.finished else "",
            "runs": part.runs,
            "finished": part.finished,
            "seconds": part.seconds,
        }
        for part in parts
    ]
    lines = [
        f"{part.item.number:14} {part.item.name:18} {part.verdict:20} {part.finished:5,} of {part.runs:,} runs"
        for part in parts
    ]
    files = [str(folder / name) for name in ("report.md", "report.html", "records.jsonl")]
    show.result({"items": rows, "files": files}, "\n".join([*lines, "", "written: " + ", ".join(files)]), options)
