"""The result of `learn`: files and probabilities."""

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from support.reference import random_table


@pytest.mark.parametrize("ending", ["json", "bif", "graphml", "dot"])
def test_saving(tmp_path, ending):
    import json

    found = dn.learn(dn.load("lung-cancer").expected(10_000))
    path = tmp_path / f"found.{ending}"
    found.save(path)
    if ending == "json":
        saved = json.loads(path.read_text())
        assert saved | found.to_dict() == saved
        assert set(saved) - set(found.to_dict()) == {"name", "states", "parents", "cpts"}
    elif ending == "bif":
        assert dn.read_bif(path).dag.edges == found.dag.edges
    elif ending == "graphml":
        assert set(nx.read_graphml(path).edges) == set(found.edges)
    else:
        assert '"Pollution" -> "Cancer";' in path.read_text()


def test_saving_what_cannot_be_saved(tmp_path):
    found = dn.Learned.of(dn.solvers.exact(random_table(3, 2, seed=0)))
    with pytest.raises(dn.InputError, match="need the data"):
        found.save(tmp_path / "found.bif")
    with pytest.raises(dn.InputError, match="end the name in"):
        found.save(tmp_path / "found.txt")
    with pytest.raises(dn.InputError, match="no folder"):
        found.save(tmp_path / "nowhere" / "found.json")
    assert list(tmp_path.iterdir()) == []


def test_probabilities_are_fitted_only_when_asked_for():
    """Two columns of 11,000 names: a network, but not one whose table fits anywhere."""
    codes = np.arange(11_000)
    data = dn.Dataset.from_codes(["a", "b"], [[f"s{i}" for i in range(11_000)]] * 2, np.array([codes, codes]))
    found = dn.learn(data)
    assert found.optimal
    if found.edges:
        with pytest.raises(dn.InputError, match="121,000,000"):
            _ = found.network
    with pytest.raises(dn.InputError, match="no Dirichlet prior"):
        dn.fit(found.dag, data, dn.BIC())
