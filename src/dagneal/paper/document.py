"""Write the report as Markdown and HTML. The report uses only the stored records of runs."""

from __future__ import annotations

import base64
import html
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dagneal.base import atomic_write
from dagneal.paper import division_report
from dagneal.paper.figures import NO_FIGURES, can_draw, render_figure
from dagneal.paper.items import DASH, NOT_REPRODUCED, Figure, Item, Section, Setting, Table
from dagneal.paper.published import DOCUMENTATION, REFERENCES, TITLES
from dagneal.paper.records import Record, Records

PAPER = 'Zardini, Rizzoli, Dissegna, Blanzieri, Pastorello (2022), "Reconstructing Bayesian Networks on a Quantum Annealer"'
_TITLE = "Reproduction of the paper"
_INTRODUCTION = (
    "The first table of each item compares the paper's values with ours. Further tables show values that the paper does not "
    "have."
)
_TERMS = (
    "Verdicts: each item states its rule. Reproduced: our values meet all conditions of the rule. Reproduced in shape: they "
    'meet only the conditions after "In shape", which describe a trend or a coarser agreement. Not contradicted: tests '
    "find no difference, but they would miss a large one. Not reproduced: our values do not meet these conditions either. "
    "Not judged: our values were fitted to the paper's. Emulated: our values of quantum annealing come from an emulator, so "
    "they do not confirm what the hardware does. An item gets a verdict only when all its runs are finished.",
    "Names in brackets, such as [Paper], are references. They are at the end.",
    "Runs: all cells of a table use the same seeds. A seed selects the embedding and starts the random numbers.",
    "Methods: ES is exhaustive search, SA simulated annealing, QA quantum annealing.",
    "Problems have the paper's names: " + ", ".join(f"{title} ({name})" for name, title in TITLES.items()) + ".",
    "Truth, or expected solution: the network that generated the data.",
    "Expected data: each combination of states occurs as often as the truth predicts, rounded to whole rows. Sampled data: "
    "random draws from the truth.",
    "Optimum: the network with the highest log score and at most two parents per variable, unless stated otherwise, found "
    "by exact search. Log scores and their differences are in nats (natural-log units).",
    "Prior alpha_ijk: pseudo-count for each state of a variable and each combination of states of its parents. r is the "
    "number of states, q the number of combinations, N the number of rows.",
    "Read: one sample from an annealer. Raw reads are used unchanged, as in the paper. Repaired reads keep only the order "
    "of the variables; each variable then gets its best parents among the variables before it. Random orders: the same "
    "repair applied to as many random orders as there are reads.",
    "Result value: x^T Q x of the best read, divided by x^T Q x of the expected solution, both without offset. 1 means "
    "that both are equal. Q is the matrix of the QUBO, and x the values of its variables.",
    "Gap: log score of the optimum minus log score of the result, in nats. Raw gap: gap of the best raw read that is a "
    "valid network. It ignores penalties: a read can have the edges of the optimum and wrong values of the other variables "
    "of Q. Result values hide gaps: for Waste2PDep and 10,000 rows, 0.01 are 1,557 nats of x^T Q x, penalties included.",
    "CPDAG distance: number of pairs of variables that are connected differently in the equivalence classes (CPDAGs) of the "
    "result and the truth. A dash marks a result with a cycle.",
    "k: number of variables per subproblem of divide et impera. Direct: the problem is not divided.",
    "Arities: number of states of each variable. True: as in the network. Padded: every variable has as many states as the "
    "widest variable, that is, the variable with the most states.",
    "Correct edges are edges of the truth, with the same direction. Wrong edges are all other edges of a result, "
    "including reversed edges. Sensitivity: share of the true edges that are found. Specificity: share of the other "
    "possible edges that are left out.",
    *division_report.TERMS,
    "us: microseconds. Access time: time on the quantum annealer. A dash in a table means that there is no value.",
)


