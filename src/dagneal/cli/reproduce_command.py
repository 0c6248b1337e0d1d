"""`dagneal reproduce`: the paper's evaluation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dagneal.base.errors import InputError, whole_number
from dagneal.cli import show
from dagneal.cli.journal_options import add_journal_option, claim, open_journal
from dagneal.cli.parsing import Once, Parser, split_numbers

if TYPE_CHECKING:
    from dagneal.paper.annealers import Annealers
    from dagneal.paper.document import Part
    from dagneal.paper.items import Item, Setting
    from dagneal.paper.records import Records
    from dagneal.runtime.journal import SqliteJournal

SUMMARY = "run the paper's evaluation again, its figures beside ours"
USAGE = "[ITEM ...] [options]"
EXAMPLES = """\
Runs are recorded as they end: Ctrl-C, and the same command goes on where it was.

examples:
  dagneal reproduce --list                      # the items, and the time that each takes here
  dagneal reproduce                             # all of them, quick
  dagneal reproduce performance table-11 --scale paper
  dagneal reproduce all --report                # the report again, from the records
"""


def add_options(command: Parser) -> None:
    """Add the arguments of this command, except those that every command has.

    Args:
        command: its parser.
    """
    command.add_argument(
        "items", nargs="*", metavar="ITEM", help="names, or the paper's numbers such as 5 or table-5 (default all)"
    )
    command.add_argument("--list", action="store_true", help="show the items, and run nothing")
    command.add_argument(
        "--scale",
        choices=("quick", "paper"),
        default="quick",
        help="quick (default) or the paper's own sizes, runs and reads",
    )
    command.add_argument("--qpu", action="store_true", help="quantum annealing on D-Wave's hardware; emulated without it")
    command.add_argument("--k", type=split_numbers, metavar="K,...", help="only these sizes of blocks in Tables 9 to 11")
    command.add_argument("--report", action="store_true", help="run nothing, write the report from the records")
    command.add_argument(
        "-o", "--output", action=Once, metavar="FOLDER", help="where (default reproduction, or reproduction-paper)"
    )
    add_journal_option(command)


def run(options: argparse.Namespace) -> None:
    """Run the paper's evaluation, or list its items.

    Args:
        options: of the command.
    """
    from dagneal.paper import evaluation, figures
    from dagneal.paper.annealers import Annealers
    from dagneal.paper.items import Setting
    from dagneal.paper.records import Records
    from dagneal.qpu.chips import check_installed

    sizes = tuple(whole_number("--k", k, least=3) for k in options.k or ())
    setting = Setting(options.scale, "qpu" if options.qpu else "qa", sizes)
    items = evaluation.items_named(options.items or ["all"])
    folder = folder_of(options)
    if options.list:
        _list(items, Records(folder / "records.jsonl"), setting, options)
        return
    figures.check_matplotlib()
    check_installed()
    if options.report and not (folder / "records.jsonl").exists():
        raise InputError(f"there are no records in {folder}; run something first, or name another folder with -o")
    annealers = Annealers()
    if options.qpu and not options.report:
        annealers.sampler("qpu")  # what is wrong with the configuration is said before the work
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from error
    with nullcontext() if options.report else open_journal(options) as journal:
        parts = _reproduce(options, items, setting, replace(annealers, journal=journal), journal)
    _show_verdicts(parts, folder, options)


def folder_of(options: argparse.Namespace) -> Path:
    """Return the folder that a reproduction writes to.

    Args:
        options: of the command.
    """
    return Path(options.output or ("reproduction" if options.scale == "quick" else "reproduction-paper"))


def _reproduce(
    options: argparse.Namespace, items: Sequence[Item], setting: Setting, annealers: Annealers, journal: SqliteJournal | None
) -> list[Part]:
    """Run what is not on record, and write the report."""
    from dagneal.base.machine import cores
    from dagneal.paper import evaluation
    from dagneal.paper.document import write_report
    from dagneal.paper.records import Records
    from dagneal.paper.runner import run_cases
    from dagneal.runtime.run import Run, ignore_progress

    jobs, folder = cores(), folder_of(options)
    records = Records(folder / "records.jsonl", writing=not options.report, journal=journal)
    cases = evaluation.all_cases(items, setting)
    try:
        claim(journal, options, ("output",), {})
        records.restore(cases)
        if not options.report:
            todo = [case for case in cases if case not in records]
            if todo and not options.quiet:
                about = _duration(evaluation.duration(todo, jobs) * evaluation.speed())
                words = f"{len(todo):,} of {len(cases):,} runs to do, about {about} on {jobs} cores"
                show.note(f"{words}; Ctrl-C stops, the same command goes on")
            with show.progress(options.quiet) as progress:
                context = Run(progress=progress or ignore_progress, journal=journal)
                run_cases(cases, records, annealers, context, jobs, evaluation.cost)
    finally:
        records.close()
        # Other items that the folder holds stay in its report.
        asked = {item.name for item in items}
        every = [i for i in evaluation.ITEMS if i.name in asked or all(case in records for case in i.cases(setting))]
        parts = write_report(every, records, setting, folder) if len(records) else []
    return parts


def _duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _list(items: Sequence[Item], records: Records, setting: Setting, options: argparse.Namespace) -> None:
    """Print the items of the paper with the time that each takes on this machine."""
    from dagneal.base.machine import cores
    from dagneal.paper.evaluation import duration, speed

    jobs, slower = cores(), speed()
    rows = []
    lines = [f"{'item':18} {'the paper':20} {'runs':>6} {'time':>8} {'left':>6} {'time':>8}   what"]
    every = [case for item in items for case in item.cases(setting)]
    listed = [(item.name, item.number, item.cases(setting), item.title) for item in items]
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


def _show_verdicts(parts: Sequence[Part], folder: Path, options: argparse.Namespace) -> None:
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
