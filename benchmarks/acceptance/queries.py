"""Compare queries, predictions, explanations and effects with brute force over the joint distribution, and with pgmpy.

    python benchmarks/acceptance/queries.py            # all parts
    python benchmarks/acceptance/queries.py effects    # one part

Parts:

- `exact`: queries, predictions, most probable explanations and effects of interventions on 20 random networks and the
  bundled networks, against brute force and pgmpy.
- `effects`: effects over the equivalence class, computed from the true parameters of 100 random DAGs. The range must contain
  the true effect, must equal the range over all members of the class, and must be one number exactly where all members
  agree.
- `hostile`: 20 networks with hostile names and states: queries, predictions, files, pyAgrum and pgmpy.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from verdict import Verdicts

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import dagneal as dn
from dagneal.inference import most_probable
from dagneal.networks.bundled import NAMES
from dagneal.networks.formats import read_structure
from support.enumeration import (
    class_members,
    intervene,
    joint_table,
    marginal,
    random_network,
    restrict,
    truncated,
)
from support.networks import equal_networks

TOLERANCE = 1e-9
QUESTIONS = 8  # questions for each network
DAGS = 100
PAIRS = 6  # pairs of an intervention and a target for each DAG


def draw_questions(network: dn.BayesianNetwork, seed: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield targets with evidence of positive probability."""
    generator = np.random.default_rng(seed)
    joint = joint_table(network)
    for _ in range(QUESTIONS):
        target, *rest = (network.names[i] for i in generator.permutation(len(network.names)))
        known = rest[: generator.integers(0, min(4, len(rest)) + 1)]
        given = {name: network.states[name][generator.integers(len(network.states[name]))] for name in known}
        if restrict(joint, network, given).sum() > 0:
            yield target, given


def distance(first: Any, second: Any) -> float:
    """Return the largest absolute difference of two arrays."""
    return float(np.abs(np.asarray(first) - np.asarray(second)).max())


class Pgmpy:
    """Answers of pgmpy, with the states in the order of dagneal."""

    def __init__(self, network: dn.BayesianNetwork) -> None:
        self.network = network
        self.model = network.to_pgmpy()

    def query(self, target: str, given: Mapping[str, str], model: Any = None) -> list[float]:
        from pgmpy.inference import VariableElimination

        factor = VariableElimination(model or self.model).query([target], dict(given) or None, show_progress=False)
        order = factor.state_names[target]
        return [float(factor.values[order.index(state)]) for state in self.network.states[target]]

    def do(self, target: str, setting: Mapping[str, str]) -> list[float]:
        """Return the distribution after an intervention: the edges into the variables are removed."""
        return self.query(target, setting, self.model.do(list(setting)))

    def explain(self, given: Mapping[str, str]) -> dict[str, str]:
        from pgmpy.inference import VariableElimination

        names = [name for name in self.network.names if name not in given]
        return dict(VariableElimination(self.model).map_query(names, dict(given) or None, show_progress=False))


def check_exact(verdicts: Verdicts) -> None:
    """Compare with brute force and pgmpy."""
    networks = {f"random {seed}": random_network(4 + seed % 6, seed) for seed in range(20)}
    networks |= {name: dn.load(name) for name in NAMES}
    worst = dict.fromkeys(("query", "predict", "MPE", "do"), 0.0)
    theirs = dict.fromkeys(worst, 0.0)
    count = 0
    for number, network in enumerate(networks.values()):
        joint, other = joint_table(network), Pgmpy(network)
        for target, given in draw_questions(network, number):
            count += 1
            table = restrict(joint, network, given)
            expected = marginal(table, network, [target])
            answer = dn.query(network, target, given).probabilities
            worst["query"] = max(worst["query"], distance(answer, expected))
            theirs["query"] = max(theirs["query"], distance(answer, other.query(target, given)))
            row = pl.DataFrame(
                {name: [given.get(name)] for name in network.names if name != target},
                schema_overrides={name: pl.String for name in network.names if name != target},
            )
            predicted = dn.predict(network, row, target).row(0)[1:]
            worst["predict"] = max(worst["predict"], distance(predicted, expected))
            theirs["predict"] = max(theirs["predict"], distance(predicted, other.query(target, given)))
            best = most_probable(network, given)
            value = joint[tuple(network.states[name].index(best[name]) for name in network.names)]
            worst["MPE"] = max(worst["MPE"], abs(value / table.max() - 1), abs(best.probability - table.max() / table.sum()))
            states = {**given, **other.explain(given)}
            value = joint[tuple(network.states[name].index(states[name]) for name in network.names)]
            theirs["MPE"] = max(theirs["MPE"], abs(best.probability - value / table.sum()))
            setting = dict(list(given.items())[:2])
            if setting:
                effect = dn.do(network, setting, target, trust_directions=True).low
                expected = marginal(truncated(network, setting), network, [target])
                worst["do"] = max(worst["do"], distance(effect, expected))
                theirs["do"] = max(theirs["do"], distance(effect, other.do(target, setting)))
    for what, difference in worst.items():
        verdicts.add(f"{what}: brute force, {count} questions", f"{difference:.1e}", f"{TOLERANCE}", difference <= TOLERANCE)
        verdicts.add(f"{what}: pgmpy", f"{theirs[what]:.1e}", f"{TOLERANCE}", theirs[what] <= TOLERANCE)


