"""The report: Markdown and HTML, made from records alone."""

from __future__ import annotations

import base64
import html
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dagneal.base import replacing
from dagneal.paper.figures import render_figure
from dagneal.paper.items import NOT_REPRODUCED, NOTHING, Figure, Item, Section, Setting, Table
from dagneal.paper.records import Record, Records

PAPER = 'Zardini, Rizzoli, Dissegna, Blanzieri, Pastorello (2022), "Reconstructing Bayesian Networks on a Quantum Annealer"'


_READ = (
    "The first table of each item has the paper's figures beside ours; tables after it show what the paper did not measure."
)


@dataclass(frozen=True)
class Part:
    """One item in a report.

    Attributes:
        item: what it is.
        section: what is said about it.
        finished: how many of its runs are on record.
        runs: how many it has.
        seconds: what those on record took, all stages together.
    """

    item: Item
    section: Section
    finished: int
    runs: int
    seconds: float

    @property
    def verdict(self) -> str:
        """As the rule has it, once all runs are on record."""
        if self.finished < self.runs:
            return "incomplete" if self.finished else "not run"
        return self.section.verdict

    @property
    def why(self) -> str:
        """What speaks against more."""
        return self.section.why if self.finished == self.runs else ""


def parts_of(items: Sequence[Item], records: Records, setting: Setting) -> list[Part]:
    """The parts of a report.

    Args:
        items: which.
        records: what was run.
        setting: how.
    """
    found = []
    for item in items:
        cases = list({case.key: case for case in item.cases(setting)}.values())
        done = records.of(cases)
        section = item.section(records, setting) if done else Section(NOT_REPRODUCED)
        found.append(Part(item, section, len(done), len(cases), sum(sum(r.seconds.values()) for r in done)))
    return found


def write_report(items: Sequence[Item], records: Records, setting: Setting, folder: Path) -> list[Part]:
    """Write report.md, report.html and the figures, and return what they tell.

    Args:
        items: which.
        records: what was run.
        setting: how.
        folder: where; it is made if it is not there.
    """
    parts = parts_of(items, records, setting)
    drawn = {f.name: render_figure(f) for part in parts if part.finished for f in part.section.figures}
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name, files in drawn.items():
        for ending, content in files.items():
            _write(folder / "figures" / f"{name}.{ending}", content)
    used = [r for item in items for r in records.of(item.cases(setting))]
    about = _about(items, used, setting)
    _write(folder / "report.md", _markdown(parts, about).encode())
    _write(folder / "report.html", _html(parts, about, drawn).encode())
    return parts


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _about(items: Sequence[Item], used: Sequence[Record], setting: Setting) -> list[str]:
    """What a reader must know to repeat it."""
    from dagneal.paper.evaluation import ITEMS

    names = "all" if len(items) == len(ITEMS) else " ".join(item.name for item in items)
    command = f"dagneal reproduce {shlex.join(names.split())} --scale {setting.scale}"
    if setting.sizes:
        command += f" --k {','.join(map(str, setting.sizes))}"
    quantum = (
        "emulated on this machine, nothing ran on hardware; see docs/qpu.md"
        if setting.quantum == "qa"
        else "a D-Wave system"
    )
    days = sorted({datetime.fromtimestamp(r.finished, UTC).strftime("%Y-%m-%d") for r in used})
    kinds = sorted({", ".join(f"{name} {number}" for name, number in sorted(r.versions.items())) for r in used})
    return [
        f"Command: {command}{' --qpu' if setting.quantum == 'qpu' else ''}",
        f"Quantum annealing (QA): {quantum}",
        f"Date: {' to '.join(dict.fromkeys((days[0], days[-1]))) if days else NOTHING}",
        f"Machine: {'; '.join(sorted({r.machine for r in used})) or NOTHING}",
        f"Versions: {'; '.join(kinds) or NOTHING}",
    ]


