"""Queries equal brute force over the joint distribution."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

import dagneal as dn
from dagneal.inference import evidence_probability, most_probable, sample
from dagneal.networks.bundled import NAMES
from support.enumeration import joint_table, marginal, random_network, restrict

RANDOM = [*range(8), *(f"zeros {seed}" for seed in range(4)), *(f"hostile {seed}" for seed in range(6))]


def network_of(case):
    if case in NAMES:
        return dn.load(case)
    kind, _, seed = str(case).rpartition(" ")
    seed = int(seed)
    return random_network(5 + seed % 4, seed, hostile=kind == "hostile", zeros=kind == "zeros")


def questions(network, seed, count=6):
    """Yield random targets and evidence of positive probability."""
    rng = np.random.default_rng(seed)
    joint = joint_table(network)
    names = list(network.names)
    for _ in range(count):
        chosen = [names[i] for i in rng.permutation(len(names))]
        targets, rest = chosen[: rng.integers(1, 3)], chosen[2:]
        given = {}
        for name in rest[: rng.integers(0, 4)]:
            states = network.states[name]
            if rng.random() < 0.3:
                given[name] = {state: float(share) for state, share in zip(states, rng.random(len(states)), strict=True)}
            else:
                given[name] = states[rng.integers(len(states))]
        if restrict(joint, network, given).sum() > 0:
            yield joint, targets, given


@pytest.mark.parametrize("case", [*RANDOM, *NAMES])
def test_queries_equal_brute_force(case):
    network = network_of(case)
    for joint, targets, given in questions(network, 1):
        table = restrict(joint, network, given)
        answer = dn.query(network, targets, given)
        assert answer.targets == tuple(targets)
        np.testing.assert_allclose(answer.probabilities, marginal(table, network, targets), atol=1e-12)
        best = most_probable(network, given)
        place = tuple(network.states[name].index(best[name]) for name in network.names)
        assert table[place] == pytest.approx(table.max(), rel=1e-12)
        assert best.probability == pytest.approx(table.max() / table.sum(), rel=1e-9)
        hard = {name: state for name, state in given.items() if isinstance(state, str)}
        assert evidence_probability(network, hard) == pytest.approx(restrict(joint, network, hard).sum(), rel=1e-9)


def test_a_distribution_is_read_by_state():
    answer = dn.query(dn.load("lung-cancer"), ["Cancer", "Smoker"], {"Xray": "Positive"})
    total = sum(answer[states] for states in answer)
    assert total == pytest.approx(1)
    assert answer.marginal("Cancer")["True"] == pytest.approx(answer["True", "True"] + answer["True", "False"])
    assert answer.most_probable == ("False", "False")
    assert answer.frame().height == 4
    assert json.loads(json.dumps(answer.to_dict()))["targets"] == ["Cancer", "Smoker"]
    with pytest.raises(dn.InputError, match="'Cancer' has no state 'maybe'; its states are 'False', 'True'"):
        answer["maybe", "True"]
    with pytest.raises(dn.InputError, match="one state for each of Cancer, Smoker"):
        answer["True"]


@pytest.mark.parametrize(
    ("targets", "given", "message"),
    [
        ("Cancr", {}, "'Cancr' is not a variable of the network; did you mean 'Cancer'?"),
        ("Cancer", {"Smok": "True"}, "did you mean 'Smoker'"),
        ("Cancer", {"Smoker": "often"}, "'Smoker' has no state 'often'; its states are 'False', 'True'"),
        ("Cancer", {"Xray": "Positiv"}, "its states are 'Negative', 'Positive'; did you mean 'Positive'?"),
        ("Cancer", {"Cancer": "True"}, "both a target and given"),
        ([], {}, "targets is empty"),
        (["Cancer", "Cancer"], {}, "twice"),
        ("Cancer", {"Smoker": {"True": 0}}, "excludes all its states"),
        ("Cancer", {"Smoker": {"True": -1}}, "number of at least 0"),
        ("Cancer", {"Smoker": []}, "excludes all its states"),
        ("Cancer", "Smoker=True", "give a dict"),
    ],
)
def test_wrong_questions_are_named(targets, given, message):
    with pytest.raises(dn.InputError) as error:
        dn.query(dn.load("lung-cancer"), targets, given)
    assert message in str(error.value)


def test_other_models_are_refused():
    with pytest.raises(dn.InputError, match="model is 'lung-cancer'; give a network"):
        dn.query("lung-cancer", "Cancer")


def certain_network():
    return dn.BayesianNetwork(
        {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")},
        {"a": (), "b": ("a",), "c": ("b",)},
        {"a": [1, 0], "b": [[1, 0], [0, 1]], "c": [[0.5, 0.5], [0.5, 0.5]]},
    )


def test_impossible_evidence_is_named():
    for question in (
        lambda: dn.query(certain_network(), "c", {"b": "1"}),
        lambda: most_probable(certain_network(), {"b": "1"}),
        lambda: sample(certain_network(), 3, given={"b": "1"}),
        lambda: evidence_probability(certain_network(), {"c": "0"}, {"b": 1}),
    ):
        with pytest.raises(dn.InputError, match="the evidence b=1 has probability 0"):
            question()
    assert evidence_probability(certain_network(), {"b": "1"}) == 0


def test_evidence_of_many_variables_does_not_underflow():
    n = 1500
    names = [f"v{i}" for i in range(n)]
    table = [[0.3, 0.2, 0.5], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]]
    network = dn.BayesianNetwork(
        dict.fromkeys(names, ("0", "1", "2")),
        {name: (names[i - 1],) if i else () for i, name in enumerate(names)},
        {name: table if i else [0.2, 0.3, 0.5] for i, name in enumerate(names)},
    )
    answer = dn.query(network, "v700", {name: "0" if i < 3 else "2" for i, name in enumerate(names) if i not in (2, 700)})
    expected = np.array([0.0, 0.3, 0.7]) * np.array([0.5, 0.1, 0.7])
    np.testing.assert_allclose(answer.probabilities, expected / expected.sum(), atol=1e-12)


@pytest.mark.parametrize("n", [90, 400, 2_000])
def test_evidence_of_many_children_does_not_underflow(n):
    names = ["class", *(f"v{i}" for i in range(n))]
    table = np.array([[1e-5, 1 - 1e-5], [2e-5, 1 - 2e-5]])
    network = dn.BayesianNetwork(
        dict.fromkeys(names, ("0", "1")),
        {name: ("class",) if name != "class" else () for name in names},
        {name: table if name != "class" else [0.999, 0.001] for name in names},
    )
    given = {f"v{i}": "0" if i < 60 + i % 2 * n else "1" for i in range(n)}
    zeros = sum(state == "0" for state in given.values())
    ratio = zeros * np.log(2) + (n - zeros) * np.log((1 - 2e-5) / (1 - 1e-5)) + np.log(0.001 / 0.999)
    answer = dn.query(network, "class", given)
    assert answer["0"] == pytest.approx(1 / (1 + np.exp(ratio)), rel=1e-9)
    joint = dn.query(network, ["v1", "class"], {name: state for name, state in given.items() if name != "v1"})
    assert joint.marginal("class")["1"] == pytest.approx(1, abs=1e-6)
    assert joint.targets == ("v1", "class")


@pytest.mark.parametrize("seed", range(8))
def test_both_ways_to_compute_a_query_agree(seed, monkeypatch):
    network = random_network(6, seed, zeros=seed % 2 == 1)
    asked = list(questions(network, seed))
    expected = [dn.query(network, targets, given).probabilities for _, targets, given in asked]
    monkeypatch.setattr("dagneal.inference.engine._MOST_EVIDENCE", -1)
    for (_, targets, given), probabilities in zip(asked, expected, strict=True):
        np.testing.assert_allclose(dn.query(network, targets, given).probabilities, probabilities, atol=1e-12)


def grid(n):
    """Return a network whose graph is a grid, which has a large treewidth."""
    names = {(i, j): f"v{i}_{j}" for i, j in product(range(n), repeat=2)}
    parents = {
        name: (*([names[i - 1, j]] if i else []), *([names[i, j - 1]] if j else [])) for (i, j), name in names.items()
    }
    rng = np.random.default_rng(0)
    return dn.BayesianNetwork(
        dict.fromkeys(parents, ("0", "1")), parents, {k: rng.dirichlet([1, 1], [2] * len(p)) for k, p in parents.items()}
    )


def test_a_treewidth_that_is_too_large_is_refused():
    network = grid(40)
    last = network.names[-1]
    with pytest.raises(dn.InputError, match="densely connected"):
        dn.query(network, "v0_0", {last: "1"})
    with pytest.raises(dn.InputError, match="densely connected"):
        most_probable(network)
    assert dn.query(network, "v0_1", {"v0_0": "1"})["0"] == pytest.approx(network.cpts["v0_1"][1, 0])
    with pytest.raises(dn.InputError, match="joint distribution needs a table"):
        dn.query(network, network.names[:40])


def test_an_ensemble_weighs_its_networks_by_the_evidence():
    truth = dn.load("lung-cancer")
    mixture = dn.ensemble(truth.sample(300, seed=3), networks=12, run=dn.Run(seed=1))
    assert len(mixture.networks) > 2
    given = {"Smoker": "True", "Xray": "Positive"}
    joints = [w * joint_table(n) for n, w in zip(mixture.networks, mixture.weights, strict=True)]
    table = restrict(sum(joints), truth, given)
    np.testing.assert_allclose(mixture.query("Cancer", given).probabilities, marginal(table, truth, ["Cancer"]), atol=1e-12)
    assert evidence_probability(mixture, given) == pytest.approx(table.sum(), rel=1e-9)
    with pytest.raises(dn.InputError, match="needs one network, not an ensemble"):
        most_probable(mixture)
    rows = sample(mixture, 20_000, seed=1, given=given).frame()
    share = (rows["Cancer"] == "True").mean()
    assert share == pytest.approx(mixture.query("Cancer", given)["True"], abs=0.02)


def test_rows_are_sampled_from_the_posterior():
    network = random_network(6, 5)
    name = network.names[-1]
    given = {name: network.states[name][0]}
    rows = sample(network, 40_000, seed=1, given=given)
    assert rows.rows == 40_000
    table = restrict(joint_table(network), network, given)
    observed = np.zeros(table.shape)
    np.add.at(observed, tuple(np.asarray(rows.codes, dtype=int)), rows.weights)
    np.testing.assert_allclose(observed / 40_000, table / table.sum(), atol=0.02)
    again = sample(network, 40_000, seed=1, given=given)
    assert rows.fingerprint == again.fingerprint
    with pytest.raises(dn.InputError, match="soft"):
        sample(network, 5, given={name: [network.states[name][0]]})


def test_without_pyagrum_one_line_says_how_to_install_it():
    program = (
        "import sys; sys.modules['pyagrum'] = None\n"
        "import dagneal as dn\n"
        "net = dn.load('lung-cancer'); frame = net.sample(50, 1).frame()\n"
        "assert dn.predict(net, frame, 'Cancer').height == 50\n"
        "assert len(dn.inference.row_log_likelihood(net, frame)) == 50\n"
        "for ask in (lambda: dn.query(net, 'Cancer'), net.to_pyagrum, lambda: dn.do(net, {'Smoker': 'True'}, 'Cancer')):\n"
        "    try: ask()\n"
        "    except dn.InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("needs pyagrum, which is not installed; run pip install 'dagneal[ask]'" in line for line in lines)
