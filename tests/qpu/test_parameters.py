"""Test the parameters of calls: which exist, what is checked, and that they reach the solver."""

import json
from itertools import combinations
from types import SimpleNamespace

import dimod
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.cli import main
from dagneal.qpu import chips
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.emulator import emulated
from dagneal.qpu.parameters import check_call, plain_parameters
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submission import max_reads, split_reads
from support.quantum import small_chip
from support.recording import OCEAN_PARAMETERS, recording_backend
from support.solving import solve

PAUSE = [[0.0, 0.0], [10.0, 0.5], [60.0, 0.5], [70.0, 1.0]]
REVERSE = [[0.0, 1.0], [5.0, 0.45], [15.0, 0.45], [20.0, 1.0]]
SPIN = dimod.BinaryQuadraticModel({0: 0.1, 1: -0.1}, {(0, 1): 0.2}, 0.0, "SPIN")


def every_parameter(qubits):
    """Return a valid value of each parameter that can be combined with the others."""
    return {
        "anneal_offsets": [0.0] * qubits,
        "anneal_schedule": PAUSE,
        "flux_biases": np.full(qubits, 1e-5),
        "flux_drift_compensation": False,
        "h_gain_schedule": [[0.0, 1.0], [70.0, 1.0]],
        "max_answers": 4,
        "programming_thermalization": 500.0,
        "readout_thermalization": 20.0,
        "reduce_intersample_correlation": True,
    }


@pytest.mark.parametrize("tiled", [False, True], ids=["direct", "subproblems"])
def test_all_parameters_reach_the_solver(tiled, embeddings):
    backend, recorder = recording_backend()
    given = every_parameter(backend.properties["num_qubits"])
    qpu = QPU(backend, cache=embeddings)
    assert set(qpu.parameters) == {*OCEAN_PARAMETERS, "seed", "chain_break_method"}
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(1_000))
    solver = dn.Anneal(qpu, num_reads=8, parameters=given, direct=None if tiled else True)
    solve(table, dn.Divide(solver, combine="count") if tiled else solver, seed=1)
    assert len(recorder.sent) == 1
    for _, parameters in recorder.sent:
        assert parameters == {"answer_mode": "raw", "num_reads": 8} | plain_parameters(given)


def test_settings_of_the_command_line_reach_the_solver(monkeypatch, tmp_path, capsys, embeddings):
    backend, recorder = recording_backend()
    monkeypatch.setattr(dn.qpu.sampler, "connect", lambda **options: QPU(backend, cache=embeddings, **options))
    monkeypatch.chdir(tmp_path)
    dn.load("lung-cancer").sample(500, 1).frame().write_csv("lc.csv")
    words = ["learn", "lc.csv", "--solver", "qpu", "--reads", "6", "--quiet", "--json"]
    settings = {
        "direct": "true",
        "anneal_schedule": "[[0, 0], [10, 0.5], [60, 0.5], [70, 1]]",
        "chain_break_method": "minimize_energy",
        "flux_drift_compensation": "false",
        "readout_thermalization": "5",
    }
    assert main([*words, *(word for name, value in settings.items() for word in ("--set", f"{name}={value}"))]) == 0
    ((_, sent),) = recorder.sent
    assert sent == {
        "answer_mode": "raw",
        "num_reads": 6,
        "anneal_schedule": [[0, 0], [10, 0.5], [60, 0.5], [70, 1]],
        "flux_drift_compensation": False,
        "readout_thermalization": 5,
    }
    plain = json.loads(capsys.readouterr().out)
    (call,) = plain["hardware"]["log"]
    assert call["problem_ids"] == []  # a local sampler has no ids
    assert (call["problems"], call["reads"]) == (1, 6)
    assert call["timing"]["qpu_delay_time_per_sample"] == pytest.approx(20.6 + 5)
    assert len(plain["annealed"]["chain_break_fractions"]) == 6
    assert plain["annealed"]["info"]["timing"] == call["timing"]
    assert main([*words, "--set", "aneal_schedule=5"]) == 2
    message = capsys.readouterr().err
    assert "qpu does not accept the parameter 'aneal_schedule'; its settings are chain_strength, " in message
    assert "; the parameters of its calls are anneal_offsets, " in message
    assert "did you mean 'anneal_schedule'?" in message
    assert main(["learn", "lc.csv", "--solver", "qpu-emulated", "--set", "precision=single"]) == 2
    assert "write --set encoding=paper,single" in capsys.readouterr().err
    assert main(["learn", "lc.csv", "--solver", "qpu-emulated", "--set", "modl=spin-vectors"]) == 2
    message = capsys.readouterr().err
    names = ("model", "system", "embeddings", "embedding", "broken", "chain_strength", "spin_reversal", "direct", "noise")
    assert all(f" {name}," in message for name in (*names, "num_reads"))
    assert "did you mean 'model'?" in message
    assert len(recorder.sent) == 1


