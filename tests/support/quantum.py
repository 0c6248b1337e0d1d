"""Annealers for tests: a small chip, a service that fails, a cloud that is scripted."""

import numpy as np

import dagneal as dn
from dagneal.qpu.backend import TransientError, UnknownProblemError
from dagneal.qpu.emulator import EmulatedChip
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submission import RetryPolicy
from support.solving import solve

AT_ONCE = RetryPolicy(pause=0.0, sleep=lambda _: None)


def small_chip(**options):
    """An emulated chip with 1,202 qubits, quick to make."""
    return EmulatedChip("Advantage2_system4", **options)


class Flaky:
    """A service that fails three calls in ten: before there is an id, or with an answer that is lost on the way."""

    def __init__(self, inner, seed, share=0.3):
        self.inner, self.rng, self.share = inner, np.random.default_rng(seed), share
        self.name, self.graph, self.properties = inner.name, inner.graph, inner.properties
        self.parameters, self.emulated = inner.parameters, inner.emulated
        self.paid, self.answers, self.failures = [], {}, 0

    def _fails(self, why):
        if self.rng.random() < self.share:
            self.failures += 1
            raise TransientError(why)

    def submit(self, bqm, parameters):
        self._fails("the server has a cold")
        ident = self.inner.submit(bqm, parameters)
        self.paid.append(ident)
        self.answers[ident] = self.inner.fetch(ident, 1.0)
        return ident

    def fetch(self, ident, timeout):
        if ident not in self.answers:
            raise UnknownProblemError(ident)
        self._fails("the answer was lost" if self.rng.random() < 0.5 else f"no answer within {timeout:g} s")
        return self.answers[ident].copy()

    def cancel(self, ident):
        self.answers.pop(ident, None)

    def watch(self, given_up):
        self.inner.watch(given_up)

    def close(self):
        pass


def run(backend, table, journal, embeddings):
    """Solve all subproblems of three variables with raw reads of a backend; return the network and the sampler."""
    qpu = QPU(backend, cache=embeddings, journal=journal, retry=AT_ONCE)
    solver = dn.Divide(dn.Anneal(qpu, num_reads=10, repair=False), size=3, combine="penalty")
    return solve(table, solver, seed=3, journal=journal), qpu


class Future:
    """What the cloud client returns, as far as it is used."""

    def __init__(self, answer=None, error=None, done=True):
        self.answer, self.error, self.done, self.cancelled = answer, error, done, False
        self.solver = None  # as the client leaves it for an answer that is retrieved by id

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
    """A sampler of the cloud, as far as it is used."""

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

    def retrieve_answer(self, ident):
        self.asked.append(ident)
        return self.futures.pop(0)

    def close(self):
        self.closed = True
