"""The sections of Tables 9 to 11: the paper's counts beside ours, what stands beside them, and the figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

from dagneal.metrics import compare
from dagneal.networks import load
from dagneal.paper.division import Runs, Tally, all_cases, tally
from dagneal.paper.items import NOTHING, Figure, Item, Section, Setting, Table, listed, shown, verdict
from dagneal.paper.published import CALLED, Division
from dagneal.paper.records import Case, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SEEDS = (1, 2, 3, 4, 5)
RULE = (
    "A row is inside the paper's spread if our mean number of right edges and of wrong edges each lie between the least "
    "and the most of the "
    "paper's five runs, or at most 1 beyond. Reproduced: all rows are inside, each with five runs. In shape: at least "
    "half are, and for SA some "
    "k below n does better (sensitivity plus specificity) than the whole at once, as in the paper."
)


@dataclass(frozen=True)
class Declared:
    """One of the paper's tables on dividing.

    Attributes:
        name: of the item.
        number: of the paper's table.
        network: the problem.
        published: its rows, by k and method.
        runs: ours.
        exact: for each kind of data the sizes of blocks that are also solved exactly.
        main: the data that the verdict is about.
        notes: what else is to be said.
    """

    name: str
    number: str
    network: str
    published: Mapping[tuple[int, str], Division]
    runs: Callable[[Setting], list[Runs]]
    exact: Mapping[str, tuple[int, ...]]
    main: str
    notes: tuple[str, ...] = ()

    def item(self) -> Item:
        """The item that it makes."""
        title = f"Divide et impera on {CALLED[self.network]}"
        return Item(self.name, self.number, title, RULE, self.cases, self.section)

    def cases(self, setting: Setting) -> list[Case]:
        """All runs, and what stands beside them."""
        return all_cases(self.network, self.runs(setting), self.exact)

    def section(self, records: Records, setting: Setting) -> Section:
        """The table, what stands beside it, and the figure."""
        truth = load(self.network).dag
        found = [(each, tally(each.graphs(self.network, records), truth)) for each in self.runs(setting)]
        counted = [(each, t) for each, t in found if each.solver != "tiled"]
        tables = [
            self._main(counted, setting),
            self._beside(records, truth, setting),
            self._whole(records, truth),
        ]
        figure = Figure(
            f"{self.name}-roc",
            f"Sensitivity against 1 - specificity for {CALLED[self.network]}; the paper's points hollow, ours filled, the "
            f"number is k",
            lambda canvas: self._draw(canvas, counted, setting),
        )
        return Section(*self._verdict(counted, setting), tables, [figure], list(self.notes))

    def _main(self, found: list[tuple[Runs, Tally | None]], setting: Setting) -> Table:
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
                    f"{shown(paper.sensitivity if paper else None)} / {shown(t.sensitivity if t else None)}",
                    f"{shown(paper.specificity if paper else None)} / {shown(t.specificity if t else None)}",
                    "" if t is None or paper is None else ("inside" if inside(t, paper) else "outside"),
                )
            )
        head = ("k", "method", "arities", "right, the paper", "right, ours", "wrong, the paper", "wrong, ours")
        caption = "Edges in each run, their mean, and how many different ones all runs have; rule 2 (C - P > 0), raw reads"
        return Table(caption, (*head, "sensitivity, the paper / ours", "specificity", "in the paper's spread"), rows)

    def _beside(self, records: Records, truth: nx.DiGraph, setting: Setting) -> Table:
        rows = []
        tiled = {(r.data, r.k): r for r in self.runs(setting) if r.solver == "tiled"}
        for each in self.runs(setting):
            if each.solver == "tiled":
                continue
            graphs = {kind: each.graphs(self.network, records, kind) for kind in ("raw", "repaired", "baseline")}
            graphs["count"] = each.graphs(self.network, records, rule="count")
            exactly = Runs(each.data, each.k, "exact", (0,))
            graphs["exact"] = exactly.graphs(self.network, records, "exact")
            other = tiled.get((each.data, each.k)) if each.solver != "sa" else None
            graphs["tiled"] = other.graphs(self.network, records) if other else []
            tallies = {kind: tally(some, truth) for kind, some in graphs.items()}
            order = ("raw", "repaired", "baseline", "exact", "count", "tiled")
            raw = tallies["raw"]
            rows.append(
                (
                    self._size(each.k),
                    "SA" if each.solver == "sa" else setting.annealer,
                    arities(each.data),
                    *(_means(tallies[kind]) for kind in order),
                    listed(raw.cpdag) if raw else NOTHING,
                    listed(tallies["repaired"].cpdag) if tallies["repaired"] else NOTHING,
                )
            )
        head = (
            "k",
            "method",
            "arities",
            "raw",
            "repaired",
            "random orders",
            "exact blocks",
            "raw, rule 1",
            "tiled, with gauges",
        )
        caption = (
            "Right / wrong edges in the mean, in ways that the paper did not try: blocks repaired, by the best of 100 "
            "random orders, solved "
            "exactly, put together by rule 1 (an edge that occurs, and more often than its reverse), and on the QPU many "
            "in a call; distance "
            "of equivalence classes from the truth by run, a dash where a cycle is left"
        )
        return Table(caption, (*head, "CPDAG distance, raw", "repaired"), rows)

    def _whole(self, records: Records, truth: nx.DiGraph) -> Table:
        rows = []
        for data in self.exact:
            for kind, label in (("optimum", "exact, at most 2 parents"), ("learn", "dagneal learn, at most 4 parents")):
                r = records.get(Case(kind, {"network": self.network, "data": data}))
                if r is None:
                    continue
                graph = nx.DiGraph()
                graph.add_nodes_from(truth)
                graph.add_edges_from(map(tuple, r.result["edges"]))
                against = compare(graph, truth)
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

    def _verdict(self, found: list[tuple[Runs, Tally | None]], setting: Setting) -> tuple[str, str]:
        main = [(each, t) for each, t in found if each.data == self.main]
        rows = {(each.k, "sa" if each.solver == "sa" else "qa"): t for each, t in main}
        judged = {key: t for key, t in rows.items() if t is not None and key in self.published}
        outside = [
            f"k = {k} {method.upper()} ({_means(t)}, the paper {_means(self.published[k, method])})"
            for (k, method), t in judged.items()
            if not inside(t, self.published[k, method])
        ]
        missing = [f"k = {k} {method.upper()}" for k, method in self.published if (k, method) not in judged]
        short = [key for key, t in judged.items() if len(t.right) < len(SEEDS)]
        n = len(load(self.network).names)
        direct = judged.get((n, "sa"))
        divided = [t.sensitivity + t.specificity for (k, method), t in judged.items() if k < n and method == "sa"]
        better = direct is not None and any(value > direct.sensitivity + direct.specificity for value in divided)
        reasons = []
        if outside:
            reasons.append("outside: " + ", ".join(outside))
        if missing:
            reasons.append("not run at this scale: " + ", ".join(missing))
        if short:
            reasons.append("fewer than five runs: " + ", ".join(f"k = {k} {method.upper()}" for k, method in short))
        shape = bool(judged) and 2 * len(outside) <= len(judged) and better
        return verdict(not reasons and better, shape, reasons)

    def _size(self, k: int) -> str:
        return f"{k} (direct)" if k == len(load(self.network).names) else str(k)

    def _draw(self, canvas: Canvas, found: list[tuple[Runs, Tally | None]], setting: Setting) -> None:
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
            if t is None or each.data != self.main:
                continue
            method = "sa" if each.solver == "sa" else "qa"
            axes.plot(1 - t.specificity, t.sensitivity, "o", color=colours[method], ms=5)
            axes.annotate(
                str(each.k),
                (1 - t.specificity, t.sensitivity),
                xytext=(5, -9),
                textcoords="offset points",
                fontsize=7,
                color=colours[method],
            )
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


def inside(ours: Tally, paper: Division) -> bool:
    """Whether our means lie within the paper's five runs, or at most 1 beyond.

    Args:
        ours: our runs.
        paper: its row.
    """
    pairs = zip(ours.means, (paper.right, paper.wrong), strict=True)
    return all(min(runs) - 1 <= mean <= max(runs) + 1 for mean, runs in pairs)


def _runs(values: tuple[int, ...], unique: int) -> str:
    return f"{listed(values)}: {sum(values) / len(values):.1f} ({unique})"


def _means(t: Tally | Division | None) -> str:
    return NOTHING if t is None else "{:.1f} / {:.1f}".format(*t.means)