def _summary(parts: Sequence[Part]) -> Table:
    rows = [
        (p.item.number, p.item.name, p.item.title, p.verdict, f"{p.finished:,} of {p.runs:,}", f"{p.seconds:,.0f}")
        for p in parts
    ]
    return Table("All items", ("the paper", "item", "what", "verdict", "runs", "seconds of all runs"), rows)


def _words(part: Part) -> list[str]:
    """The paragraphs that open a section."""
    found = [f"Verdict: {part.verdict}."]
    if part.why:
        found[0] = f"Verdict: {part.verdict}. Why not more: {part.why}."
    elif 0 < part.finished < part.runs:
        found[0] = f"Verdict: incomplete, {part.finished:,} of {part.runs:,} runs; nothing is judged before all are there."
    return [*found, f"Rule: {part.item.rule}"]


def _markdown(parts: Sequence[Part], about: Sequence[str]) -> str:
    lines = ["# The paper, reproduced", "", f"{PAPER}. {_READ}", ""]
    lines += [f"- {_escape(line)}" for line in about]
    lines += ["", *_table_lines(_summary(parts))]
    for part in parts:
        lines += ["", f"## {part.item.number}: {part.item.title} (`{part.item.name}`)"]
        for words in _words(part):
            kind, _, rest = words.partition(": ")
            lines += ["", f"**{kind}:** {_escape(rest)}"]
        if not part.finished:
            continue
        for table in part.section.tables:
            lines += ["", *_table_lines(table)]
        for figure in part.section.figures:
            lines += ["", f"![{_escape(figure.caption)}](figures/{figure.name}.svg)", "", f"*{_escape(figure.caption)}*"]
        for note in part.section.notes:
            lines += ["", _escape(note)]
    return "\n".join(lines) + "\n"


def _table_lines(table: Table) -> list[str]:
    head = "| " + " | ".join(map(_escape, table.head)) + " |"
    rows = ["| " + " | ".join(map(_escape, row)) + " |" for row in table.rows]
    return [f"{_escape(table.caption)}:", "", head, "|" + "---|" * len(table.head), *rows]


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


_STYLE = """\
:root { color-scheme: light dark; --line: #8886; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 13px; margin: .3rem 0 1rem; }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
.wide { overflow-x: auto; }
figure { margin: 1rem 0; } figure img { background: #fff; max-width: 100%; }
caption, figcaption { caption-side: top; text-align: left; color: #777; padding-bottom: .3rem; }
.rule { color: #777; }
"""


def _html(parts: Sequence[Part], about: Sequence[str], drawn: dict[str, dict[str, bytes]]) -> str:
    text = html.escape
    lines = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>The paper, reproduced</title>',
        f"<style>{_STYLE}</style></head><body><main><h1>The paper, reproduced</h1>",
        f"<p>{text(PAPER)}. {text(_READ)}</p><ul>",
        *(f"<li>{text(line)}</li>" for line in about),
        "</ul>",
        _html_table(_summary(parts)),
    ]
    for part in parts:
        lines.append(f'<h2 id="{part.item.name}">{text(f"{part.item.number}: {part.item.title}")}</h2>')
        verdict, rule = _words(part)
        lines.append(f'<p><strong>{text(verdict)}</strong></p><p class="rule">{text(rule)}</p>')
        if not part.finished:
            continue
        lines += [_html_table(table) for table in part.section.tables]
        lines += [_html_figure(figure, drawn[figure.name]["svg"]) for figure in part.section.figures]
        lines += [f"<p>{text(note)}</p>" for note in part.section.notes]
    return "\n".join([*lines, "</main></body></html>"]) + "\n"


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    caption = f"<caption>{html.escape(table.caption.replace('`', ''))}</caption>"
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _html_figure(figure: Figure, svg: bytes) -> str:
    data = base64.b64encode(svg).decode()
    words = html.escape(figure.caption)
    return f'<figure><img src="data:image/svg+xml;base64,{data}" alt="{words}"><figcaption>{words}</figcaption></figure>'
