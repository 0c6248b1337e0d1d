"""`dagneal reproduce`: repeat the experiments of the paper."""

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

SUMMARY = "repeat the experiments of the paper"
USAGE = "[ITEM ...] [options]"
EXAMPLES = """\
The paper is by Zardini, Rizzoli, Dissegna, Blanzieri and Pastorello (2022); an item is one of its tables, figures or
sections. Finished runs are stored. After Ctrl-C, the same command continues.

examples:
  dagneal reproduce --list                      # list the items and estimate their time
  dagneal reproduce                             # run all items with small sizes
  dagneal reproduce performance table-11 --scale paper
  dagneal reproduce all --report                # write the report from the stored runs
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument(
        "items",
        nargs="*",
        metavar="ITEM",
        help="name from --list, or a table or figure such as table-5 (default: all)",
    )
    command.add_argument("--list", action="store_true", help="list the items and their estimated time; run nothing")
    command.add_argument(
        "--scale",
        choices=("quick", "paper"),
        default="quick",
        help="quick: small sizes (default); paper: sizes, runs and reads of the paper",
    )
    command.add_argument("--qpu", action="store_true", help="use a D-Wave quantum annealer (default: emulate it)")
    command.add_argument(
        "--k",
        type=split_numbers,
        metavar="K,...",
        help="run Tables 9 to 11 only with these subproblem sizes, which all selected tables must have",
    )
    command.add_argument("--report", action="store_true", help="run nothing; write the report from the stored runs")
    command.add_argument(
        "-o",
        "--output",
        action=Once,
        metavar="FOLDER",
        help="output folder (default: reproduction, or reproduction-paper with --scale paper)",
    )
    add_journal_option(command)


def run(options: argparse.Namespace) -> None:
    """Run the experiments of the paper, or list them.

    Args:
        options: parsed options of the command.
    """
    from dagneal.paper import evaluation, figures
    from dagneal.paper.annealers import Annealers
    from dagneal.paper.items import Setting
    from dagneal.paper.records import Records
    from dagneal.qpu.chips import check_installed

    sizes = tuple(whole_number("--k", k, least=3) for k in options.k or ())
    setting = Setting(options.scale, "qpu" if options.qpu else "qa", sizes)
    items = evaluation.select_items(options.items or ["all"])
    evaluation.check_sizes(items, setting)
    folder = folder_of(options)
    if options.list:
        _list(items, Records(folder / "records.jsonl"), setting, options)
        return
    if not figures.can_draw():
        show.note(figures.NO_FIGURES)
    check_installed()
    if options.report and not _has_runs(folder / "records.jsonl"):
        raise InputError(f"{folder} has no stored runs; run an item first, or give another folder with -o")
    annealers = Annealers()
    if options.qpu and not options.report:
        annealers.sampler("qpu")  # report a wrong configuration before the work starts
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {folder}: {error.strerror or error}") from error
    with nullcontext() if options.report else open_journal(options) as journal:
        parts = _reproduce(options, items, setting, replace(annealers, journal=journal), journal)
    _show_verdicts(parts, folder, options)


def _has_runs(path: Path) -> bool:
    """Return whether a file of records exists and is not empty."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def folder_of(options: argparse.Namespace) -> Path:
    """Return the output folder of `dagneal reproduce`.

    Args:
        options: parsed options of the command.
    """
    return Path(options.output or ("reproduction" if options.scale == "quick" else "reproduction-paper"))


def _reproduce(
    options: argparse.Namespace, items: Sequence[Item], setting: Setting, annealers: Annealers, journal: SqliteJournal | None
) -> list[Part]:
    """Run the experiments whose results are not stored yet, write the report, and return its parts."""
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
                about = _duration(evaluation.duration(todo, jobs) * evaluation.slowdown())
                text = f"{len(todo):,} of {len(cases):,} runs to do, about {about} on {jobs} cores"
                show.note(f"{text}; after Ctrl-C, the same command continues")
            with show.progress(options.quiet) as progress:
                context = Run(progress=progress or ignore_progress, journal=journal)
                run_cases(cases, records, annealers, context, jobs, evaluation.cost)
    finally:
        records.close()
        # The report also contains other items that are complete in this folder.
        requested = {item.name for item in items}
        complete = [i for i in evaluation.ITEMS if i.name in requested or all(c in records for c in i.cases(setting))]
        parts = write_report(complete, records, setting, folder) if len(records) else []
        done = sum(case in records for case in cases)
        if done < len(cases) and not options.report:
            show.note(f"{done:,} of {len(cases):,} runs are stored in {folder}; the same command continues")
    return parts


def _duration(seconds: float) -> str:
    """Return a duration as text, in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _list(items: Sequence[Item], records: Records, setting: Setting, options: argparse.Namespace) -> None:
    """Print the items (tables, figures and sections of the paper) with their estimated time on this machine."""
    from dagneal.base.machine import cores
    from dagneal.paper.evaluation import duration, slowdown

    jobs, slower = cores(), slowdown()
    rows = []
    lines = [f"{'item':18} {'in the paper':20} {'runs':>6} {'time':>8} {'runs left':>9} {'time left':>9}   title"]
    every = [case for item in items for case in item.cases(setting)]
    entries = [(item.name, item.number, item.cases(setting), item.title) for item in items]
    for name, number, cases, title in [*entries, ("all", "", every, "all items; runs that items share count once")]:
        own = {case.key: case for case in cases}
        left = [case for case in own.values() if case not in records]
        total, rest = (slower * duration(some, jobs) for some in (own.values(), left))
        row = {"name": name, "number": number, "title": title, "runs": len(own), "left": len(left)}
        rows.append(row | {"seconds": total, "seconds_left": rest})
        times = f"{len(own):6,} {_duration(total):>8} {len(left):9,} {_duration(rest):>9}"
        lines.append(f"{name:18} {number:20} {times}   {title}")
    lines += [
        "",
        f"scale {setting.scale}, {jobs} cores; times are estimates from a short test on this machine",
        "they include searches for embeddings, as if none were stored, but not the compilation of code at its first use",
    ]
    report = {"scale": setting.scale, "jobs": jobs, "items": rows[:-1], "all": rows[-1]}
    show.result(report, "\n".join(lines), options)


def _show_verdicts(parts: Sequence[Part], folder: Path, options: argparse.Namespace) -> None:
    """Print the verdict and the number of runs for each part of the report, then the paths of the report files."""
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
    width = max((len(part.verdict) for part in parts), default=0)
    lines = [
        f"{part.item.number:20} {part.item.name:18} {part.verdict:{width}} {part.finished:5,} of {part.runs:,} runs"
        for part in parts
    ]
    files = [str(folder / name) for name in ("report.md", "report.html", "records.jsonl")]
    show.result({"items": rows, "files": files}, "\n".join([*lines, "", "saved to " + ", ".join(files)]), options)
