"""Make the report sections for Tables 9 to 11: the paper's counts next to ours, further methods, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

import dagneal as dn
from dagneal.paper.division_runs import DivisionRuns, division_cases, means_differ, tally
from dagneal.paper.items import DASH, Figure, Item, Section, Setting, Table, format_number, format_numbers, mean, verdict
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.published import TITLES, DivisionRow
from dagneal.paper.records import Case, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SEEDS = (1, 2, 3, 4, 5)
REFERENCES = {
    "optimum": "exact, at most 2 parents",
    "learn": "dagneal learn, at most 4 parents",
    "conquer": "candidate search from exact triples, at most 4 parents",
}
RULE = (
    "A row differs from the paper if an exact permutation test at 1% finds a difference between the paper's five runs and "
    "our five runs, in correct or in wrong edges. With five runs against five, the test can find a difference at 1% only "
    "if the two sets of runs do not overlap: every value of one set is higher than every value of the other. The column "
    '"significant difference" shows "yes" if the row differs, and "none" if the test finds no difference. '
    "Reproduced: (1) every row of the paper's table was run five times; (2) no row differs; (3) dividing helps: with SA, "
    "some k gives a higher sum of sensitivity and specificity than the direct run. In shape: at least half of the rows "
    "with five runs do not differ, and condition 3."
)


@dataclass(frozen=True)
class DivisionTable:
    """One of the paper's Tables 9 to 11, about divide et impera.

    Attributes:
        name: name of the item.
        number: number of the table in the paper.
        figure: number of the figure in the paper.
        network: name of a bundled network.
        published: rows of the paper's table, by (k, method). A method is `sa` or `qa`.
        runs: function that returns our runs.
        exact_sizes: subproblem sizes k that are also solved exactly, by description of the data.
        main_data: description of the data that the verdict uses; see `problems.make_data`.
        notes: further remarks, one paragraph each.
    """

    name: str
    number: int
    figure: int
    network: str
    published: Mapping[tuple[int, str], DivisionRow]
    runs: Callable[[Setting], list[DivisionRuns]]
    exact_sizes: Mapping[str, tuple[int, ...]]
    main_data: str
    notes: tuple[str, ...] = ()

    def item(self) -> Item:
        """Return this table as an item of the evaluation."""
        title = f"Divide et impera on {TITLES[self.network]}"
        return Item(self.name, f"Table {self.number}, Figure {self.figure}", title, RULE, self.cases, self.section)

    def cases(self, setting: Setting) -> list[Case]:
        """Return all runs that the table needs, including the runs of reference methods."""
        return division_cases(self.network, self.select_runs(setting), self.exact_sizes)

    def select_runs(self, setting: Setting) -> list[DivisionRuns]:
        """Return the runs with the requested subproblem sizes k."""
        return [runs for runs in self.runs(setting) if not setting.sizes or runs.k in setting.sizes]

    def section(self, records: Records, setting: Setting) -> Section:
        """Return the report section for the table: the paper's table, further methods, reference methods and the figure."""
        truth = true_network(self.network).dag
        rows = [
            (runs, tally(runs.graphs(self.network, records), truth))
            for runs in self.select_runs(setting)
            if not runs.solver.startswith("tiled")
        ]
        tables = [
            self._paper_table(rows, setting),
            self._further_table(records, truth, setting),
            self._reference_table(records, truth),
        ]
        figure = Figure(
            f"{self.name}-roc",
            f"Figure {self.figure}: sensitivity against 1 - specificity for {TITLES[self.network]}. Circles are the paper's "
            "values, dots are ours, crosses are ours with arities other than the paper's. Numbers are k",
            lambda canvas: self._draw(canvas, rows, setting),
        )
        return Section(*self._verdict(rows), tables, [figure], list(self.notes))

    def _paper_table(self, rows: list[tuple[DivisionRuns, DivisionRow | None]], setting: Setting) -> Table:
        cells = []
        for runs, ours in rows:
            paper = self.published.get((runs.k, _method(runs)))
            sensitivities = (row.sensitivity if row else None for row in (paper, ours))
            specificities = (row.specificity if row else None for row in (paper, ours))
            cells.append(
                (
                    self._size(runs.k),
                    "SA" if runs.solver == "sa" else setting.annealer,
                    arity_label(runs.data),
                    _format_runs(paper.correct, paper.unique_correct) if paper else DASH,
                    _format_runs(ours.correct, ours.unique_correct) if ours else DASH,
                    _format_runs(paper.wrong, paper.unique_wrong) if paper else DASH,
                    _format_runs(ours.wrong, ours.unique_wrong) if ours else DASH,
                    " / ".join(map(format_number, sensitivities)),
                    " / ".join(map(format_number, specificities)),
                    judge(ours, paper),
                )
            )
        head = ("k", "method", "arities", "correct, the paper", "correct, ours", "wrong, the paper", "wrong, ours")
        caption = (
            "Number of edges in each run, their mean, and in parentheses the number of distinct edges of all runs. Raw "
            "reads, combined by rule 2 (`penalty`): keep an edge if C - P > 0, where C counts the subproblems with the "
            "edge, and P the subproblems that contain both variables but not the edge"
        )
        shares = ("sensitivity, the paper / ours", "specificity, the paper / ours")
        return Table(caption, (*head, *shares, "significant difference"), cells)

    def _further_table(self, records: Records, truth: nx.DiGraph, setting: Setting) -> Table:
        rows = []
        all_tiled = {(r.data, r.k): r for r in self.select_runs(setting) if r.solver.startswith("tiled")}
        for runs in self.select_runs(setting):
            if runs.solver.startswith("tiled"):
                continue
            graphs = {kind: runs.graphs(self.network, records, kind) for kind in ("raw", "repaired", "baseline")}
            graphs["count"] = runs.graphs(self.network, records, combine="count")
            exact = DivisionRuns(runs.data, runs.k, "exact", (0,))
            graphs["exact"] = exact.graphs(self.network, records, "exact")
            tiled = all_tiled.get((runs.data, runs.k)) if runs.solver != "sa" else None
            graphs["tiled"] = tiled.graphs(self.network, records) if tiled else []
            tallies = {kind: tally(networks, truth) for kind, networks in graphs.items()}
            order = ("raw", "repaired", "baseline", "exact", "count", "tiled")
            raw, repaired = tallies["raw"], tallies["repaired"]
            calls = [r.result["calls"] for r in records.select(tiled.cases(self.network))] if tiled else []
            rows.append(
                (
                    self._size(runs.k),
                    "SA" if runs.solver == "sa" else setting.annealer,
                    arity_label(runs.data),
                    *(_format_means(tallies[kind]) for kind in order),
                    format_number(mean(calls), "g"),
                    format_numbers(raw.cpdag_distances) if raw else DASH,
                    format_numbers(repaired.cpdag_distances) if repaired else DASH,
                )
            )
        label = "tiled" + (", emulated" if setting.quantum == "qa" else "")
        head = (
            "k",
            "method",
            "arities",
            "raw",
            "repaired",
            "random orders",
            "exact subproblems",
            "raw, rule 1 (`count`)",
            label,
            "calls per run, tiled",
        )
        caption = (
            "Mean numbers of correct / wrong edges, also for methods that the paper did not try: repaired reads, the best "
            "of 100 random orders per subproblem, exactly solved subproblems, rule 1 (`count`), and tiling (many "
            "subproblems in one call of the quantum annealer, with spin-reversal transforms). Rule 1 keeps an edge that "
            "occurs more often than its reverse"
        )
        return Table(caption, (*head, "CPDAG distance by run, raw", "CPDAG distance by run, repaired"), rows)

    def _reference_table(self, records: Records, truth: nx.DiGraph) -> Table:
        rows = []
        for data in self.exact_sizes:
            for kind, label in REFERENCES.items():
                r = records.get(Case(kind, {"network": self.network, "data": data}))
                if r is None:
                    continue
                comparison = dn.compare(recorded_graph(self.network, r.result["edges"]), truth)
                gap = r.result["score"] - r.result["truth_score"]
                proved = kind == "optimum" or r.result["optimal"]
                rows.append(
                    (
                        label,
                        arity_label(data),
                        f"{comparison.true_positives} / {comparison.false_positives}",
                        f"{comparison.sensitivity:.2f}",
                        f"{comparison.specificity:.2f}",
                        str(comparison.cpdag_shd),
                        f"{gap:+.2f}",
                        "yes" if proved else "no",
                    )
                )
        return Table(
            "The same data without an annealer",
            (
                "method",
                "arities",
                "correct / wrong",
                "sensitivity",
                "specificity",
                "CPDAG distance",
                "log score minus that of the truth",
                "proved optimal",
            ),
            rows,
        )

    def _verdict(self, rows: list[tuple[DivisionRuns, DivisionRow | None]]) -> tuple[str, str]:
        ours = {(runs.k, _method(runs)): row for runs, row in rows if runs.data == self.main_data}
        finished = {key: row for key, row in ours.items() if row is not None and key in self.published}
        complete = {key: row for key, row in finished.items() if len(row.correct) == len(SEEDS)}
        different = [
            f"k = {k} {method.upper()} ({_format_means(row)}, the paper {_format_means(self.published[k, method])})"
            for (k, method), row in complete.items()
            if judge(row, self.published[k, method]) == "yes"
        ]
        n = len(true_network(self.network).names)
        direct = finished.get((n, "sa"))
        divided = [row.sensitivity + row.specificity for (k, method), row in finished.items() if k < n and method == "sa"]
        shape: list[str] = []
        rest: list[str] = []
        if direct is None or not any(value > direct.sensitivity + direct.specificity for value in divided):
            shape.append("no k gives a higher sum of sensitivity and specificity than the direct run")
        if different:
            (shape if 2 * len(different) > len(complete) else rest).append(
                f"{len(different)} of {len(complete)} rows differ (correct / wrong edges): " + ", ".join(different)
            )
        if few := [key for key in finished if key not in complete]:
            rest.append("fewer than five runs: " + ", ".join(f"k = {k} {method.upper()}" for k, method in few))
        if missing := [f"k = {k} {method.upper()}" for k, method in self.published if (k, method) not in finished]:
            rest.append("not run: " + ", ".join(missing))
        return verdict(shape, rest)

    def _size(self, k: int) -> str:
        return f"{k} (direct)" if k == len(true_network(self.network).names) else str(k)

    def _draw(self, canvas: Canvas, rows: list[tuple[DivisionRuns, DivisionRow | None]], setting: Setting) -> None:
        """Draw sensitivity against 1 - specificity."""
        axes = canvas.subplots()
        colours = {"sa": "#1f77b4", "qa": "#d62728"}
        for (k, method), row in self.published.items():
            axes.plot(1 - row.specificity, row.sensitivity, "o", mfc="none", mec=colours[method], ms=8)
            axes.annotate(
                str(k),
                (1 - row.specificity, row.sensitivity),
                xytext=(5, 4),
                textcoords="offset points",
                fontsize=7,
                color="#777777",
            )
        for runs, ours in rows:
            if ours is None:
                continue
            method = _method(runs)
            point = (1 - ours.specificity, ours.sensitivity)
            if runs.data != self.main_data:
                axes.plot(*point, "x", color=colours[method], ms=5, alpha=0.7)
                continue
            axes.plot(*point, "o", color=colours[method], ms=5)
            axes.annotate(str(runs.k), point, xytext=(-9, -9), textcoords="offset points", fontsize=7, color=colours[method])
        for method, label in (("sa", "SA"), ("qa", setting.annealer)):
            axes.plot([], [], "o", mfc="none", mec=colours[method], label=f"{method.upper()}, the paper")
            axes.plot([], [], "o", color=colours[method], label=f"{label}, ours")
        axes.set_xlabel("1 - specificity")
        axes.set_ylabel("sensitivity")
        axes.set_xlim(left=-0.01)
        axes.set_ylim(-0.05, 1.05)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=8)


