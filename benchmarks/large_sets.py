"""Compare rules for sets of more than four parents: the log score, and how well the networks predict other rows.

Usage: python benchmarks/large_sets.py [NETWORK...] [--networks FOLDER] [--data-seeds N...]

Score BDeu(1), no parent limit, search seed 0. Each parent of a set of more than four must gain 1 nat, or ln(n) nats with n
variables (the rule of dagneal). The probabilities of each network are fitted to the same rows with the prior of BDeu(1). The
table shows the mean log-likelihood of 20,000 other rows per row, and the log score. Both are means over the samples.
"""

from __future__ import annotations

import argparse
from math import log
from statistics import mean
from unittest.mock import patch

import dagneal as dn
from dagneal.confidence.measures import log_likelihood
from dagneal.networks.network import fit
from dagneal.search import anytime
from dagneal.search.large_sets import SizeRule
from networks import OPTION, fetch_networks

NETWORKS = ("insurance", "alarm", "hepar2", "win95pts")
ROWS = (200, 500, 1000)
OTHER_ROWS, OTHER_SEED = 20_000, 1_000_000


class FixedRule(SizeRule):
    """The rule that each parent of a set of more than four gains at least 1 nat."""

    @classmethod
    def of(cls, variables: int, max_parents: int | None) -> SizeRule:
        """Return the rule for data."""
        return SizeRule.of(variables, max_parents)._replace(gain=1.0)


def measure(truth: dn.BayesianNetwork, rows: int, seed: int, rule: type[SizeRule]) -> tuple[float, float]:
    """Return the mean log-likelihood of other rows, and the log score."""
    data = truth.sample(rows, seed)
    with patch.object(anytime, "SizeRule", rule):
        result = dn.learn(data, dn.Auto(prove=False), score=dn.BDeu(1.0))
    fitted = fit(result.dag, data, dn.BDeu(1.0))
    return log_likelihood(fitted, truth.sample(OTHER_ROWS, OTHER_SEED)) / OTHER_ROWS, result.score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NETWORKS), metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--data-seeds", type=int, nargs="+", default=[1, 2], metavar="SEED")
    options = parser.parse_args()
    print("| network | rows | 1 nat: other rows | ln(n) nats: other rows | 1 nat: score | ln(n) nats: score | ln(n) |")
    print("|---|---|---|---|---|---|---|")
    for name, truth in fetch_networks(options.names, options.networks).items():
        for rows in ROWS:
            fixed, ours = (
                [
                    mean(values)
                    for values in zip(*(measure(truth, rows, seed, rule) for seed in options.data_seeds), strict=True)
                ]
                for rule in (FixedRule, SizeRule)
            )
            cells = f"{fixed[0]:.3f} | {ours[0]:.3f} | {fixed[1]:,.1f} | {ours[1]:,.1f} | {log(len(truth.names)):.1f}"
            print(f"| {name} | {rows} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
