"""Make the report sections for Tables 9 to 11: the paper's counts next to ours, further methods, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd, lcm, sqrt
from statistics import fmean, variance
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import dagneal as dn
from dagneal.paper.division_runs import DivisionRuns, division_cases, tally
from dagneal.paper.items import DASH, Figure, Item, Section, Setting, Table, format_number, format_numbers, mean, verdict
from dagneal.paper.problems import recorded_graph, true_network
from dagneal.paper.published import TITLES, DivisionRow
from dagneal.paper.records import Case, Records
from dagneal.paper.significance import (
    LEVEL,
    Prediction,
    adjust,
    detectable_difference,
    distinct_counts,
    permutation_p,
    predict_distinct,
    t_quantile,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SEEDS = (1, 2, 3, 4, 5)
REFERENCES = {
    "optimum": "exact, at most 2 parents",
    "learn": "dagneal learn, at most 4 parents",
    "conquer": "candidate search from exact triples, at most 4 parents",
}
RULE = 'Reproduced: see "Verdicts of Tables 9 to 11" in the terms.'
TERMS = (
    "Tests of Tables 9 to 11: four tests compare each row with the paper. Exact permutation tests compare the numbers of "
    "correct and of wrong edges. Two more tests compare the numbers of distinct correct and distinct wrong edges in random "
    "sets of five of our runs with the paper's; they need at least ten of our runs, and allow for their finite number. The "
    "p-values of all rows of a method are adjusted by Holm's method, separately for the two kinds of tests. A row differs "
    "if an adjusted p-value is below 1%. Adjustment makes it harder to find a difference, so the tables also have the "
    "p-values before it. The emulator was not fitted to these tables. But the direct QA runs on LC and Waste are problems "
    "of Table 6, with 100 instead of 10,000 reads.",
    "Power of Tables 9 to 11, after the strictest adjustment: the smallest difference of the means, in edges, that the "
    "permutation test detects with a probability of 80%; and the numbers of distinct edges that would not count as a "
    "difference. No power: no possible result of the paper would be detected. A row is untestable if both permutation tests "
    "have no power.",
    "Verdicts of Tables 9 to 11: Reproduced: (1) every row of the paper's table can be tested; (2) no row differs; (3) "
    "dividing helps: with SA, some k gives more than the direct runs (sum of sensitivity and specificity; permutation tests "
    "at 1%, adjusted for the number of k by Holm's method). In shape: at least half of the paper's rows can be tested, and "
    "at most half of these differ.",
    "Rules of Tables 9 to 11: C counts the subproblems with an edge, P the subproblems that contain both variables but not "
    "the edge. Rule 2 (`penalty`), the paper's, keeps an edge if C - P > 0. Rule 1 (`count`) keeps an edge that occurs more "
    "often than its reverse.",
    "Further methods of Tables 9 to 11, which the paper did not try: repaired reads, the best of 100 random orders per "
    "subproblem, exactly solved subproblems, and tiling (many subproblems in one call of the quantum annealer, with "
    "spin-reversal transforms).",
)
_EDGES = ("correct", "wrong")
NO_POWER = "no power"


@dataclass(frozen=True)
class DivisionResult:
    """Our runs of one row of a table, compared with the paper's row.

    Attributes:
        runs: description of our runs.
        ours: counts of our runs; None if no run is finished.
        paper: the paper's row; None if the paper has no such row.
        found: whether each run found each correct edge and each wrong edge: two arrays of shape (runs, edges).
    """

    runs: DivisionRuns
    ours: DivisionRow | None
    paper: DivisionRow | None
    found: tuple[NDArray[np.bool_], NDArray[np.bool_]]

    @property
    def comparable(self) -> bool:
        """Whether there are at least as many runs as in the paper."""
        return self.ours is not None and self.paper is not None and len(self.ours.correct) >= len(self.paper.correct)

    def detectable(self, tests: int) -> list[int]:
        """Return the smallest detectable differences of the mean numbers of correct and of wrong edges.

        A difference is 0 if no possible number of edges in the paper's runs would be detected.

        Args:
            tests: number of tests. Holm's method divides the level by it for the smallest p-value.
        """
        smallest = []
        for name, found in zip(_EDGES, self.found, strict=True):
            ours, most = getattr(self.ours, name), found.shape[1]
            difference = _smallest_difference(tuple(ours), LEVEL / tests)
            middle = sum(ours) / len(ours)
            smallest.append(difference if difference <= max(middle, most - middle) else 0)
        return smallest

    def can_differ(self, tests: int) -> bool:
        """Return whether a permutation test can find a difference after Holm's adjustment.

        Args:
            tests: number of tests.
        """
        return any(self.detectable(tests))

    def gains(self) -> tuple[int, ...]:
        """Return the sum of sensitivity and specificity of each run, minus 1, in units that make it a whole number."""
        true, other = (found.shape[1] for found in self.found)
        unit = gcd(true, other)
        if self.ours is None:
            return ()
        return tuple(
            (correct * other - wrong * true) // unit
            for correct, wrong in zip(self.ours.correct, self.ours.wrong, strict=True)
        )

    def mean_p(self) -> list[float]:
        """Return the p-values of the permutation tests of correct and of wrong edges."""
        return [permutation_p(getattr(self.ours, name), getattr(self.paper, name)) for name in _EDGES]

    def distinct_p(self) -> list[float]:
        """Return the p-values of the numbers of distinct correct and distinct wrong edges."""
        published = [getattr(self.paper, f"unique_{name}") for name in _EDGES]
        if not self.predictions:
            return [1.0, 1.0]
        return [each.p_value(number) for each, number in zip(self.predictions, published, strict=True)]

    @cached_property
    def predictions(self) -> list[Prediction]:
        """Predicted numbers of distinct correct and distinct wrong edges in five new runs; empty with less than ten runs."""
        enough = len(self.found[0]) >= 2 * len(SEEDS)
        return [predict_distinct(found, len(SEEDS)) for found in self.found] if enough else []

    def distinct_means(self) -> list[float | None]:
        """Return the mean numbers of distinct correct and distinct wrong edges in sets of five of our runs."""
        return [float(distinct_counts(found, len(SEEDS)).mean()) if len(found) else None for found in self.found]


@dataclass(frozen=True)
class Gain:
    """Comparison of divided with direct runs of simulated annealing.

    Attributes:
        helps: whether the gain of some subproblem size is significant.
        largest: subproblem size with the largest gain, with the gain and its interval.
        significant: subproblem sizes with a significant gain.
    """

    helps: bool
    largest: str
    significant: str

    def describe(self) -> str:
        """Return all attributes as one text."""
        return (
            "Dividing, with SA: gain of the sum of sensitivity and specificity over the direct runs. The largest is that of "
            f"{self.largest}. It is significant for {self.significant}."
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
        main_data: description of the data with the paper's arities, which the verdict uses; see `problems.make_data`.
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

    def compare(self, records: Records, setting: Setting) -> tuple[list[DivisionResult], dict[int, list[float]]]:
        """Compare our runs with the paper's rows.

        Args:
            records: records of finished runs.
            setting: options of the evaluation.

        Returns:
            A tuple: all results, those with the paper's arities and precision first; and for each of these that has enough
            runs, by index, the adjusted p-values of its correct, wrong, distinct correct and distinct wrong edges.
        """
        truth = true_network(self.network).dag
        chosen = [runs for runs in self.select_runs(setting) if not runs.solver.startswith("tiled")]
        results = [self._result(runs, records, truth) for runs in sorted(chosen, key=self._is_main, reverse=True)]
        return results, _adjusted_p_values([result for result in results if self._is_main(result.runs)])

    def section(self, records: Records, setting: Setting) -> Section:
        """Return the report section for the table: the paper's table, further methods, reference methods and the figure."""
        truth = true_network(self.network).dag
        results, p_values = self.compare(records, setting)
        main = [result for result in results if self._is_main(result.runs)]
        tables = [
            self._paper_table(main, p_values, setting),
            self._power_table(main, p_values),
            self._variant_table([result for result in results if not self._is_main(result.runs)]),
            self._further_table(records, truth, setting),
            self._reference_table(records, truth),
        ]
        figure = Figure(
            f"{self.name}-roc",
            f"Figure {self.figure}: sensitivity against 1 - specificity for {TITLES[self.network]}. Circles are the paper's "
            "values, dots are ours in single precision, crosses are ours in double precision or with other arities. Numbers "
            "are k",
            lambda canvas: self._draw(canvas, results, setting),
        )
        gain = self._compare_with_direct(main)
        notes = [*self._describe_tests(main, p_values), *([gain.describe()] if gain else []), *self.notes]
        basis = "QA rows emulated" if any(method == "qa" for _, method in self.published) else ""
        return Section(
            *self._verdict(main, p_values, gain),
            [table for table in tables if table.rows],
            [figure],
            notes,
            basis if setting.emulated else "",
        )

    def _is_main(self, runs: DivisionRuns) -> bool:
        """Return whether the verdict uses these runs: they have the paper's arities and precision."""
        return runs.data == self.main_data and runs.precision == "single"

    def _count_tests(self, result: DivisionResult) -> int:
        """Return the number of permutation tests of all rows of a method."""
        return 2 * sum(method == _method(result.runs) for _, method in self.published)

    def _result(self, runs: DivisionRuns, records: Records, truth: nx.DiGraph) -> DivisionResult:
        graphs = runs.graphs(self.network, records)
        adjacency = np.array([nx.to_numpy_array(graph, nodelist=list(truth)) > 0 for graph in graphs])
        adjacency = adjacency.reshape(len(graphs), len(truth), len(truth))
        correct = nx.to_numpy_array(truth) > 0
        possible = ~np.eye(len(truth), dtype=bool)
        found = (adjacency[:, correct], adjacency[:, possible & ~correct])
        return DivisionResult(runs, tally(graphs, truth), self.published.get((runs.k, _method(runs))), found)

    def _paper_table(self, results: list[DivisionResult], p_values: dict[int, list[float]], setting: Setting) -> Table:
        cells = []
        for index, result in enumerate(results):
            runs, ours, paper = result.runs, result.ours, result.paper
            sensitivities = (row.sensitivity if row else None for row in (paper, ours))
            specificities = (row.specificity if row else None for row in (paper, ours))
            row = [self._size(runs.k), "SA" if runs.solver == "sa" else setting.annealer]
            for name, distinct in zip(_EDGES, result.distinct_means(), strict=True):
                row += [
                    _format_runs(getattr(paper, name), getattr(paper, f"unique_{name}")) if paper else DASH,
                    _format_first(getattr(ours, name)) if ours else DASH,
                    f"{mean(getattr(ours, name)):.1f} ({format_number(distinct, '.1f')})" if ours else DASH,
                ]
            cells.append(
                (
                    *row,
                    " / ".join(map(format_number, sensitivities)),
                    " / ".join(map(format_number, specificities)),
                    str(len(ours.correct)) if ours else "0",
                    judge(result, p_values.get(index), self._count_tests(result)),
                )
            )
        head = (
            "k",
            "method",
            *(f"{name}, {whose}" for name in _EDGES for whose in ("the paper", "our first five runs", "mean of our runs")),
            "sensitivity, the paper / ours",
            "specificity, the paper / ours",
            "our runs",
            "significant difference",
        )
        caption = (
            "Number of edges in each run and their mean. In parentheses: the number of distinct edges of the paper's five "
            "runs, and the mean number of distinct edges in sets of five of our runs. Single precision, raw reads, rule 2"
        )
        return Table(caption, head, cells)

    def _power_table(self, results: list[DivisionResult], p_values: dict[int, list[float]]) -> Table:
        """Return a table with the p-values of all tests and with the differences that the tests would detect."""
        count = {method: 2 * sum(_method(results[index].runs) == method for index in p_values) for method in ("sa", "qa")}
        rows = []
        for index, adjusted in p_values.items():
            result = results[index]
            raw = [*result.mean_p(), *result.distinct_p()]
            tests = count[_method(result.runs)]
            edges = [found.shape[1] for found in result.found]
            smallest = result.detectable(tests)
            accepted = [
                prediction.accepted_range(LEVEL / tests, most)
                for prediction, most in zip(result.predictions, edges, strict=False)
            ]
            rows.append(
                (
                    self._size(result.runs.k),
                    _method(result.runs).upper(),
                    *(f"{p:.2g} / {own:.2g}" for p, own in zip(raw, adjusted, strict=True)),
                    " / ".join(
                        f"{difference} of {most}" if difference else "no power"
                        for difference, most in zip(smallest, edges, strict=True)
                    ),
                    " / ".join(
                        "no power" if (low, high) == (0, most) else f"{low} to {high}"
                        for (low, high), most in zip(accepted, edges, strict=False)
                    )
                    or DASH,
                )
            )
        return Table(
            "Tests against the paper: p-value / p-value adjusted by Holm's method. The last two columns are the power",
            (
                "k",
                "method",
                "correct",
                "wrong",
                "distinct correct",
                "distinct wrong",
                "detectable difference, correct / wrong",
                "accepted distinct edges, correct / wrong",
            ),
            rows,
        )

    def _variant_table(self, results: list[DivisionResult]) -> Table:
        """Return a table of runs in double precision or with other arities than the paper's."""
        rows = []
        for result in results:
            if result.ours is None:
                continue
            paper, distinct = result.paper, result.distinct_means()
            raw = [*result.mean_p(), *result.distinct_p()] if result.comparable else []
            rows.append(
                (
                    self._size(result.runs.k),
                    _method(result.runs).upper(),
                    arity_label(result.runs.data),
                    result.runs.precision,
                    f"{_format_means(paper)} ({paper.unique_correct} / {paper.unique_wrong})" if paper else DASH,
                    f"{_format_means(result.ours)} ({' / '.join(format_number(value, '.1f') for value in distinct)})",
                    str(len(result.ours.correct)),
                    " ".join(f"{p:.2g}" for p in raw) or DASH,
                )
            )
        return Table(
            "Other precision or arities: mean numbers of correct / wrong edges, with the numbers of distinct edges of five "
            "runs in parentheses, and unadjusted p-values for correct, wrong, distinct correct and distinct wrong edges",
            ("k", "method", "arities", "precision", "the paper", "ours", "our runs", "p-values"),
            rows,
        )

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
                    runs.precision,
                    *(_format_means(tallies[kind]) for kind in order),
                    format_number(mean(calls), "g"),
                    _format_first(raw.cpdag_distances) if raw else DASH,
                    _format_first(repaired.cpdag_distances) if repaired else DASH,
                )
            )
        label = "tiled" + (", emulated" if setting.quantum == "qa" else "")
        head = (
            "k",
            "method",
            "arities",
            "precision",
            "raw",
            "repaired",
            "random orders",
            "exact subproblems",
            "raw, rule 1",
            label,
            "calls per run, tiled",
        )
        caption = "Mean numbers of correct / wrong edges, also for further methods"
        return Table(caption, (*head, "CPDAG distance, raw, first runs", "CPDAG distance, repaired, first runs"), rows)

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

    def _compare_with_direct(self, results: list[DivisionResult]) -> Gain | None:
        """Compare each subproblem size with the direct runs, with SA; return the size with the largest gain."""
        n = len(true_network(self.network).names)
        own = {r.runs.k: r for r in results if r.runs.solver == "sa" and r.ours is not None and len(r.ours.correct) > 1}
        direct = own.pop(n, None)
        if direct is None or not own:
            return None
        unit = lcm(*(found.shape[1] for found in direct.found))
        base = direct.gains()
        lowest = min(min(r.gains()) for r in (direct, *own.values()))
        p_values = adjust([permutation_p([v - lowest for v in r.gains()], [v - lowest for v in base]) for r in own.values()])
        means = {k: (fmean(r.gains()) - fmean(base)) / unit for k, r in own.items()}
        best = max(means, key=means.__getitem__)
        gains = own[best].gains()
        error = sqrt(variance(gains) / len(gains) + variance(base) / len(base)) / unit
        half = t_quantile(0.05 / len(own), min(len(gains), len(base)) - 1) * error
        helps = [k for k, p in zip(own, p_values, strict=True) if p < LEVEL and means[k] > 0]
        listed = f"k = {', '.join(map(str, helps))}" if helps else "no k"
        largest = (
            f"k = {best}, {means[best]:+.2f} (95% interval {means[best] - half:+.2f} to {means[best] + half:+.2f}, allowing "
            f"for the choice among {len(own)} values of k; the paper {self._paper_gain(best, n)})"
        )
        return Gain(bool(helps), largest, listed)

    def _paper_gain(self, k: int, n: int) -> str:
        """Return the gain of a subproblem size over the direct run in the paper, with SA, as text."""
        divided, direct = self.published[k, "sa"], self.published[n, "sa"]
        gain = divided.sensitivity + divided.specificity - direct.sensitivity - direct.specificity
        return f"{gain:+.2f}"

    def _describe_tests(self, results: list[DivisionResult], p_values: dict[int, list[float]]) -> list[str]:
        """Return a note on the unadjusted p-values of all rows."""
        parts = []
        for method in ("sa", "qa"):
            own = [results[index] for index in p_values if _method(results[index].runs) == method]
            raw = [p for result in own for p in (*result.mean_p(), *(result.distinct_p() if result.predictions else ()))]
            if raw:
                low = sum(p < 0.05 for p in raw)
                parts.append(f"{method.upper()}: {low} of {len(raw)} are below 5%, the smallest is {min(raw):.2g}")
        if not parts:
            return []
        text = "; ".join(parts)
        return [
            f"P-values before adjustment. {text}. If nothing differed, at most about 5% would be below 5%. The tests of a "
            f"row are "
            "not independent."
        ]

    def _verdict(
        self, results: list[DivisionResult], p_values: dict[int, list[float]], gain: Gain | None
    ) -> tuple[str, str]:
        finished = {(r.runs.k, _method(r.runs)) for r in results if r.ours is not None and r.paper is not None}
        judged = {index: judge(r, p_values.get(index), self._count_tests(r)) for index, r in enumerate(results)}
        different = [
            f"k = {r.runs.k} {_method(r.runs).upper()} ({_format_means(r.ours)}, the paper {_format_means(r.paper)})"
            for index, r in enumerate(results)
            if judged[index] == "yes"
        ]
        tested = sum(text in ("yes", "none") for text in judged.values())
        shape: list[str] = []
        rest: list[str] = []
        if gain is None:
            rest.append("divided and direct runs cannot be compared")
        elif not gain.helps:
            rest.append(f"dividing gives no significant gain; the largest is that of {gain.largest}")
        if 2 * tested < len(self.published):
            shape.append(f"only {tested} of {len(self.published)} rows can be tested")
        if different:
            (shape if 2 * len(different) > tested else rest).append(
                f"{len(different)} of {tested} testable rows differ (correct / wrong edges): " + ", ".join(different)
            )
        few = [r.runs for index, r in enumerate(results) if r.ours is not None and index not in p_values]
        weak = [r.runs for index, r in enumerate(results) if judged[index] == NO_POWER]
        for text, rows in (("fewer than five runs", few), ("no power", weak)):
            if rows:
                rest.append(f"{text}: " + ", ".join(f"k = {runs.k} {_method(runs).upper()}" for runs in rows))
        if missing := [f"k = {k} {method.upper()}" for k, method in self.published if (k, method) not in finished]:
            rest.append("not run: " + ", ".join(missing))
        return verdict(shape, rest)

    def _size(self, k: int) -> str:
        return f"{k} (direct)" if k == len(true_network(self.network).names) else str(k)

    def _draw(self, canvas: Canvas, results: list[DivisionResult], setting: Setting) -> None:
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
        for result in results:
            runs, ours = result.runs, result.ours
            if ours is None:
                continue
            method = _method(runs)
            point = (1 - ours.specificity, ours.sensitivity)
            if not self._is_main(runs):
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