def arity_label(data: str) -> str:
    """Return `padded` if the data are padded to the same number of states for all variables, else `true`.

    Args:
        data: description of the data; see `problems.make_data`.
    """
    return "padded" if data.endswith("padded") else "true"


def judge(ours: DivisionRow | None, paper: DivisionRow | None) -> str:
    """Return `yes` if our runs differ significantly from the paper's runs, else `none`.

    Return a note such as `only 2 runs` if we have fewer runs than the paper. Return an empty string if a row is None.

    Args:
        ours: table row of our runs; None if there are no runs.
        paper: table row of the paper; None if the paper has no such row.
    """
    if ours is None or paper is None:
        return ""
    if len(ours.correct) < len(paper.correct):
        return f"only {len(ours.correct)} runs" if len(ours.correct) > 1 else "only 1 run"
    return "yes" if means_differ(ours.correct, paper.correct) or means_differ(ours.wrong, paper.wrong) else "none"


def _method(runs: DivisionRuns) -> str:
    """Return the method of our runs as in the paper's table: `sa` or `qa`."""
    return "sa" if runs.solver == "sa" else "qa"


def _format_runs(values: tuple[int, ...], unique: int) -> str:
    return f"{format_numbers(values)}: {sum(values) / len(values):.1f} ({unique})"


def _format_means(row: DivisionRow | None) -> str:
    return DASH if row is None else "{:.1f} / {:.1f}".format(*row.means)
