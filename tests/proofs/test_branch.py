"""Proofs of optimality, compared with dynamic programming; changed proofs are rejected."""

import gzip
import json
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

import dagneal as dn
from dagneal.proofs import separation
from dagneal.proofs.branch import TOLERANCE, Prover
from dagneal.proofs.certificate import Node, Step, fingerprint, read_proof
from dagneal.proofs.checker import ProofError, check_proof
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import Facet
from dagneal.proofs.families import UNITS, Families
from dagneal.runtime.run import Deadline, Run
from dagneal.solvers.exact import exact
from support.reference import candidate_table, random_table


def prove(table, deadline=None):
    """Return a prover that starts with the network without edges, after its attempt."""
    families = Families.of(table)
    empty = np.flatnonzero((families.rows < 0).all(axis=1))
    prover = Prover(families, empty, Run() if deadline is None else Run(deadline=deadline))
    prover.prove()
    return prover


def score_of(prover):
    return (int(prover.families.highest.sum()) - prover.cost) / UNITS


@pytest.mark.parametrize("seed", range(12))
def test_proved_optimum_equals_that_of_exact_search(seed):
    n = 4 + seed % 9
    table = random_table(n, min(3, n - 1), seed) if seed % 2 else candidate_table(n, min(3, n - 1), seed)
    prover = prove(table)
    assert prover.bound == prover.target
    assert score_of(prover) == pytest.approx(exact(table).score, abs=1e-6)
    assert check_proof(prover.certificate(), prover.families) == prover.cost - TOLERANCE


def test_proof_for_data():
    table = dn.scoring.score_table(dn.load("alarm-15").sample(1000, 1), max_parents=3)
    prover = prove(table)
    assert score_of(prover) == pytest.approx(exact(table).score, abs=1e-6)
    check_proof(prover.certificate(), prover.families)


def test_a_time_limit_leaves_a_valid_bound():
    table = random_table(10, 3, 1)
    prover = prove(table, Deadline(0.0))
    assert prover.bound < prover.target
    assert (int(prover.families.highest.sum()) - prover.bound) / UNITS >= exact(table).score


def test_proofs_without_cuts_are_accepted():
    """An attempt without time proves the trivial bound. If the best families have no cycle, this bound is the optimum."""
    table = random_table(8, 2, 1)
    stopped = prove(table, Deadline(0.0))
    assert check_proof(stopped.certificate(), stopped.families) == 0
    equal = prove(replace(table, scores=np.full_like(table.scores, -1.0)))
    assert equal.cost == 0
    assert check_proof(equal.certificate(), equal.families) == equal.cost


@pytest.fixture(scope="module")
def proved():
    """Return a prover whose proof has clusters, facets and several nodes."""
    with patch.object(separation, "_FACET_SIZES", (4,)):  # with larger facets, one node is enough
        prover = prove(random_table(14, 4, 9))
    proof = prover.certificate()
    assert {type(cut) for cut in proof.cuts} == {Cluster, Facet}
    assert proof.root.parts
    return prover


def with_root(proof, **changes):
    return replace(proof, root=replace(proof.root, **changes))


def test_proofs_of_other_families_are_rejected(proved):
    other = prove(random_table(14, 4, 4))
    with pytest.raises(ProofError, match="other data"):
        check_proof(proved.certificate(), other.families)


def test_networks_that_are_not_in_the_table_or_have_a_cycle_are_rejected(proved):
    proof, families = proved.certificate(), proved.families
    with pytest.raises(ProofError, match="parents of variable 0"):
        check_proof(replace(proof, parents=((0,), *proof.parents[1:])), families)
    with pytest.raises(ProofError, match="13 variables instead of 14"):
        check_proof(replace(proof, parents=proof.parents[1:]), families)
    best = tuple(tuple(row[row >= 0].tolist()) for row in families.rows[families.start[:-1]])
    with pytest.raises(ProofError, match="cycle"):
        check_proof(replace(proof, parents=best), families)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda proof: replace(proof, gap=-1), "gap"),
        (lambda proof: with_root(proof, pair=None, parts=()), "neither proved nor divided"),
        (lambda proof: replace(proof, cuts=(Cluster((0, 1, 2), 3), *proof.cuts[1:])), "k = 3"),
        (lambda proof: replace(proof, cuts=(Cluster((2, 1), 1), *proof.cuts[1:])), "invalid variables"),
        (lambda proof: replace(proof, cuts=(Cluster((1, 14), 1), *proof.cuts[1:])), "invalid variables"),
        (lambda proof: replace(proof, cuts=()), "unknown cut"),
        (lambda proof: with_root(proof, steps=(negative(any_step(proof.root)),)), "negative multiplier"),
        (lambda proof: with_root(proof, steps=(huge(any_step(proof.root)),)), "too large"),
        (lambda proof: with_root(proof, steps=(), pair=(1, 1), parts=(Node(()), Node(()))), "invalid pair"),
        (lambda proof: with_root(proof, steps=(), pair=(0, 1), parts=(Node(()),)), "neither proved nor divided"),
    ],
)
def test_changed_proofs_are_rejected(proved, change, message):
    with pytest.raises(ProofError, match=message):
        check_proof(change(proved.certificate()), proved.families)


