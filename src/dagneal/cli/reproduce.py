"""`dagneal reproduce`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.base.errors import InputError, whole_number
from dagneal.cli import journals, show

if TYPE_CHECKING:
    from dagneal.paper.document import Part
    from dagneal.paper.items import Item, Setting
    from dagneal.paper.records import Records
    from dagneal.runtime.journal import Journal


def reproduce(options: argparse.Namespace) -> None:
    """Run the paper's evaluation, or list its items."""
    from dagneal.base.machine import cores
    from dagneal.paper import evaluation, figures
    from dagneal.paper.items import Setting
    from dagneal.paper.records import Records
    from dagneal.qpu import chips

    sizes = tuple(whole_number("--k", k, least=3) for k in options.k or ())
    setting = Setting(options.scale, "qpu" if options.qpu else "qa", sizes)
    items = evaluation.items_named(options.items or ["all"])
    folder = folder_of(options)
    if options.list:
        _list(items, Records(folder / "records.jsonl"), setting, cores(), options)
        return
    figures.check_installed()
    chips.check_installed()
    if options.report and not (folder / "records.jsonl").exists():
        raise InputError(f"there are no records in {folder}; run something first, or name another folder with -o")
    if options.qpu and not options.report:
        from dagneal.paper.annealers import annealer

        annealer("qpu")  # what is wrong with the configuration is said before the work
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from error
    with nullcontext() if options.report else journals.opened(options) as journal:
        parts = _reproduced(options, items, setting, folder, journal)
    _verdicts(parts, folder, options)


def folder_of(options: argparse.Namespace) -> Path:
    """Return the folder that a reproduction writes to.

    Args:
        options: of the command.
    """
    return Path(options.output or ("reproduction" if options.scale == "quick" else "reproduction-paper"))


def _reproduced(
    options: argparse.Namespace, items: Sequence[Item], setting: Setting, folder: Path, journal: Journal | None
) -> list[Part]:
    """Run what is not on record, and write the report."""
    from dagneal.base.machine import cores
    from dagneal.paper import annealers, evaluation
    from dagneal.paper.document import write_report
    from dagneal.paper.records import Records
    from dagneal.paper.runner import run

    jobs = cores()
    records = Records(folder / "records.jsonl", writing=not options.report, journal=journal)
    cases = evaluation.all_cases(items, setting)
    try:
        if journal is not None:
            journals.claim(journal, options, ("output",), {})
            records.restore(cases)
        if not options.report:
            todo = [case for case in cases if case not in records]
            if todo and not options.quiet:
                about = _duration(evaluation.duration(todo, jobs) * evaluation.speed())
                words = f"{len(todo):,} of {len(cases):,} runs to do, about {about} on {jobs} cores"
                show.note(f"{words}; Ctrl-C stops, the same command goes on")
            with show.progress(options.quiet) as progress, annealers.written_down(journal):
                run(cases, records, jobs, progress, evaluation.cost)
    finally:
        records.close()
        # Other items that the folder holds stay in its report.
        asked = {item.name for item in items}
        every = [i for i in evaluation.ITEMS if i.name in asked or all(case in records for case in i.cases(setting))]
        parts = write_report(every, records, setting, folder) if len(records) else []
    return parts


def _duration(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _list(found: Sequence[Item], records: Records, setting: Setting, jobs: int, options: argparse.Namespace) -> None:
    """Print the items of the paper with the time that each takes on this machine."""
    from dagneal.paper.evaluation import duration, speed

    slower = speed()
    rows = []
    lines = [f"{'item':18} {'the paper':20} {'runs':>6} {'time':>8} {'left':>6} {'time':>8}   what"]
    every = [case for item in found for case in item.cases(setting)]
    listed = [(item.name, item.number, item.cases(setting), item.title) for item in found]
    for name, number, cases, title in [*listed, ("all", "", every, "runs that items share are run once")]:
        own = {case.key: case for case in cases}
        left = [case for case in own.values() if case not in records]
        whole, rest = (slower * duration(some, jobs) for some in (own.values(), left))
        row = {"name": name, "number": number, "title": title, "runs": len(own), "left": len(left)}
        rows.append(row | {"seconds": whole, "seconds_left": rest})
        times = f"{len(own):6,} {_duration(whole):>8} {len(left):6,} {_duration(rest):>8}"
        lines.append(f"{name:18} {number:20} {times}   {title}")
    lines += ["", f"scale {setting.scale}, {jobs} cores; times are estimates, made with a short run on this machine"]
    report = {"scale": setting.scale, "jobs": jobs, "items": rows[:-1], "all": rows[-1]}
    show.result(report, "\n".join(lines), options)


def _verdicts(parts: Sequence[Part], folder: Path, options: argparse.Namespace) -> None:
    """Print the verdicts of a report."""
    rows = [
        {
            "name": part.item.name,
            "number": part.item.number,
            "verdict": part.verdict,
            "why": part.why,
            "runs": part.runs,
            "finished": part.finished,
            "seconds": part.seconds,
        }
        for part in parts
    ]
    lines = [
        f"{part.item.number:20} {part.item.name:18} {part.verdict:20} {part.finished:5,} of {part.runs:,} runs"
        for part in parts
    ]
    files = [str(folder / name) for name in ("report.md", "report.html", "records.jsonl")]
    show.result({"items": rows, "files": files}, "\n".join([*lines, "", "written: " + ", ".join(files)]), options)
