"""Annealers for tests: a small emulated chip, an unreliable service, and a fake cloud client."""

import numpy as np

import dagneal as dn
from dagneal.qpu.backend import TransientError, UnknownProblemError
from dagneal.qpu.emulator import EmulatedChip
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submission import RetryPolicy
from support.solving import solve

NO_DELAY = RetryPolicy(pause=0.0, sleep=lambda _: None)


def small_chip(**options):
    """Return an emulated chip with 1,202 qubits, which is fast to create."""
    return EmulatedChip("Advantage2_system4", **options)


class Flaky:
    """A service that fails 30% of the calls: before it assigns an id, or when the answer is fetched."""

    def __init__(self, inner, seed, share=0.3):
        self.inner, self.rng, self.share = inner, np.random.default_rng(seed), share
        self.name, self.graph, self.properties = inner.name, inner.graph, inner.properties
        self.parameters, self.emulated = inner.parameters, inner.emulated
        self.paid, self.answers, self.failures = [], {}, 0

    def _fail_sometimes(self, reason):
        if self.rng.random() < self.share:
            self.failures += 1
            raise TransientError(reason)

    def submit(self, bqm, parameters):
        self._fail_sometimes("the server is busy")
        problem_id = self.inner.submit(bqm, parameters)
        self.paid.append(problem_id)
        self.answers[problem_id] = self.inner.fetch(problem_id, 1.0)
        return problem_id

    def fetch(self, problem_id, timeout):
        if problem_id not in self.answers:
            raise UnknownProblemError(problem_id)
        self._fail_sometimes("the answer was lost" if self.rng.random() < 0.5 else f"no answer within {timeout:g} s")
        return self.answers[problem_id].copy()

    def cancel(self, problem_id):
        self.answers.pop(problem_id, None)

    def watch(self, is_cancelled):
        self.inner.watch(is_cancelled)

    def close(self):
        pass


def run(backend, table, journal, embeddings):
    """Solve all subproblems of three variables on a backend, without repair; return the solution and the sampler."""
    qpu = QPU(backend, cache=embeddings, journal=journal, retry=NO_DELAY)
    solver = dn.Divide(dn.Anneal(qpu, num_reads=10, repair=False), size=3, combine="penalty")
    return solve(table, solver, seed=3, journal=journal), qpu


class Future:
    """The parts of a future of the cloud client that dagneal uses."""

    def __init__(self, answer=None, error=None, done=True):
        self.answer, self.error, self.done, self.cancelled = answer, error, done, False
        self.solver = None  # as in the client, for answers retrieved by id

    def wait_id(self, timeout=None):
        if isinstance(self.error, TimeoutError):
            raise self.error
        return "id-1"

    def wait(self, timeout=None):
        return self.done

    @property
    def sampleset(self):
        if self.error is not None:
            raise self.error
        return self.answer

    def cancel(self):
        self.cancelled = True


class Cloud:
    """The parts of the cloud sampler and client that dagneal uses."""

    def __init__(self, futures):
        chip = small_chip()
        self.nodelist, self.edgelist, self.properties = chip.nodelist, chip.edgelist, chip.properties
        self.parameters = {"num_reads": [], "annealing_time": [], "auto_scale": [], "answer_mode": [], "label": []}
        self.futures, self.asked, self.sent, self.closed = list(futures), [], [], False
        self.solver, self.client = self, self
        self.name, self.graph_id = "Advantage2_system4.1", "abc"

    def sample_bqm(self, bqm, **parameters):
        self.sent.append(parameters)
        return self.futures.pop(0)

    def retrieve_answer(self, problem_id):
        self.asked.append(problem_id)
        return self.futures.pop(0)

    def close(self):
        self.closed = True
