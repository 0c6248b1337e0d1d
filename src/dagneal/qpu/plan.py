"""Plans show the calls, qubits and access time that a problem needs on a quantum annealer, before any call is made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.caches import user_cache_folder
from dagneal.base.defaults import ANNEALING_TIME, PAPER_PARENTS, READS, SEED, SUBPROBLEM_READS, SYSTEM
from dagneal.base.errors import InputError, whole_number
from dagneal.divide.candidates import allowed_by_frequency, collect_evidence, named_candidates
from dagneal.divide.subproblems import choose_subproblems
from dagneal.qpu.capacity import Capacity, find_capacity, guaranteed_size
from dagneal.qpu.embedding import Chains, EmbeddingCache, qubo_graph
from dagneal.qpu.finder import EmbeddingFinder
from dagneal.qpu.submission import check_call, split_reads
from dagneal.qpu.targets import Target, find_target
from dagneal.qubo.encode import TIGHT, Encoding, qubos
from dagneal.scoring.scorer import Scorer, check_max_parents
from dagneal.scoring.sets import bounded_masks
from dagneal.scoring.table import ScoreTable, Subproblems
from dagneal.solvers.policy import parent_limit


@dataclass(frozen=True)
class Plan:
    """The calls, qubits and access time that are needed to solve all subproblems of one size.

    Attributes:
        system: name of the chip.
        variables: number of variables of the global problem.
        size: number of variables of a subproblem; equal to `variables` if the problem is not divided.
        subproblems: number of subproblems.
        encoding: name of the encoding.
        qubo_variables: number of variables in the QUBO of one subproblem.
        interactions: number of interactions in the QUBO of one subproblem.
        qubits: mean number of qubits per subproblem.
        longest_chain: number of qubits in the longest chain.
        mean_chain: mean number of qubits in a chain.
        copies: number of subproblems that fit in one call.
        calls: number of calls for all subproblems, including extra calls if the reads exceed the limit of one call.
        reads: number of reads of each subproblem.
        annealing_time: annealing time of a read, in microseconds.
        seconds: total QPU access time of all calls, in seconds.
        seconds_one_by_one: total QPU access time in seconds if each call solves only one subproblem, as in the paper.
        fits_directly: number of variables of the largest problem that certainly fits on the chip without division.
        defects: number of qubits of the topology that the chip does not have.
        largest: the largest problem for which an embedding without division was found; None without a search.
    """

    system: str
    variables: int
    size: int
    subproblems: int
    encoding: str
    qubo_variables: int
    interactions: int
    qubits: float
    longest_chain: int
    mean_chain: float
    copies: int
    calls: int
    reads: int
    annealing_time: float
    seconds: float
    seconds_one_by_one: float
    fits_directly: int
    defects: int = 0
    largest: Capacity | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes of the plan as a dict."""
        return asdict(self)


def subproblem_graph(size: int, max_parents: int, encoding: Encoding) -> nx.Graph:
    """Return the graph of a subproblem's QUBO. The encoding must not prune, because the graph must not depend on the data.

    Args:
        size: number of variables of the subproblem.
        max_parents: parent limit.
        encoding: encoding of the subproblem, with `prune=False`.

    >>> from dagneal.qubo.encode import PAPER
    >>> graph = subproblem_graph(4, 2, PAPER)
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (26, 64)
    """
    limit = min(max_parents, size - 1)
    masks = bounded_masks(size - 1, limit)[:, 0]
    names = tuple(map(str, range(size)))
    scores = -np.random.default_rng(0).random((1, size, len(masks)))
    return table_graph(Subproblems(names, "any", limit, np.arange(size)[None], masks, scores), encoding)