def test_unknown_parameters_are_refused_before_anything_is_sent(embeddings):
    qpu = emulated("Advantage2_system4", cache=embeddings)
    assert {"anneal_schedule", "initial_state", "reinitialize_state", "max_answers"} <= set(qpu.parameters)
    assert {"fast_anneal", "flux_biases", "h_gain_schedule", "interrupt_function"}.isdisjoint(qpu.parameters)
    message = "emulated-Advantage2_system4 has no parameter 'anneal_shedule'; it has .*; did you mean 'anneal_schedule'?"
    with pytest.raises(dn.InputError, match=message):
        qpu.sample(SPIN, anneal_shedule=PAUSE)
    with pytest.raises(dn.InputError, match=message):
        qpu.subproblem_solver({"anneal_shedule": PAUSE}, True, 1, dn.TIGHT)
    with pytest.raises(dn.InputError, match="has no parameter 'fast_anneal'"):
        qpu.sample(SPIN, fast_anneal=True)
    with pytest.raises(dn.InputError, match="does not accept the parameter 'h_gain'"):
        dn.Anneal(qpu, parameters={"h_gain": 1})
    with pytest.raises(dn.InputError, match="has no parameter 'h_gain'"):
        small_chip().sample(SPIN.relabel_variables({0: 0, 1: 1}, inplace=False), h_gain=1)
    assert qpu.submitter.submitted == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"answer_mode": "histo"}, "answer_mode is 'histo'; give one of 'raw', 'histogram'; did you mean 'histogram'?"),
        ({"chain_break_method": 3}, "chain_break_method is 3; give one of 'majority_vote', "),
        ({"max_answers": 0}, "max_answers is 0; give a whole number of at least 1"),
        ({"fast_anneal": "yes"}, "fast_anneal is 'yes'; give True or False"),
        ({"fast_anneal": True, "annealing_time": 0.001}, "annealing_time is 0.001; this chip accepts 0.005 to 2000 "),
        ({"fast_anneal": True, "h_gain_schedule": [[0, 1], [20, 1]]}, "fast_anneal=True cannot be combined with h_gain_sch"),
        ({"fast_anneal": True, "initial_state": {}}, "fast_anneal=True cannot be combined with initial_state; remove one"),
        ({"fast_anneal": True, "anneal_schedule": PAUSE}, "give at most 2 points"),
        ({"annealing_time": 5.0, "anneal_schedule": PAUSE}, "anneal_schedule contains the annealing time; remove anneali"),
        ({"readout_thermalization": -1}, "readout_thermalization is -1; give a number of at least 0"),
        ({"programming_thermalization": 1e6}, "programming_thermalization is 1e+06; this chip accepts 0 to 10000 micros"),
        ({"flux_biases": [0.0, 1e-4]}, "flux_biases is [0.0, 0.0001]; give a list with one number for each of the 1,248 "),
        ({"anneal_offsets": 0.1}, "anneal_offsets is 0.1; give a list with one number for each of the 1,248 qubits"),
        ({"anneal_schedule": REVERSE}, "anneal_schedule starts at s = 1, which is reverse annealing, but there is no ini"),
        ({"initial_state": {}}, "initial_state is only for reverse annealing; add an anneal_schedule such as [[0, 1], "),
        ({"reinitialize_state": False}, "reinitialize_state is only for reverse annealing; add an anneal_schedule such a"),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    backend, recorder = recording_backend()
    with pytest.raises(dn.InputError) as caught:
        QPU(backend).sample(SPIN, **parameters)
    assert message in str(caught.value)
    assert recorder.sent == []


