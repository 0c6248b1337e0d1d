"""Test the chips that plans can use: ideal ones, ones with defects, and files with the properties of a solver."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.chips import SYSTEMS, Timing, chip_graph
from dagneal.qpu.cloud import CloudBackend
from dagneal.qpu.targets import find_target
from support.quantum import small_chip


def write_properties(path, **changes):
    chip = small_chip()
    known = {"chip_id": "small", "qubits": chip.nodelist, "couplers": chip.edgelist}
    properties = {**chip.properties, **known, **changes}
    path.write_text(json.dumps({name: value for name, value in properties.items() if value is not None}))
    return str(path)


def test_a_system_without_a_suffix_has_no_defects():
    target = find_target("pegasus")
    assert target.name == "Advantage_system4"
    assert target.graph.number_of_nodes() == len(target.ideal) == 5640


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_a_working_system_has_the_published_number_of_qubits(name):
    target, again = find_target(f"{name}:working"), find_target(f"{name}:working")
    assert len(target.graph) == SYSTEMS[name].qubits < len(target.ideal)
    assert set(target.graph) == set(again.graph)
    assert target.identity == again.identity != find_target(name).identity


def test_the_properties_of_a_solver_describe_a_chip(tmp_path):
    target = find_target(write_properties(tmp_path / "chip.json"))
    chip = small_chip()
    assert target.name == "small"
    assert sorted(target.graph) == chip.nodelist
    assert {frozenset(edge) for edge in target.graph.edges} == {frozenset(edge) for edge in chip.edgelist}
    assert target.timing.access_time(40, 100) == pytest.approx(chip.system.timing.access_time(40, 100))
    settings = dn.qpu.PlanSettings(target, dn.PAPER, cache=tmp_path)
    result, copies = dn.qpu.plan(5, 3, settings)
    assert {qubit for chains in copies for chain in chains.values() for qubit in chain} <= set(chip.nodelist)
    assert result.defects == len(chip_graph("zephyr", (6,))) - len(chip.nodelist)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qubits": None}, "'qubits' is missing"),
        ({"problem_timing_data": None}, "'problem_timing_data' is missing"),
        ({"couplers": [[0, 1, 2]]}, "too many values"),
        ({"topology": {"type": "ring", "shape": [4]}}, "unknown topology 'ring'"),
        ({"qubits": [99_999], "couplers": []}, "qubit 99999 is not a qubit of the topology zephyr"),
    ],
)
def test_a_file_without_the_properties_of_an_annealer_is_refused(tmp_path, changes, message):
    path = write_properties(tmp_path / "chip.json", **changes)
    with pytest.raises(dn.InputError, match=message):
        find_target(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem_timing_data": None}, "'problem_timing_data' is missing"),
        ({"problem_timing_data": {"version": "2.0.0"}}, "has the version '2.0.0'"),
        ({"topology": {"type": "zephyr", "shape": [2, 4]}}, "qubit [0-9]+ is not a qubit of the topology zephyr"),
    ],
)
def test_a_solver_without_the_properties_of_an_annealer_is_refused(monkeypatch, changes, message):
    backend = LocalBackend(small_chip(), "solver")
    properties = backend.properties | changes
    backend.properties = {name: value for name, value in properties.items() if value is not None}
    monkeypatch.setattr(CloudBackend, "connect", lambda profile, solver: backend)
    with pytest.raises(dn.InputError, match=f"^solver.*{message}"):
        find_target("qpu")


@pytest.mark.parametrize("version", ["2.0.0", "1.1.0", None])
def test_the_timing_of_another_version_is_refused(tmp_path, version):
    data = dict(small_chip().properties["problem_timing_data"])
    if version is None:
        del data["version"]
    else:
        data["version"] = version
    message = "has no 'version'" if version is None else f"has the version '{version}'; only versions 1.0.x are supported"
    with pytest.raises(dn.InputError, match=message):
        Timing.of(data)
    with pytest.raises(dn.InputError, match=message):
        find_target(write_properties(tmp_path / "chip.json", problem_timing_data=data))


def test_invalid_timing_is_refused():
    data = SYSTEMS["Advantage_system4"].timing.to_dict()
    for changes in ({"readout_time_model_parameters": [0.0, 1.0, 2.0]}, {"typical_programming_time": "long"}):
        with pytest.raises(dn.InputError, match="problem_timing_data is not valid"):
            Timing.of(data | changes)


def test_a_file_that_is_not_json_is_refused(tmp_path, capsys):
    (tmp_path / "chip.json").write_text("qubits")
    assert main(["plan", "--variables", "5", "--topology", str(tmp_path / "chip.json")]) == 2
    assert "is not JSON" in capsys.readouterr().err
    assert main(["plan", "--variables", "5", "--topology", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_an_unknown_suffix_is_refused(capsys):
    assert main(["plan", "--variables", "5", "--topology", "pegasus:broken"]) == 2
    assert "only :working is possible" in capsys.readouterr().err
