"""A chip for tests that records what is sent, and solves the problems with the emulator."""

from dagneal.qpu.backend import LocalBackend
from support.quantum import small_chip

OCEAN_PARAMETERS = (
    *("anneal_offsets", "anneal_schedule", "annealing_time", "answer_mode", "auto_scale", "fast_anneal", "flux_biases"),
    *("flux_drift_compensation", "h_gain_schedule", "initial_state", "label", "max_answers", "num_reads"),
    *("programming_thermalization", "readout_thermalization", "reduce_intersample_correlation", "reinitialize_state"),
)


class Recorder:
    """A sampler with all parameters of D-Wave's solvers. The attribute `sent` has the problems and their parameters."""

    def __init__(self, **options):
        self.chip = small_chip(**options)
        self.nodelist, self.edgelist = self.chip.nodelist, self.chip.edgelist
        listed = dict.fromkeys(OCEAN_PARAMETERS, "a parameter")
        fast = {"fast_anneal_time_range": [0.005, 2000.0], "num_qubits": max(self.nodelist) + 1}
        self.properties = self.chip.properties | fast | {"parameters": listed}
        self.parameters = {name: [] for name in OCEAN_PARAMETERS}
        self.sent = []

    def sample(self, bqm, **parameters):
        self.sent.append((bqm, parameters))
        known = {name: value for name, value in parameters.items() if name in self.chip.parameters}
        if parameters.get("fast_anneal"):
            known.pop("annealing_time", None)  # the emulator cannot be so fast
        return self.chip.sample(bqm, seed=len(self.sent), **known)


def recording_backend(**options):
    """Return a backend that records what is sent, and the recorder."""
    recorder = Recorder(**options)
    return LocalBackend(recorder, "recorder"), recorder