@dataclass(frozen=True)
class Part:
    """One item of a report.

    Attributes:
        item: table, figure or section of the paper.
        section: tables, figures and notes about the item.
        finished: number of finished runs of the item.
        runs: number of all runs of the item.
        seconds: total CPU time of the finished runs.
    """

    item: Item
    section: Section
    finished: int
    runs: int
    seconds: float

    @property
    def verdict(self) -> str:
        """Verdict of the item; `incomplete` if some runs are missing, `not run` if all runs are missing."""
        if self.finished < self.runs:
            return "incomplete" if self.finished else "not run"
        return self.section.verdict + (f" ({self.section.basis})" if self.section.basis else "")

    @property
    def why(self) -> str:
        """Reasons why the verdict is not better; empty if runs are missing."""
        return self.section.why if self.finished == self.runs else ""


def make_parts(items: Sequence[Item], records: Records, setting: Setting) -> list[Part]:
    """Return one part of the report for each item.

    Args:
        items: items to report.
        records: records of finished runs.
        setting: options of the evaluation.
    """
    parts = []
    for item in items:
        cases = list({case.key: case for case in item.cases(setting)}.values())
        done = records.select(cases)
        section = item.section(records, setting) if done else Section(NOT_REPRODUCED)
        parts.append(Part(item, section, len(done), len(cases), sum(r.cpu for r in done)))
    return parts


def write_report(items: Sequence[Item], records: Records, setting: Setting, folder: Path) -> list[Part]:
    """Write report.md, report.html and the figures, and return the parts of the report.

    Without matplotlib the report has no figures, and says so.

    Args:
        items: items to report.
        records: records of finished runs.
        setting: options of the evaluation.
        folder: output folder. It is created if needed.
    """
    parts = make_parts(items, records, setting)
    if not can_draw():
        for part in parts:
            part.section.figures.clear()
    drawn = {f.name: render_figure(f) for part in parts if part.finished for f in part.section.figures}
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name, files in drawn.items():
        for ending, content in files.items():
            _write(folder / "figures" / f"{name}.{ending}", content)
    cases = {case.key: case for item in items for case in item.cases(setting)}
    used = records.select(cases.values())
    about = _about(items, used, setting)
    _write(folder / "report.md", _markdown(parts, about).encode())
    _write(folder / "report.html", _html(parts, about, drawn).encode())
    return parts


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path) as file:
        file.write(content)


def _about(items: Sequence[Item], used: Sequence[Record], setting: Setting) -> list[str]:
    """Return lines about the command, annealer, date, machine and versions of the runs."""
    from dagneal.paper.evaluation import ITEMS

    names = "all" if len(items) == len(ITEMS) else " ".join(item.name for item in items)
    command = f"dagneal reproduce {shlex.join(names.split())} --scale {setting.scale}"
    if setting.sizes:
        command += f" --k {','.join(map(str, setting.sizes))}"
    quantum = (
        "emulated on this machine, not run on hardware. The [results of the emulator]"
        f"({DOCUMENTATION}/results/emulator.md) show its accuracy"
        if setting.quantum == "qa"
        else "a D-Wave system"
    )
    days = sorted({datetime.fromtimestamp(r.finished, UTC).strftime("%Y-%m-%d") for r in used})
    versions = sorted({", ".join(f"{name} {number}" for name, number in sorted(r.versions.items())) for r in used})
    return [
        f"Command: {command}{' --qpu' if setting.quantum == 'qpu' else ''}",
        f"Quantum annealing (QA): {quantum}",
        f"Date: {' to '.join(dict.fromkeys((days[0], days[-1]))) if days else DASH}",
        f"Machine: {'; '.join(sorted({r.machine for r in used})) or DASH}",
        f"Versions: {'; '.join(versions) or DASH}",
        f"CPU time of all runs: {sum(r.cpu for r in used) / 3600:.2f} hours",
        *([] if can_draw() else [f"{NO_FIGURES}."]),
    ]


