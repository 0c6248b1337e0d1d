"""Samplers for tests."""

import threading

import dimod
from dwave.samplers import SimulatedAnnealingSampler


class Recorder(dimod.Sampler):
    """Simulated annealing that accepts only integer labels and one call at a time, and records its calls."""

    def __init__(self):
        self.calls, self.labels, self._busy = [], [], threading.Lock()

    @property
    def properties(self):
        return {}

    @property
    def parameters(self):
        return {"num_sweeps": []}  # incomplete, as in OpenJij

    def sample(self, bqm, num_reads=None, num_sweeps=50, seed=None):
        if any(type(label) is not int for label in bqm.variables):
            raise TypeError("labels must be integers\nand this line is not for users")
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("two threads at the same time")
        try:
            threading.Event().wait(0.001)  # calls of two threads would overlap
            self.calls.append({"num_reads": num_reads, "seed": seed})
            self.labels.append(list(bqm.variables))
            return SimulatedAnnealingSampler().sample(bqm, num_reads=num_reads, num_sweeps=num_sweeps, seed=seed)
        finally:
            self._busy.release()
