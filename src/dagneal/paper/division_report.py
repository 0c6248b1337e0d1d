"""The sections of Tables 9 to 11: the paper's counts beside ours, what stands beside them, and the figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

import dagneal as dn
from dagneal.paper.division_runs import DivisionRuns, division_cases, means_differ, tally
from dagneal.paper.items import NOTHING, Figure, Item, Section, Setting, Table, format_number, format_numbers, mean, verdict
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.published import CALLED, DivisionRow
from dagneal.paper.records import Case, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SEEDS = (1, 2, 3, 4, 5)
WAYS = {
    "optimum": "exact, at most 2 parents",
    "learn": "dagneal learn, at most 4 parents",
    "conquer": "conquest from exact triples, at most 4 parents",
}
RULE = (
    "A row is told apart from the paper's if an exact permutation test on the two sets of five runs does so at 1%, for "
    "right or for wrong edges. Reproduced: every row of the paper's table was run five times, none is told apart, and "
    "dividing helps: for SA some k below n has a higher sensitivity plus specificity than the whole at once. In shape: at "
    "least half of the rows that were run five times are not told apart, and dividing helps."
)


@dataclass(frozen=True)
class DivisionTable:
    """One of the paper's tables on dividing.

    Attributes:
        name: of the item.
        number: of the paper's table.
        figure: of the paper's figure.
        network: the problem.
        published: its rows, by k and method.
        runs: ours.
        exact: for each kind of data the sizes of blocks that are also solved exactly.
        main: the data that the verdict is about.
        notes: what else is to be said.
    """

    name: str
    number: int
    figure: int
    network: str
    published: Mapping[tuple[int, str], DivisionRow]
    runs: Callable[[Setting], list[DivisionRuns]]
    exact: Mapping[str, tuple[int, ...]]
    main: str
    notes: tuple[str, ...] = ()

    def item(self) -> Item:
        """The item that it makes."""
        title = f"Divide et impera on {CALLED[self.network]}"
        return Item(self.name, f"Table {self.number}, Figure {self.figure}", title, RULE, self.cases, self.section)

    def cases(self, setting: Setting) -> list[Case]:
        """All runs, and what stands beside them."""
        return division_cases(self.network, self.chosen(setting), self.exact)

    def chosen(self, setting: Setting) -> list[DivisionRuns]:
        """The runs of the sizes that were asked for."""
        return [each for each in self.runs(setting) if not setting.sizes or each.k in setting.sizes]

    def section(self, records: Records, setting: Setting) -> Section:
        """The table, what stands beside it, and the figure."""
        truth = true_network(self.network).dag
        found = [(each, tally(each.graphs(self.network, records), truth)) for each in self.chosen(setting)]
        counted = [(each, t) for each, t in found if not each.solver.startswith("tiled")]
        tables = [
            self._main(counted, setting),
            self._beside(records, truth, setting),
            self._whole(records, truth),
        ]
        figure = Figure(
            f"{self.name}-roc",
            f"Figure {self.figure}: sensitivity against 1 - specificity for {CALLED[self.network]}; the paper's points "
            "hollow, ours filled (crosses: other arities), the number is k",
            lambda canvas: self._draw(canvas, counted, setting),
        )
        return Section(*self._verdict(counted, setting), tables, [figure], list(self.notes))

    def _main(self, found: list[tuple[DivisionRuns, DivisionRow | None]], setting: Setting) -> Table:
        rows = []
        for each, t in found:
            paper = self.published.get((each.k, "sa" if each.solver == "sa" else "qa"))
            rows.append(
                (
                    self._size(each.k),
                    "SA" if each.solver == "sa" else setting.annealer,
                    arities(each.data),
                    _runs(paper.right, paper.unique_right) if paper else NOTHING,
                    _runs(t.right, t.unique_right) if t else NOTHING,
                    _runs(paper.wrong, paper.unique_wrong) if paper else NOTHING,
                    _runs(t.wrong, t.unique_wrong) if t else NOTHING,
                    f"{format_number(paper.sensitivity if paper else None)} / {format_number(t.sensitivity if t else None)}",
                    f"{format_number(paper.specificity if paper else None)} / {format_number(t.specificity if t else None)}",
                    judge(t, paper),
                )
            )
        head = ("k", "method", "arities", "right, the paper", "right, ours", "wrong, the paper", "wrong, ours")
        caption = "Edges in each run, their mean, and how many different ones all runs have; rule 2 (C - P > 0), raw reads"
        return Table(caption, (*head, "sensitivity, the paper / ours", "specificity", "told apart from the paper's"), rows)

    def _beside(self, records: Records, truth: nx.DiGraph, setting: Setting) -> Table:
        rows = []
        tiled = {(r.data, r.k): r for r in self.chosen(setting) if r.solver.startswith("tiled")}
        for each in self.chosen(setting):
            if each.solver.startswith("tiled"):
                continue
            graphs = {kind: each.graphs(self.network, records, kind) for kind in ("raw", "repaired", "baseline")}
            graphs["count"] = each.graphs(self.network, records, combine="count")
            exactly = DivisionRuns(each.data, each.k, "exact", (0,))
            graphs["exact"] = exactly.graphs(self.network, records, "exact")
            other = tiled.get((each.data, each.k)) if each.solver != "sa" else None
            graphs["tiled"] = other.graphs(self.network, records) if other else []
            tallies = {kind: tally(some, truth) for kind, some in graphs.items()}
            order = ("raw", "repaired", "baseline", "exact", "count", "tiled")
            raw = tallies["raw"]
            calls = [r.result["calls"] for r in records.of(other.cases(self.network))] if other else []
            rows.append(
                (
                    self._size(each.k),
                    "SA" if each.solver == "sa" else setting.annealer,
                    arities(each.data),
                    *(_means(tallies[kind]) for kind in order),
                    format_number(mean(calls), "g"),
                    format_numbers(raw.cpdag) if raw else NOTHING,
                    format_numbers(tallies["repaired"].cpdag) if tallies["repaired"] else NOTHING,
                )
            )
        label = "tiled, with gauges" + (", emulated" if setting.quantum == "qa" else "")
        head = (
            "k",
            "method",
            "arities",
            "raw",
            "repaired",
            "random orders",
            "exact blocks",
            "raw, rule 1",
            label,
            "calls, tiled",
        )
        caption = (
            "Right / wrong edges in the mean, in ways that the paper did not try: blocks repaired, by the best of 100 "
            "random orders, solved exactly, put together by rule 1 (an edge that occurs, and more often than its reverse), "
            "and on the quantum annealer many in a call, with the calls of a run; distance of equivalence classes from the "
            "truth by run, a dash where a cycle is left"
        )
        return Table(caption, (*head, "CPDAG distance, raw", "CPDAG distance, repaired"), rows)

    def _whole(self, records: Records, truth: nx.DiGraph) -> Table:
        rows = []
        for data in self.exact:
            for kind, label in WAYS.items():
                r = records.get(Case(kind, {"network": self.network, "data": data}))
                if r is None:
                    continue
                against = dn.compare(recorded_graph(self.network, r.result["edges"]), truth)
                gap = r.result["score"] - r.result["truth_score"]
                proved = kind == "optimum" or r.result["optimal"]
                rows.append(
                    (
                        label,
                        arities(data),
                        f"{against.right} / {against.wrong}",
                        f"{against.sensitivity:.2f}",
                        f"{against.specificity:.2f}",
                        str(against.cpdag_shd),
                        f"{gap:+.2f}",
                        "yes" if proved else "no",
                    )
                )
        caption = (
            "The same data, undivided, without an annealer: right / wrong edges, and the log score above that of the truth"
        )
        return Table(
            caption,
            (
                "way",
                "arities",
                "right / wrong",
                "sensitivity",
                "specificity",
                "CPDAG distance",
                "score above the truth",
                "proved optimal",
            ),
            rows,
        )

    def _verdict(self, found: list[tuple[DivisionRuns, DivisionRow | None]], setting: Setting) -> tuple[str, str]:
        rows = {(each.k, "sa" if each.solver == "sa" else "qa"): t for each, t in found if each.data == self.main}
        known = {key: t for key, t in rows.items() if t is not None and key in self.published}
        full = {key: t for key, t in known.items() if len(t.right) == len(SEEDS)}
        apart = [
            f"k = {k} {method.upper()} ({_means(t)}, the paper {_means(self.published[k, method])})"
            for (k, method), t in full.items()
            if judge(t, self.published[k, method]) == "yes"
        ]
        n = len(true_network(self.network).names)
        direct = known.get((n, "sa"))
        divided = [t.sensitivity + t.specificity for (k, method), t in known.items() if k < n and method == "sa"]
        shape: list[str] = []
        rest: list[str] = []
        if direct is None or not any(value > direct.sensitivity + direct.specificity for value in divided):
            shape.append("no k below n does better than the whole at once")
        if apart:
            (shape if 2 * len(apart) > len(full) else rest).append(
                f"{len(apart)} of {len(full)} told apart: " + ", ".join(apart)
            )
        if few := [key for key in known if key not in full]:
            rest.append("fewer than five runs: " + ", ".join(f"k = {k} {method.upper()}" for k, method in few))
        if missing := [f"k = {k} {method.upper()}" for k, method in self.published if (k, method) not in known]:
            rest.append("not run: " + ", ".join(missing))
        return verdict(shape, rest)

    def _size(self, k: int) -> str:
        return f"{k} (direct)" if k == len(true_network(self.network).names) else str(k)

    def _draw(self, canvas: Canvas, found: list[tuple[DivisionRuns, DivisionRow | None]], setting: Setting) -> None:
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
        for each, t in found:
            if t is None:
                continue
            method = "sa" if each.solver == "sa" else "qa"
            point = (1 - t.specificity, t.sensitivity)
            if each.data != self.main:
                axes.plot(*point, "x", color=colours[method], ms=5, alpha=0.7)
                continue
            axes.plot(*point, "o", color=colours[method], ms=5)
            axes.annotate(str(each.k), point, xytext=(-9, -9), textcoords="offset points", fontsize=7, color=colours[method])
        for method, label in (("sa", "SA"), ("qa", setting.annealer)):
            axes.plot([], [], "o", mfc="none", mec=colours[method], label=f"{method.upper()}, the paper")
            axes.plot([], [], "o", color=colours[method], label=f"{label}, ours")
        axes.set_xlabel("1 - specificity")
        axes.set_ylabel("sensitivity")
        axes.set_xlim(left=-0.01)
        axes.set_ylim(-0.05, 1.05)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=8)


def arities(data: str) -> str:
    """How states are counted in data."""
    return "padded" if data.endswith("padded") else "true"


def judge(ours: DivisionRow | None, paper: DivisionRow | None) -> str:
    """Whether our runs are told apart from the paper's, where there are five of them.

    Args:
        ours: our runs.
        paper: its row.
    """
    if ours is None or paper is None:
        return ""
    if len(ours.right) < len(paper.right):
        return f"only {len(ours.right)} runs" if len(ours.right) > 1 else "only 1 run"
    return "yes" if means_differ(ours.right, paper.right) or means_differ(ours.wrong, paper.wrong) else "no"


def _runs(values: tuple[int, ...], unique: int) -> str:
    return f"{format_numbers(values)}: {sum(values) / len(values):.1f} ({unique})"


def _means(t: DivisionRow | None) -> str:
    return NOTHING if t is None else "{:.1f} / {:.1f}".format(*t.means)