LIMITS = {
    "num_qubits": 3,
    "anneal_offset_ranges": [[-0.1, 0.1], [-0.2, 0.2], [0.0, 0.0]],
    "flux_bias_range": [-0.01, 0.01],
    "h_gain_schedule_range": [-3.0, 3.0],
    "max_h_gain_schedule_points": 3,
    "default_annealing_time": 20.0,
}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"anneal_offsets": [9, 0, 0]}, "anneal_offsets has the value 9 for qubit 0; this chip accepts -0.1 to 0.1 there"),
        ({"anneal_offsets": [0.1, 0.2, 0.1]}, "anneal_offsets has the value 0.1 for qubit 2; this chip accepts 0 to 0 "),
        ({"anneal_offsets": [0.1, 0.0, None]}, "anneal_offsets has the value None for qubit 2; give a finite number"),
        ({"flux_biases": [0.0, "x", 0.0]}, "flux_biases has the value 'x' for qubit 1; give a finite number"),
        ({"flux_biases": "abc"}, "flux_biases has the value 'a' for qubit 0; give a finite number"),
        ({"flux_biases": [0, 0, float("nan")]}, "flux_biases has the value nan for qubit 2; give a finite number"),
        ({"flux_biases": [1.0, 0, 0]}, "flux_biases has the value 1 for qubit 0; this chip accepts -0.01 to 0.01 there"),
        ({"annealing_time": True}, "annealing_time is True; this chip accepts"),
        ({"anneal_schedule": [["0", "0"], ["20", "1"]]}, "give a list of two or more pairs [t, s]"),
        (
            {"h_gain_schedule": "x"},
            "h_gain_schedule is 'x'; give a list of two or more pairs [t, gain], such as [[0, 1], [2",
        ),
        ({"h_gain_schedule": [[0, 1], [20, True]]}, "give a list of two or more pairs"),
        ({"h_gain_schedule": [[5, 99], [0, 1]]}, "h_gain_schedule is [[5, 99], [0, 1]]; the first time must be 0, and the "),
        ({"h_gain_schedule": [[0, 1], [30, 1]]}, "the last 20, the annealing time"),
        ({"h_gain_schedule": [[0, 1], [20, 1]], "annealing_time": 30}, "the last 30, the annealing time"),
        ({"h_gain_schedule": [[0, 1], [0, 2], [20, 1]]}, "times must increase"),
        ({"h_gain_schedule": [[0, 1], [20, 99]]}, "the gain at 20 microseconds is 99, but this chip accepts -3 to 3"),
        ({"h_gain_schedule": [[0, 1], [1, 1], [2, 1], [20, 1]]}, "give at most 3 points"),
    ],
)
def test_values_outside_the_limits_of_the_solver_are_refused(parameters, message):
    with pytest.raises(dn.InputError) as caught:
        check_call(LIMITS, parameters)
    assert message in str(caught.value)


def test_values_at_the_limits_of_the_solver_are_accepted():
    check_call(LIMITS, {"anneal_offsets": [-0.1, 0.2, 0], "flux_biases": [0.01, -0.01, 0.0]})
    check_call(LIMITS, {"h_gain_schedule": [[0, -3], [1.5, 3], [20, 0]]})
    check_call(LIMITS, {"h_gain_schedule": [[0, 1], [70, 1]], "anneal_schedule": PAUSE})