@dataclass(frozen=True)
class PlanSettings:
    """The chip and the settings of the calls in a plan.

    Args:
        system: chip to plan for, such as `pegasus`, `Advantage2_system1:working` or `qpu`; see `targets.find_target`.
        encoding: encoding of the subproblems and of the global problem.
        max_parents: parent limit; by default 2 for subproblems and 4 for the global problem.
        reads: number of reads; by default 100 per subproblem and 1,000 for the global problem.
        annealing_time: annealing time of a read, in microseconds.
        cache: folder of stored embeddings; the user's cache folder by default.
    """

    system: str | Target = SYSTEM
    encoding: Encoding = TIGHT
    max_parents: int | None = None
    reads: int | None = None
    annealing_time: float = ANNEALING_TIME
    cache: Path | None = None

    def call_parameters(self, target: Target, default_reads: int) -> dict[str, Any]:
        """Return a dict with `num_reads` and `annealing_time`. Raise an error if the chip does not accept these values.

        Args:
            target: the chip.
            default_reads: number of reads to use if `reads` is None.
        """
        reads = default_reads if self.reads is None else self.reads
        call = {"num_reads": reads, "annealing_time": self.annealing_time}
        check_call(dict(target.properties), call)
        return call


def plan(
    variables: int,
    size: int | None,
    settings: PlanSettings,
    scheme: str = "all",
    seed: int = SEED,
    source: nx.Graph | None = None,
    notes: list[str] | None = None,
    largest: bool = False,
) -> tuple[Plan, list[Chains]]:
    """Plan the calls for all subproblems of one size.

    Args:
        variables: number of variables of the global problem.
        size: number of variables of a subproblem; None to solve the problem without division.
        settings: the chip and the settings of the calls. Without `source`, the encoding is used with `prune=False`.
        scheme: name of the rule that chooses the subproblems; see `choose_subproblems`.
        seed: random seed for choosing subproblems and finding embeddings.
        source: graph of a subproblem's QUBO; by default the result of `subproblem_graph`.
        notes: list to which messages about problems with stored embeddings are added.
        largest: whether to search for the largest problem that can be embedded without division. This takes some minutes;
            the result is stored, and later plans show it.

    Returns:
        A tuple: the plan, and the list of embeddings that one call uses.
    """
    target = find_target(settings.system)
    # Without data there is nothing to prune.
    encoding = replace(settings.encoding, prune=False) if source is None else settings.encoding
    whole_number("variables", variables, least=2)
    k = variables if size is None else whole_number("size", size, least=2)
    if k > variables:
        raise InputError(f"size is {k}; give at most {variables}, the number of variables")
    default = min(PAPER_PARENTS, variables - 1)
    limit = default if settings.max_parents is None else check_max_parents(settings.max_parents, variables)
    max_parents = whole_number("max_parents", limit, least=1)
    call = settings.call_parameters(target, SUBPROBLEM_READS)
    all_subsets = comb(variables, k)
    subproblems = all_subsets if scheme == "all" or k == variables else len(choose_subproblems(variables, k, scheme, seed))
    source = subproblem_graph(k, max_parents, encoding) if source is None else source
    if not len(source):
        raise InputError("no edge improves the score of these data, so there is nothing to send to a quantum annealer")
    cache = EmbeddingCache(settings.cache or user_cache_folder())
    finder = _finder(target, cache, notes)
    copies = finder.find(source, "copies" if subproblems > 1 else "one", seed)
    qubits = np.array([sum(map(len, chains.values())) for chains in copies])
    longest = max(len(chain) for chains in copies for chain in chains.values())
    full, rest = divmod(subproblems, len(copies))
    calls, seconds = _cost(target, int(qubits.sum()), call)
    calls, seconds = calls * full, seconds * full
    if rest:
        rest_calls, rest_seconds = _cost(target, int(qubits[:rest].sum()), call)
        calls, seconds = calls + rest_calls, seconds + rest_seconds

    def graph_of(number: int) -> nx.Graph:
        return subproblem_graph(number, max_parents, replace(encoding, prune=False))

    capacity = find_capacity(target, graph_of, f"{encoding.name} {max_parents}", cache, seed, largest)
    result = Plan(
        system=target.name,
        variables=variables,
        size=k,
        subproblems=subproblems,
        encoding=encoding.name,
        qubo_variables=len(source),
        interactions=source.number_of_edges(),
        qubits=round(float(qubits.mean()), 1),
        longest_chain=longest,
        mean_chain=float(qubits.mean()) / len(source),
        copies=len(copies),
        calls=calls,
        reads=call["num_reads"],
        annealing_time=settings.annealing_time,
        seconds=seconds,
        seconds_one_by_one=subproblems * _cost(target, round(float(qubits.mean())), call)[1],
        fits_directly=guaranteed_size(target.graph, graph_of),
        defects=len(target.ideal) - len(target.graph),
        largest=capacity,
    )
    return result, copies


