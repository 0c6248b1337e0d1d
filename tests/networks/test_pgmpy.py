"""pgmpy reads the BIF files that dagneal writes."""

import json
import subprocess
import sys

import numpy as np
import pytest

import dagneal as dn
from dagneal.networks.bif import make_labels_safe
from dagneal.networks.bundled import NAMES
from support.enumeration import random_network

pytestmark = pytest.mark.slow  # importing pgmpy takes seconds

PROGRAM = """
import json, sys
from pgmpy.readwrite import BIFReader
tables = {}
for path in sys.argv[1:]:
    network = BIFReader(path).get_model()
    tables[path] = {
        cpd.variable: [cpd.variables, [cpd.state_names[v] for v in cpd.variables], cpd.values.tolist()]
        for cpd in network.get_cpds()
    }
print(json.dumps(tables))
"""


def learned_network() -> dn.BayesianNetwork:
    return dn.learn(dn.load("alarm-15").sample(2_000, seed=3)).network


def binned_network() -> dn.BayesianNetwork:
    """Return a network whose state names had special characters before they were made safe."""
    states = {"age": ("below 35.5", "35.5 to 50", "50 and above"), "Asy/Patch": ("1", "<0.4", "(missing)")}
    generator = np.random.default_rng(5)
    cpts = {"age": generator.dirichlet([1] * 3), "Asy/Patch": generator.dirichlet([1] * 3, 3)}
    return make_labels_safe(dn.BayesianNetwork(states, {"age": (), "Asy/Patch": ("age",)}, cpts))


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Networks by name: the original, and the tables that pgmpy reads."""
    folder = tmp_path_factory.mktemp("pgmpy")
    ours = {name: dn.load(name) for name in NAMES} | {"learned": learned_network(), "binned": binned_network()}
    paths = {name: str(folder / f"{name}.bif") for name in ours}
    for name, network in ours.items():
        dn.write_bif(network, paths[name])
    # In a separate process: importing pgmpy gives deprecation warnings.
    process = subprocess.run([sys.executable, "-c", PROGRAM, *paths.values()], capture_output=True, text=True, check=True)
    theirs = json.loads(process.stdout)
    return {name: (network, theirs[paths[name]]) for name, network in ours.items()}


@pytest.mark.parametrize("seed", range(3))
def test_pgmpy_reads_files_with_replaced_names(seed, tmp_path):
    network = random_network(5, seed, hostile=True)
    path = str(tmp_path / "hostile.bif")
    dn.write_bif(network, path)
    process = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=True)
    theirs = json.loads(process.stdout)[path]
    assert sorted(len(states[0]) for _, states, _ in theirs.values()) == sorted(map(len, network.states.values()))
    assert sorted(np.ravel(values).size for _, _, values in theirs.values()) == sorted(t.size for t in network.cpts.values())


@pytest.mark.parametrize("name", [*NAMES, "learned", "binned"])
def test_pgmpy_reads_states_parents_and_probabilities(both, name):
    ours, theirs = both[name]
    assert set(theirs) == set(ours.names)
    for variable, (variables, states, values) in theirs.items():
        parents = ours.parents[variable]
        assert variables[0] == variable
        assert sorted(variables[1:]) == sorted(parents)
        assert [tuple(labels) for labels in states] == [ours.states[v] for v in variables]
        table = np.transpose(np.array(values), [variables.index(v) for v in (*parents, variable)])
        np.testing.assert_allclose(table, ours.cpts[variable], atol=1e-9)