def any_step(node):
    return node.steps[0] if node.steps else any_step(node.parts[0])


def negative(step):
    return Step(step.cuts, -step.multipliers)


def huge(step):
    return Step(step.cuts, step.multipliers * 0 + (1 << 62))


def test_facets_that_do_not_hold_for_all_networks_are_rejected(proved):
    members = np.array([0, 1])
    coefficients = np.zeros((2, 4), dtype=np.int64)
    coefficients[0, 2] = coefficients[1, 1] = 1  # the edges 1 -> 0 and 0 -> 1
    proof, families = proved.certificate(), proved.families
    check_proof(replace(proof, cuts=(*proof.cuts, Facet(members, coefficients, 1))), families)
    for facet, message in (
        (Facet(members, coefficients, 0), "does not hold"),
        (Facet(members, coefficients[:, :2], 1), "wrong shape"),
        (Facet(members, -coefficients, 1), "negative"),
    ):
        with pytest.raises(ProofError, match=message):
            check_proof(replace(proof, cuts=(*proof.cuts, facet)), families)


def worse_network(prover):
    """Return the parents of a network that costs more than the optimum, but as little as possible."""
    families = prover.families
    parents = [tuple(row[row >= 0].tolist()) for row in families.rows[prover.best]]
    costs = []
    for child in range(families.variables):
        for index in range(families.start[child], families.start[child + 1]):
            row = tuple(families.rows[index][families.rows[index] >= 0].tolist())
            if set(row) < set(parents[child]):  # fewer parents never create a cycle
                costs.append((int(families.costs[index] - families.costs[prover.best[child]]), child, row))
    _, child, row = min(cost for cost in costs if cost[0] > TOLERANCE)
    return tuple(row if v == child else parents[v] for v in range(families.variables))


def test_a_false_claim_is_never_accepted(proved):
    """The network of the proof is replaced by a worse one, and the multipliers and parts are changed at random."""
    families, proof = proved.families, replace(proved.certificate(), parents=worse_network(proved))
    generator = np.random.default_rng(1)

    def change(node):
        steps = tuple(
            Step(step.cuts, (step.multipliers * generator.uniform(0.5, 1.5, len(step.cuts))).astype(np.int64))
            for step in node.steps
        )
        return Node(steps, node.pair, tuple(change(part) for part in node.parts))

    for _ in range(20):
        with pytest.raises(ProofError, match="neither proved nor divided"):
            check_proof(replace(proof, root=change(proof.root)), families)
    with pytest.raises(ProofError, match="neither proved nor divided"):
        check_proof(proof, families)


def test_fingerprints_depend_on_scores(proved):
    families = proved.families
    changed = replace(families, costs=families.costs + (np.arange(len(families)) == 3))
    assert fingerprint(changed) != fingerprint(families)


def test_proofs_survive_writing_and_reading(proved, tmp_path):
    proof = proved.certificate()
    proof.save(tmp_path / "x.proof")
    loaded = read_proof(tmp_path / "x.proof")
    assert check_proof(loaded, proved.families) == proved.target
    loaded.save(tmp_path / "y.proof")
    assert (tmp_path / "x.proof").read_bytes() == (tmp_path / "y.proof").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain | {"format": 2}, "format 2; this version of dagneal reads format 1"),
        (lambda plain: {key: value for key, value in plain.items() if key != "cuts"}, "not a valid proof: it has no 'cuts'"),
        (lambda plain: plain | {"nodes": []}, "not a valid proof"),
        (lambda plain: plain | {"nodes": [plain["nodes"][0] | {"parts": [0, 1]}]}, "do not come after it"),
        (lambda plain: plain | {"gap": -1}, "-1 is not a whole number"),
        (lambda plain: plain | {"names": [1]}, "1 is not text"),
        (
            lambda plain: plain | {"cuts": [{"members": [*range(40)], "limit": 1, "coefficients": [[], [], []]}]},
            "40 variables",
        ),
        (
            lambda plain: plain | {"nodes": [{"steps": [{"cuts": [1], "multipliers": []}], "pair": None, "parts": []}]},
            "one multiplier",
        ),
        (lambda _: [], "not a valid proof"),
    ],
)
def test_invalid_files_get_a_clear_message(proved, tmp_path, change, message):
    path = tmp_path / "x.proof"
    proved.certificate().save(path)
    plain = json.loads(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(json.dumps(change(plain)).encode()))
    with pytest.raises(dn.InputError, match=message):
        read_proof(path)


def test_damaged_files_are_rejected(proved, tmp_path):
    path = tmp_path / "x.proof"
    proved.certificate().save(path)
    whole = path.read_bytes()
    for content in (whole[:100], whole[:-8], b"{}", b"", gzip.compress(b"not JSON")):
        path.write_bytes(content)
        with pytest.raises(dn.InputError, match=r"x\.proof"):
            read_proof(path)
    with pytest.raises(dn.InputError, match="cannot read"):
        read_proof(tmp_path / "missing.proof")