@pytest.mark.parametrize("seed", [-5, 1.5, "x"])
def test_wrong_seeds_are_refused(seed, embeddings):
    qpu = emulated("Advantage2_system4", cache=embeddings)
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(100))
    solver = dn.Divide(dn.Anneal(qpu, parameters={"seed": seed}), combine="count")
    for call in (
        lambda: qpu.sample(SPIN, seed=seed),
        lambda: qpu.estimate_access_time(SPIN, seed=seed),
        lambda: small_chip().sample(SPIN, seed=seed),
        lambda: solve(table, solver),
    ):
        with pytest.raises(dn.InputError, match=r"seed is .*; give a whole number of at least 0"):
            call()
    assert qpu.submitter.submitted == 0


def test_whole_numbers_may_be_floats(embeddings):
    qpu = emulated("Advantage2_system4", cache=embeddings)
    first, second = (qpu.sample(SPIN, num_reads=kind(20), seed=kind(3)) for kind in (int, float))
    assert first == second
    assert len(second) == 20


# Schedules


def ocean_accepts(schedule, properties):
    """Return whether Ocean accepts a schedule. Ocean does not know the additional point of reverse annealing."""
    from dwave.system import DWaveSampler

    reverse = schedule[0][1] == 1
    sampler = SimpleNamespace(
        parameters=["anneal_schedule"],
        properties=properties | {"max_anneal_schedule_points": properties["max_anneal_schedule_points"] + reverse},
    )
    try:
        DWaveSampler.validate_anneal_schedule(sampler, schedule)
    except ValueError:
        return False
    return True


points = st.tuples(
    st.lists(st.sampled_from([0.4, 0.5, 1.0, 5.0, 800.0]), min_size=1, max_size=14),
    st.sampled_from([0.0, 1.0, 0.5]),
    st.lists(st.sampled_from([0.0, 0.4, 0.5, 1.0, 1.0]), min_size=14, max_size=14),
)


@given(points, st.booleans())
def test_schedules_are_refused_as_in_ocean(drawn, ends):
    steps, start, values = drawn
    times = np.cumsum([0.0, *steps]).tolist()
    fractions = [start, *values[: len(steps)]]
    if ends:
        fractions = [start, *sorted(fractions[1:])[:-1], 1.0] if start == 0 else [*fractions[:-1], 1.0]
    schedule = [list(point) for point in zip(times, fractions, strict=True)]
    properties = chips.SYSTEMS["Advantage_system4"].properties
    call = {"anneal_schedule": schedule} | ({"initial_state": {}} if start == 1.0 else {})
    if ocean_accepts(schedule, properties):
        check_call(properties, call)
    else:
        with pytest.raises(dn.InputError, match="anneal_schedule is"):
            check_call(properties, call)


@pytest.mark.parametrize("schedule", [[[1.0, 0.0], [20.0, 1.0]], [[0, 0, 1], [20, 1, 1]], "fast", 5, [], [[0, 0]]])
def test_malformed_schedules_are_refused(schedule):
    with pytest.raises(dn.InputError, match="anneal_schedule is"):
        check_call({}, {"anneal_schedule": schedule})


# Limits of a call


def ocean_solver(**properties):
    from dwave.cloud.solver import StructuredSolver
    from dwave.cloud.testing.mocks import qpu_pegasus_solver_data, qpu_problem_timing_data

    data = qpu_pegasus_solver_data(2)
    data["properties"] |= {
        "num_reads_range": [1, 10_000],
        "problem_run_duration_range": [0.0, 1e6],
        "annealing_time_range": [0.5, 2000.0],
        "default_annealing_time": 20.0,
        "default_readout_thermalization": 0.0,
        "default_programming_thermalization": 1000.0,
        "problem_timing_data": qpu_problem_timing_data("advantage"),
    }
    data["properties"] |= properties
    return StructuredSolver(client=None, data=data)