def _summary(parts: Sequence[Part]) -> Table:
    rows = [
        (p.item.number, p.item.name, p.item.title, p.verdict, f"{p.finished:,} of {p.runs:,}", f"{p.seconds:,.0f}")
        for p in parts
    ]
    caption = (
        "All items. Runs that several items use count in each of them, so the seconds of the items add up to more than the "
        "CPU time of all runs"
    )
    return Table(caption, ("in the paper", "item", "topic", "verdict", "finished runs", "CPU seconds"), rows)


def _opening(part: Part) -> list[str]:
    """Return the first two paragraphs of a section: verdict and rule."""
    verdict = f"Verdict: {part.verdict}."
    if part.why:
        verdict = f"Verdict: {part.verdict}. Reasons: {part.why}."
    elif 0 < part.finished < part.runs:
        verdict = f"Verdict: incomplete, {part.finished:,} of {part.runs:,} runs are finished."
    return [verdict, f"Rule: {part.item.rule}"]


def _markdown(parts: Sequence[Part], about: Sequence[str]) -> str:
    lines = [f"# {_TITLE}", "", f"{PAPER}. {_INTRODUCTION}", ""]
    lines += [f"- {_escape(line)}" for line in about]
    lines += ["", "Terms:", "", *(f"- {_escape(term)}" for term in _TERMS)]
    lines += ["", *_table_lines(_summary(parts))]
    for part in parts:
        lines += ["", f"## {part.item.number}: {part.item.title} (`{part.item.name}`)"]
        for paragraph in _opening(part):
            label, _, text = paragraph.partition(": ")
            lines += ["", f"**{label}:** {_escape(text)}"]
        if not part.finished:
            continue
        for table in part.section.tables:
            lines += ["", *_table_lines(table)]
        for figure in part.section.figures:
            title = figure.caption.partition(":")[0]
            lines += ["", f"![{_escape(title)}](figures/{figure.name}.svg)", "", f"*{_escape(figure.caption)}*"]
        for note in part.section.notes:
            lines += ["", _escape(note)]
    lines += ["", "## References", "", *(f"- {_escape(reference)}" for reference in REFERENCES)]
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
    text = _inline_html
    lines = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>' + _TITLE + "</title>",
        f"<style>{_STYLE}</style></head><body><main><h1>{_TITLE}</h1>",
        f"<p>{text(PAPER)}. {text(_INTRODUCTION)}</p><ul>",
        *(f"<li>{text(line)}</li>" for line in about),
        "</ul><p>Terms:</p><ul>",
        *(f"<li>{text(term)}</li>" for term in _TERMS),
        "</ul>",
        _html_table(_summary(parts)),
    ]
    for part in parts:
        lines.append(f'<h2 id="{part.item.name}">{text(f"{part.item.number}: {part.item.title}")}</h2>')
        verdict, rule = _opening(part)
        lines.append(f'<p><strong>{text(verdict)}</strong></p><p class="rule">{text(rule)}</p>')
        if not part.finished:
            continue
        lines += [_html_table(table) for table in part.section.tables]
        lines += [_html_figure(figure, drawn[figure.name]["svg"]) for figure in part.section.figures]
        lines += [f"<p>{text(note)}</p>" for note in part.section.notes]
    lines += ["<h2>References</h2><ul>", *(f"<li>{text(reference)}</li>" for reference in REFERENCES), "</ul>"]
    return "\n".join([*lines, "</main></body></html>"]) + "\n"


def _inline_html(text: str) -> str:
    """Escape text for HTML, and turn names in backticks into code and Markdown links into links."""
    linked = re.sub(r"\[([^]]+)\]\((https://[^)]+)\)", r'<a href="\2">\1</a>', html.escape(text))
    return re.sub("`([^`]+)`", r"<code>\1</code>", linked)


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_inline_html(name)}</th>' for name in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    caption = f"<caption>{_inline_html(table.caption)}</caption>"
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _html_figure(figure: Figure, svg: bytes) -> str:
    data = base64.b64encode(svg).decode()
    caption = html.escape(figure.caption)
    return f'<figure><img src="data:image/svg+xml;base64,{data}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