@dataclass(frozen=True)
class GlobalPlan:
    """The calls, qubits and access time of one solve of the global problem.

    A global solve allows only candidate parents, which come from the solutions of subproblems. The rule `conquer` usually
    needs 2 to 5 global solves.

    Attributes:
        system: name of the chip.
        candidates: largest number of candidate parents of a variable.
        qubo_variables: number of variables of the QUBO.
        interactions: number of interactions of the QUBO.
        qubits: number of qubits in use.
        longest_chain: number of qubits in the longest chain.
        calls: number of calls of one global solve.
        reads: number of reads of one global solve.
        seconds: QPU access time of one global solve, in seconds.
    """

    system: str
    candidates: int
    qubo_variables: int
    interactions: int
    qubits: int
    longest_chain: int
    calls: int
    reads: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes of the plan as a dict."""
        return asdict(self)


def plan_global(scorer: Scorer, settings: PlanSettings, notes: list[str] | None = None) -> GlobalPlan:
    """Plan the first solve of the global problem; see `GlobalPlan`.

    The candidate parents come from all subproblems of three variables, which are solved on this computer.

    Args:
        scorer: scorer of the data.
        settings: the chip and the settings of the calls.
        notes: list to which messages about problems with stored embeddings are added.
    """
    target = find_target(settings.system)
    call = settings.call_parameters(target, READS)
    names = scorer.data.names
    limit = parent_limit(settings.max_parents, len(names))
    _, votes, together = collect_evidence(scorer.table(min(PAPER_PARENTS, limit)), choose_subproblems(len(names), 3))
    candidates = named_candidates(allowed_by_frequency(votes, together, 1.0), names)
    source = table_graph(scorer.table(limit, candidates), settings.encoding)
    finder = _finder(target, EmbeddingCache(settings.cache or user_cache_folder()), notes)
    lengths = [len(chain) for chain in finder.find(source)[0].values()]
    calls, seconds = _cost(target, sum(lengths), call)
    return GlobalPlan(
        system=target.name,
        candidates=max(map(len, candidates.values())),
        qubo_variables=len(source),
        interactions=source.number_of_edges(),
        qubits=sum(lengths),
        longest_chain=max(lengths, default=0),
        calls=calls,
        reads=call["num_reads"],
        seconds=seconds,
    )


def table_graph(table: ScoreTable | Subproblems, encoding: Encoding) -> nx.Graph:
    """Return the graph of the QUBO that encodes a score table.

    Args:
        table: score table of one problem, or `Subproblems` with the scores of several subproblems.
        encoding: encoding to use.
    """
    encoded = qubos(table, encoding)
    return qubo_graph(zip(encoded.rows, encoded.columns, strict=True), encoded.layout.num_variables)


def _finder(target: Target, cache: EmbeddingCache, notes: list[str] | None) -> EmbeddingFinder:
    messages = [] if notes is None else notes
    return EmbeddingFinder(target.identity, target.graph, target.topology, target.shape, cache, messages)


def _cost(target: Target, qubits: int, call: dict[str, Any]) -> tuple[int, float]:
    """Return a tuple: the number of calls that the reads need, and the total QPU access time in seconds."""
    parts = split_reads(dict(target.properties), call)
    times = [target.timing.access_time(qubits, part["num_reads"], part["annealing_time"]) for part in parts]
    return len(parts), sum(times) / 1e6