@given(
    st.integers(1, 30_000),
    st.floats(1.0, 2000),
    st.sampled_from([None, 5.0, 400.0]),
    st.sampled_from([None, 0.0, 9000.0]),
)
def test_reads_are_split_by_the_duration_of_the_schedule(reads, duration, readout, programming):
    solver = ocean_solver()
    times = plain_parameters({"readout_thermalization": readout, "programming_thermalization": programming})
    most = solver.max_num_reads(annealing_time=duration, **times)
    call = {"num_reads": reads, "anneal_schedule": [[0.0, 0.0], [duration, 1.0]]} | times
    assert max_reads(solver.properties, call) == most
    parts = split_reads(solver.properties, call)
    assert sum(part["num_reads"] for part in parts) == reads
    assert len(parts) == -(-reads // most)


def test_the_pause_between_reads_counts():
    """`reduce_intersample_correlation` adds 595 microseconds to reads of 20 microseconds."""
    call = {"num_reads": 10_000, "annealing_time": 20.0, "reduce_intersample_correlation": True}
    assert max_reads(ocean_solver().properties, call) == (1_000_000 - 1000) // (20 + 595)


# Answers


def test_a_histogram_has_the_same_reads_as_raw_answers(embeddings):
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000)))
    qpu = emulated("Advantage2_system4", cache=embeddings, noise=0.0)
    raw, merged = (qpu.sample(bqm, num_reads=300, seed=2, answer_mode=mode) for mode in ("raw", "histogram"))
    assert len(merged) == len(raw) == 300  # a row is a read
    assert sorted(map(bytes, merged.record.sample)) == sorted(map(bytes, raw.record.sample))
    assert merged.info["chain_break_fraction"] == pytest.approx(raw.info["chain_break_fraction"])
    table = dn.scoring.score_table(dn.load("waste").expected_data(1_000))
    subproblems = table.gather(np.array(list(combinations(range(9), 3))))
    scores = [
        qpu.subproblem_solver({"num_reads": 30, "answer_mode": mode}, True, 1, dn.PAPER).solve_many(subproblems).scores
        for mode in ("raw", "histogram")
    ]
    assert np.array_equal(*scores)


@pytest.mark.parametrize(("mode", "parts"), [("raw", 1), ("histogram", 1), ("raw", 3), ("histogram", 3)])
def test_the_number_of_answers_is_limited(mode, parts):
    node = small_chip().nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 0.01}, {}, 0.0, "SPIN")
    qpu = QPU(LocalBackend(small_chip(noise=0.0), "chip"))
    reads = 60 if parts == 1 else 1200  # at most 499 reads of 2 ms in a call
    call = {"num_reads": reads, "annealing_time": 2000.0 if parts > 1 else 1.0, "answer_mode": mode, "seed": 1}
    assert len(split_reads(qpu.properties, call)) == parts
    every = qpu.submitter.answer(bqm, call)
    assert every.record.num_occurrences.sum() == reads
    few = qpu.submitter.answer(bqm, call | {"max_answers": 1})
    assert len(few) == 1
    if mode == "histogram":  # the state with the lowest energy, which many reads have
        assert len(every) == 2
        assert every.record.energy.tolist() == sorted(every.record.energy)
        assert few.first.sample == every.first.sample
        assert few.record.num_occurrences[0] > reads / 4
    else:
        assert np.array_equal(few.record.sample, every.record.sample[:1])


# Times