def check_effects(verdicts: Verdicts) -> None:
    """Compare effects over the class with all its members, whose probabilities come from the joint distribution."""
    outside = wrong_range = wrong_number = numbers = count = 0
    for seed in range(DAGS):
        network = random_network(5 + seed % 2, 1000 + seed, most_parents=2 + seed % 2)
        joint, members = joint_table(network), class_members(network.dag)
        generator = np.random.default_rng(seed)
        for pair in range(PAIRS):
            *chosen, target = (network.names[i] for i in generator.permutation(len(network.names))[: 2 + (pair == 0)])
            setting = {name: network.states[name][generator.integers(len(network.states[name]))] for name in chosen}
            effect = dn.do(network, setting, target)
            truth = marginal(truncated(network, setting), network, [target])
            values = [marginal(intervene(joint, network, member, setting), network, [target]) for member in members]
            low, high = np.min(values, axis=0), np.max(values, axis=0)
            count += 1
            numbers += effect.identified
            outside += bool((truth < effect.low - TOLERANCE).any() or (truth > effect.high + TOLERANCE).any())
            wrong_range += distance(effect.low, low) > TOLERANCE or distance(effect.high, high) > TOLERANCE
            wrong_number += effect.identified != bool((high - low <= TOLERANCE).all())
    print(f"      {count} effects in {DAGS} DAGs; {numbers} are one number", flush=True)
    verdicts.add("true effects outside the range", outside, "0", outside == 0)
    verdicts.add("ranges that differ from the range over all members", wrong_range, "0", wrong_range == 0)
    verdicts.add("one number although members differ, or the reverse", wrong_number, "0", wrong_number == 0)


def check_hostile(verdicts: Verdicts) -> None:
    """Ask networks with hostile names, and convert them."""
    worst, lost = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(20):
            network = random_network(5, seed, hostile=True)
            joint = joint_table(network)
            for target, given in draw_questions(network, seed):
                expected = marginal(restrict(joint, network, given), network, [target])
                worst = max(worst, distance(dn.query(network, target, given).probabilities, expected))
            for ending in ("bif", "json"):
                path = f"{folder}/{seed}.{ending}"
                dn.write_network(network, path)
                again = read_structure(path)
                lost += not equal_networks(again, network)
            lost += not equal_networks(dn.BayesianNetwork.from_pyagrum(network.to_pyagrum()), network)
            lost += not equal_networks(dn.BayesianNetwork.from_pgmpy(network.to_pgmpy()), network)
            lost += not equal_networks(dn.BayesianNetwork.from_networkx(network.to_networkx()), network)
    verdicts.add("hostile names: largest difference of a query", f"{worst:.1e}", f"{TOLERANCE}", worst <= TOLERANCE)
    verdicts.add("hostile names: networks changed by a file or a conversion", lost, "0", lost == 0)


def main() -> None:
    parts = {name.removeprefix("check_"): part for name, part in globals().items() if name.startswith("check_")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *parts], metavar="PART", help=", ".join(parts))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # pgmpy uses deprecated modules
    verdicts = Verdicts()
    for name in options.parts or parts:
        parts[name](verdicts)
    verdicts.exit()


if __name__ == "__main__":
    main()