@lru_cache(maxsize=256)
def _smallest_difference(ours: tuple[int, ...], level: float) -> int:
    return detectable_difference(ours, len(SEEDS), level)


def arity_label(data: str) -> str:
    """Return `padded` if the data are padded to the same number of states for all variables, else `true`.

    Args:
        data: description of the data; see `problems.make_data`.
    """
    return "padded" if data.endswith("padded") else "true"


def judge(result: DivisionResult, adjusted: list[float] | None, tests: int) -> str:
    """Return `yes` if our runs differ significantly from the paper's runs, else `none`.

    Return a note such as `only 2 runs` if we have fewer runs than the paper, `no power` if no test can find a
    difference, and an empty string if there is nothing to compare.

    Args:
        result: our runs and the paper's row.
        adjusted: adjusted p-values of all tests of the row; None if the row was not tested.
        tests: number of permutation tests in the table.
    """
    if result.ours is None or result.paper is None:
        return ""
    if adjusted is None:
        count = len(result.ours.correct)
        return f"only {count} runs" if count > 1 else "only 1 run"
    if min(adjusted) < LEVEL:
        return "yes"
    return "none" if result.can_differ(tests) else NO_POWER


def _adjusted_p_values(results: list[DivisionResult]) -> dict[int, list[float]]:
    """Return the adjusted p-values of each result with enough runs, by index: correct, wrong, and distinct of both."""
    p_values: dict[int, list[float]] = {}
    for method in ("sa", "qa"):
        tested = [index for index, r in enumerate(results) if _method(r.runs) == method and r.comparable]
        means = adjust([p for index in tested for p in results[index].mean_p()])
        distinct = adjust([p for index in tested for p in results[index].distinct_p()])
        for place, index in enumerate(tested):
            both = slice(2 * place, 2 * place + 2)
            p_values[index] = [*means[both], *distinct[both]]
    return p_values


def _method(runs: DivisionRuns) -> str:
    """Return the method of our runs as in the paper's table: `sa` or `qa`."""
    return "sa" if runs.solver == "sa" else "qa"


def _format_runs(values: tuple[int, ...], unique: int) -> str:
    return f"{format_numbers(values)}: {sum(values) / len(values):.1f} ({unique})"


def _format_first(values: Sequence[int | None]) -> str:
    """Return the values of the first five runs as text."""
    return format_numbers(values[: len(SEEDS)])


def _format_means(row: DivisionRow | None) -> str:
    return DASH if row is None else "{:.1f} / {:.1f}".format(*row.means)