@pytest.mark.parametrize("model", ["pwl_log_log", "pwl_linear"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"programming_thermalization": 55.5, "readout_thermalization": 7.5},
        {"programming_thermalization": 0.0, "readout_thermalization": 0.0},
        {"anneal_schedule": PAUSE, "readout_thermalization": 900.0, "reduce_intersample_correlation": True},
        {"reduce_intersample_correlation": True},
        {"anneal_schedule": REVERSE, "initial_state": [3], "reinitialize_state": True},
        {"anneal_schedule": REVERSE, "initial_state": [3], "reinitialize_state": False},
    ],
)
@pytest.mark.parametrize("chip", ["advantage", "2000q"])
def test_access_times_match_ocean(model, parameters, chip):
    from dwave.cloud.testing.mocks import qpu_problem_timing_data

    data = dict(qpu_problem_timing_data(chip), default_readout_thermalization=12.0)
    if model == "pwl_linear":
        points = 10.0 ** np.array(data["readout_time_model_parameters"])
        data |= {"readout_time_model": model, "readout_time_model_parameters": points.tolist()}
    solver, timing = ocean_solver(problem_timing_data=data), chips.Timing.of(data)
    for qubits, reads in ((1, 1), (60, 1000), (3375, 10)):
        expected = solver.estimate_qpu_access_time(qubits, num_reads=reads, **parameters)
        for ours in (timing, chips.Timing.of(timing.to_dict())):
            assert ours.access_time(qubits, reads, **parameters) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["Advantage_system4", "DW_2000Q_6"])
def test_systems_have_the_published_times_of_reverse_annealing(name):
    from dwave.cloud.testing.mocks import qpu_problem_timing_data

    published = qpu_problem_timing_data("advantage" if name == "Advantage_system4" else "2000q")
    ours = chips.SYSTEMS[name].timing.to_dict()
    compared = [key for key in published if key.startswith(("reverse", "decorrelation", "typical", "default"))]
    assert len(compared) == 10
    assert {key: ours[key] for key in compared} == {key: published[key] for key in compared}


def test_the_access_time_is_estimated_without_a_call(embeddings):
    qpu = emulated("Advantage2_system4", cache=embeddings)
    call = {"num_reads": 40, "anneal_schedule": PAUSE, "programming_thermalization": 300.0}
    expected = qpu.estimate_access_time(SPIN, **call)
    assert qpu.submitter.submitted == 0
    assert qpu.sample(SPIN, **call).info["timing"]["qpu_access_time"] / 1e6 == pytest.approx(expected)
    once, split = (qpu.estimate_access_time(SPIN, num_reads=400, annealing_time=time) for time in (2000.0, 1999.0))
    assert split == pytest.approx(once - 400e-6)
    twice = qpu.estimate_access_time(SPIN, num_reads=800, annealing_time=2000.0)  # two calls
    assert twice == pytest.approx(2 * once)
    assert qpu.estimate_access_time(dimod.BinaryQuadraticModel("SPIN")) == 0.0
    backend, _ = recording_backend()
    backend.properties["problem_timing_data"] = None
    with pytest.raises(dn.InputError, match="recorder has no problem_timing_data"):
        QPU(backend, cache=embeddings).estimate_access_time(SPIN)
    backend.properties["problem_timing_data"] = {"version": "1.0.0"}
    with pytest.raises(dn.InputError, match="problem_timing_data has no 'readout_time_model'"):
        QPU(backend, cache=embeddings).estimate_access_time(SPIN)


def test_the_log_has_one_entry_for_each_call(embeddings):
    """The subproblems come first. Equal seeds give equal logs, although several calls run at the same time."""
    data = dn.load("waste").expected_data(1_000)

    class Few(QPU):
        def copies(self, *args, many=False, **more):
            return super().copies(*args, many=many, **more)[: 12 if many else 1]

    logs = []
    for _ in range(2):
        sampler = Few(LocalBackend(small_chip(), "chip"), cache=embeddings)
        result = dn.learn(data, dn.Anneal(sampler, num_reads=7), seed=1)
        logs.append(result.hardware.log)
        assert sum(call.problems for call in result.hardware.log) >= 84 + 1
        assert len(result.hardware.log) == result.hardware.calls
        assert [call.problems for call in logs[-1]][:7] == [12] * 7
        assert logs[-1][-1].problems == 1
        seconds = sum(call.timing["qpu_access_time"] for call in logs[-1]) / 1e6
        assert seconds == pytest.approx(result.hardware.access_seconds)
        assert all(call.reads == 7 and call.fetched == 0 for call in logs[-1])
        assert len(result.reads.chain_breaks) == 7
    assert logs[0] == logs[1]
