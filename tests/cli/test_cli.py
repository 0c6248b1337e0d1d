"""The command line: results, and a one-line message with exit status 2 for bad input."""

import json
import os
import re
import resource
import signal
import subprocess
import sys

import dimod
import polars as pl
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.strategies.names import SAMPLERS, STRATEGIES
from support.waiting import TIMEOUT, wait_for_file


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder and returns its status, output and messages."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def lc(run, tmp_path):
    run("sample", "lung-cancer", "--rows", "10000", "--expected", "-o", "lc.csv")
    return tmp_path / "lc.csv"


def test_learn_prints_the_network(run, lc):
    status, out, _ = run("learn", lc, "--truth", "lung-cancer")
    assert status == 0
    assert "Cancer    <- Pollution, Smoker" in out
    assert "log score -21036.862, highest of all networks (proved)" in out
    assert "4 true positives, 0 false positives, 0 missing edges" in out


def test_learn_as_json_prints_one_object_and_nothing_else(run, lc):
    status, out, err = run(
        "learn", lc, "--json", "--solver", "sa", "--reads", "100", "--seed", "7", "--truth", "lung-cancer"
    )
    assert status == 0
    assert all(line.startswith("note: ") for line in err.splitlines())  # kernels may have to be compiled
    result = json.loads(out)
    assert result["variables"] == ["Pollution", "Smoker", "Cancer", "Xray", "Dyspnoea"]
    assert sorted(map(tuple, result["edges"])) == sorted(dn.load("lung-cancer").dag.edges)
    assert result["score"] == pytest.approx(-21036.861963, abs=1e-5)
    assert (result["score_name"], result["max_parents"], result["seed"], result["optimal"]) == ("BDeu(1)", 4, 7, True)
    assert set(result["seconds"]) >= {"score", "subproblems", "conquer", "compare"}
    assert result["annealed"]["reads"] == 100
    assert result["comparison"]["true_positives"] == 4


def test_divide_et_impera(run, lc):
    words = ["learn", lc, "--divide", "4", "--solver", "sa", "--reads", "20", "--seed", "2"]
    status, out, _ = run(*words, "--rule", "penalty", "--set", "repair=false", "--truth", "lung-cancer")
    assert status == 0
    assert "5 subproblems of 4 variables (all) solved by SimulatedAnnealing, combined by penalty" in out
    words += ["--set", "subproblems=cover:2", "--json", "--journal", "run.db"]
    status, out, _ = run(*words)
    result = json.loads(out)
    assert status == 0
    assert result["acyclic"]
    assert (result["division"]["scheme"], result["division"]["global_solver"]) == ("cover:2", "SimulatedAnnealing")
    assert json.loads(run(*words)[1])["votes"] == result["votes"]
    status, out, _ = run("learn", lc, "--divide", "3", "--set", "subproblems=sample:0.5")
    assert status == 0
    assert re.search("global problem solved [0-9]+ times? by exact", out)


@pytest.mark.parametrize("solver", [*STRATEGIES, *SAMPLERS])
def test_every_solver(run, lc, solver):
    more = ["--reads", "10"] if solver in ("sa", "sqa", "tabu", "greedy", "random") else []
    status, out, _ = run("learn", lc, "--json", "--solver", solver, "--columns", "Smoker,Cancer,Xray", *more)
    assert status == 0
    assert json.loads(out)["optimal"] == (solver != "order")  # `order` gives no proof
    assert json.loads(out)["score"] == pytest.approx(
        json.loads(run("learn", lc, "--json", "--columns", "Smoker,Cancer,Xray")[1])["score"]
    )


def test_any_dimod_sampler_and_its_parameters(run, lc):
    small = ["--columns", "Smoker,Cancer"]
    status, out, _ = run("learn", lc, "--sampler", "dimod:ExactSolver", "--json", *small)
    assert status == 0
    assert json.loads(out)["solver"] == "ExactSolver"
    assert run("learn", lc, "--solver", "sa", "--set", "num_sweeps=10", "--set", "beta_schedule_type=linear", *small)[0] == 0


def test_seed_option_and_seed_setting_are_the_same(run, lc):
    words = ["learn", lc, "--json", "--solver", "sa", "--reads", "5"]
    one, two = (json.loads(run(*words, *more)[1]) for more in (["--set", "seed=9"], ["--seed", "9"]))
    assert one["seed"] == two["seed"] == 9
    assert one["annealed"] == two["annealed"]


@pytest.mark.slow
def test_a_sampler_from_the_current_folder(lc, tmp_path):
    (tmp_path / "mine.py").write_text("from dwave.samplers import TabuSampler as Mine\n")
    dagneal_command = os.path.join(os.path.dirname(sys.executable), "dagneal")
    ran = subprocess.run(
        [dagneal_command, "learn", "lc.csv", "--sampler", "mine:Mine", "--reads", "1", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["solver"] == "TabuSampler"


@pytest.mark.slow
def test_compilation_is_reported_only_once(lc, tmp_path):
    cache = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (dagneal("learn", lc, env=cache) for _ in range(2))
    assert first.stderr.startswith("note: compiling code for ")
    assert first.stderr.count("\n") == 1
    assert second.stderr == ""


def test_a_result_is_printed_if_it_cannot_be_saved(run):
    run("sample", "waste", "--expected", "-o", "waste.csv")
    words = ["learn", "waste.csv", "--solver", "random", "--reads", "2", "--set", "repair=false", "-o", "learned.bif"]
    status, out, err = run(*words)
    assert status == 2
    assert "not a network" in out
    assert "so there is no fitted network" in err


def test_names_that_bif_cannot_store_are_restored(run, tmp_path):
    (tmp_path / "odd.csv").write_text('"a""b",c\n1,2\n')
    assert run("learn", "odd.csv", "-o", "odd.bif")[0] == 0
    assert dn.load(str(tmp_path / "odd.bif")).names == ('a"b', "c")


def test_compare_has_data_options(run):
    run("sample", "lung-cancer", "--weights", "count", "-o", "lc.csv")
    status, out, _ = run("compare", "lung-cancer", "lung-cancer", "--data", "lc.csv", "--weights", "count", "--json")
    assert status == 0
    assert json.loads(out)["score_gap"] == 0
    assert json.loads(run("networks", "waste", "--json")[1])["edges"]


def test_the_same_seed_gives_the_same_result(run, lc):
    answers = []
    for _ in range(2):
        _, out, _ = run("learn", lc, "--json", "--solver", "sa", "--reads", "5", "--set", "num_sweeps=20", "--seed", "3")
        answers.append({k: v for k, v in json.loads(out).items() if k != "seconds"})
    assert answers[0] == answers[1]


def test_raw_reads(run):
    run("sample", "waste", "--expected", "-o", "waste.csv")
    status, out, _ = run("learn", "waste.csv", "--solver", "sa", "--reads", "20", "--set", "repair=false", "--json")
    result = json.loads(out)
    assert status == 0
    assert result["score"] == result["annealed"]["raw"]["score"] < result["annealed"]["optimum"]
    assert not result["optimal"]
    status, out, _ = run("learn", "waste.csv", "--solver", "random", "--reads", "3", "--set", "repair=false")
    assert status == 0
    assert "not a network" in out


@pytest.mark.parametrize("ending", ["bif", "json"])
def test_saved_results_are_compared(run, lc, ending):
    assert run("learn", lc, "-o", f"learned.{ending}")[0] == 0
    status, out, _ = run("compare", f"learned.{ending}", "lung-cancer", "--data", lc, "--json")
    assert status == 0
    result = json.loads(out)
    assert (result["true_positives"], result["cpdag_shd"], result["score_gap"]) == (4, 0, 0)
    assert "SHD 0" in run("compare", f"learned.{ending}", "lung-cancer")[1]


def test_samples_are_saved(run, lc, tmp_path):
    assert run("learn", lc, "--solver", "sa", "--reads", "4", "--samples", "reads.json")[0] == 0
    assert len(dn.qubo.read_samples(tmp_path / "reads.json")) == 4
    words = ["learn", lc, "--columns", "Smoker,Cancer", "--sampler", "dimod:ExactSolver", "--samples", "all.json"]
    assert run(*words)[0] == 0
    assert len(dn.qubo.read_samples(tmp_path / "all.json")) == 4  # two variables, one for each edge


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_sample(run, tmp_path, ending):
    status, out, _ = run("sample", "waste", "--rows", "500", "--seed", "5", "-o", f"waste.{ending}", "--json")
    assert status == 0
    assert json.loads(out) == {"network": "waste", "rows": 500, "file": f"waste.{ending}"}
    data = dn.read(tmp_path / f"waste.{ending}", states=dn.load("waste"))
    assert data.rows == 500
    expected = dn.load("waste").sample(500, seed=5)
    assert data.weights.tolist() == expected.weights.tolist()
    assert run("sample", "waste", "--rows", "500", "--seed", "5", "--weights", "n", "-o", f"merged.{ending}")[0] == 0
    merged = dn.read(tmp_path / f"merged.{ending}", states=dn.load("waste"), weights="n")
    assert merged.weights.tolist() == expected.weights.tolist()


def test_sampled_rows_are_in_random_order(run, tmp_path):
    run("sample", "lung-cancer", "--rows", "1000", "-o", "rows.csv")
    column = pl.read_csv(tmp_path / "rows.csv")["Smoker"].to_list()
    assert abs(column[:300].count(True) - column[-300:].count(True)) < 60
    _, out, _ = run("sample", "lung-cancer", "--rows", "1000")
    assert out == (tmp_path / "rows.csv").read_text()


@pytest.mark.parametrize("ending", ["bqm", "coo", "npz"])
def test_encode(run, lc, tmp_path, ending):
    status, out, _ = run("encode", lc, "-o", f"lc.{ending}", "--encoding", "paper")
    assert status == 0
    assert "40 variables (20 edges, 10 slack, 10 order), 125 interactions, offset 22793.67770" in out
    assert (tmp_path / f"lc.{ending}").stat().st_size > 0
    result = json.loads(run("encode", lc, "--json", "--ising", "--encoding", "paper")[1])
    assert (result["qubo_variables"], result["vartype"]) == (40, "SPIN")
    assert result["delta_consist"] == pytest.approx(393.244599)


def test_encodings_are_compared(run, lc):
    status, out, _ = run("encode", lc, "--compare")
    assert status == 0
    assert [line.split()[3] for line in out.splitlines() if line.startswith(("paper", "tight, chordal, pruned"))] == [
        "40",
        "14",
    ]
    result = json.loads(run("encode", lc, "--compare", "--json", "--max-parents", "3")[1])
    assert "refused" in result["encodings"][0]  # the encoding of the paper
    tight = next(e for e in result["encodings"] if e["encoding"] == dn.TIGHT.name)
    assert tight["qubo_variables"] == sum(tight["variables_by_kind"].values())
    assert tight["largest"] / tight["smallest"] == pytest.approx(2 ** tight["range_bits"])


def test_the_written_model_equals_the_encoded_model(run, lc, tmp_path):
    run("encode", lc, "-o", "lc.bqm")
    bqm = dimod.BinaryQuadraticModel.from_file((tmp_path / "lc.bqm").read_bytes())
    assert bqm.is_almost_equal(dn.qubo.encode(dn.scoring.score_table(dn.read(lc))))


def test_states_from_a_network(run):
    run("sample", "lung-cancer", "--rows", "5", "-o", "few.csv")
    plain = json.loads(run("learn", "few.csv", "--json")[1])
    full = json.loads(run("learn", "few.csv", "--json", "--states", "lung-cancer")[1])
    assert plain["score"] != full["score"]


def test_networks(run):
    assert "alarm-15" in run("networks")[1]
    assert [n["variables"] for n in json.loads(run("networks", "--json")[1])["networks"]] == [3, 4, 5, 9, 9, 9, 15]
    assert run("networks", "waste")[1].startswith("network waste {")


def test_a_column_with_one_state_gets_a_note(run, tmp_path):
    (tmp_path / "one.csv").write_text("a,b,c\nx,0,0\nx,1,1\n")
    status, _, err = run("learn", "one.csv", "--strict")
    assert status == 0
    assert "note: a: the same state in all rows" in err
    assert run("learn", "one.csv", "--strict", "--quiet")[2] == ""


FILES = {
    "good.csv": "a,b,c\n0,1,x\n1,0,y\n",
    "empty.csv": "",
    "header.csv": "a,b\n",
    "ragged.csv": "a,b\n1,2\n1\n",
    "twice.csv": "a,a\n1,2\n",
    "unnamed.csv": "a,\n1,2\n",
    "garbage.csv": bytes(range(256)),
    "latin.csv": "a,b\n1,\xe9\n".encode("latin-1"),
    "missing.csv": "a,b\n1,\n2,3\n",
    "states.csv": "a,b\n" + "".join(f"s{i},x\n" for i in range(65_536)),
    "continuous.csv": "a,b\n" + "".join(f"{i * 0.37:.2f},x\n" for i in range(300)),
    "single.csv": "a\n1\n2\n",
    "negative.csv": "a,b,n\n1,2,-1\n",
    "fraction.csv": "a,b,n\n1,2,0.5\n",
    "six.csv": "a,b,c,d,e,f\n" + "1,2,3,4,5,6\n",
    "ten.csv": ",".join("abcdefghij") + "\n" + ",".join("0123456789") + "\n",
    "thirty.csv": ",".join(f"v{i}" for i in range(30)) + "\n" + ",".join("1" * 30) + "\n",
    "cycle.bif": "network n {} variable a { type discrete [ 1 ] { x }; } probability ( a | a ) { (x) 1.0; }",
    "sum.bif": "network n {} variable a { type discrete [ 2 ] { x, y }; } probability ( a ) { table 0.5, 0.6; }",
    "parent.bif": "network n {} variable a { type discrete [ 1 ] { x }; } probability ( a | b ) { (x) 1.0; }",
    "state.bif": "network n {} variable a { type discrete [ 1 ] { x }; } variable b { type discrete [ 1 ] { x }; } "
    "probability ( a | b ) { (y) 1.0; }",
    "list.json": "[1, 2]",
    "quote.csv": 'a,b\n1,2\n5" tube,3\n4,5\n',
    "one.tsv": "a,b\n1,2\n",
    "book.xlsx": "PK",
    "loop.json": '{"variables": ["a", "b"], "edges": [["a", "a"]]}',
}
BAD = [
    ("learn nothing.csv", "there is no file nothing.csv"),
    ("learn .", "is a folder"),
    ("learn empty.csv", "is empty"),
    ("learn header.csv", "no rows"),
    ("learn ragged.csv --strict", "ragged.csv, line 3: 1 value, but the header has 2 columns"),
    ("learn twice.csv --strict", "two columns are named 'a'"),
    ("learn unnamed.csv --strict", "column 2 of the header has no name"),
    ("learn garbage.csv", "not UTF-8 text"),
    ("learn latin.csv --strict", "line 2: not UTF-8 text"),
    ("learn missing.csv --strict", "1 missing value: 1 in column 'b' (first in row 1); drop"),
    ("learn states.csv --strict", "'a' has 65,536 distinct values (limit: 65,535)"),
    ("learn continuous.csv --strict", "'a' looks continuous (300 distinct numbers in 300 rows); bin such columns"),
    ("learn single.csv", "at least 2 columns"),
    ("learn good.csv --max-parents -1", "--max-parents is -1"),
    ("learn good.csv --max-parents 3", "at most 2 parents"),
    ("learn good.csv --max-parents x", "invalid int value"),
    ("learn six.csv --solver exhaustive", "at most 5 variables, not 6; use the default solver"),
    (
        "learn ten.csv --solver tree --set direct=true --set encoding=paper",
        "treewidth of at most 25, but this QUBO",
    ),
    (
        "learn six.csv --solver sa --max-parents 3 --set encoding=paper",
        "the paper's penalties are defined for at most 2 parents",
    ),
    ("learn six.csv --set encoding=gap", "to set a parameter of a sampler, choose a sampler, such as --solver sa"),
    ("learn six.csv --solver sa --set encoding=loose", "has the unknown word 'loose'"),
    ("learn six.csv --solver sa --set encoding=gap,tight", "sets penalties twice"),
    ("learn six.csv --solver sa --set encoding=paper,chordal", "too small for chordal order variables"),
    ("encode six.csv --compare -o x.bqm", "--compare writes no file"),
    ("encode six.csv --compare --encoding gap", "--compare shows all encodings"),
    ("learn six.csv --solver sa --set direct=true --rule penalty", "give only one of them"),
    ("learn six.csv --set annealing_time=5", "the solver auto has no setting 'annealing_time'"),
    ("learn six.csv --solver qpu-emulated --set profile=x", "--set profile needs --solver qpu"),
    ("learn six.csv --solver qpu --set noise=0.1", "--set noise needs --solver qpu-emulated"),
    ("learn six.csv --solver qpu-emulated --set noise=-1", "--set noise is -1; give a number of at least 0"),
    ("learn six.csv --solver qpu-emulated --set system=abacus", "unknown system 'abacus'"),
    (
        "learn six.csv --solver qpu-emulated --set chain_strength=strong",
        "--set chain_strength is 'strong'",
    ),
    ("plan", "a data file or --variables"),
    ("plan --variables 5 --divide 6", "--divide is 6; give at most 5, the number of variables"),
    ("plan --variables 5 --divide 3,4 -o x.svg", "-o draws one plan"),
    ("plan --variables 5 -o x.txt", "end the name in .png or .svg"),
    ("learn negative.csv --weights n", "row 1 of column 'n' is negative"),
    ("learn fraction.csv --weights n", "row 1 of column 'n' is not a whole number"),
    ("learn good.csv --weights m", "no column 'm'"),
    ("learn good.csv --columns a,z", "no column 'z'"),
    ("learn good.csv --solver magic", "there is no solver 'magic'; give one of auto, exact"),
    ("learn good.csv --sampler dimod:Nothing", "cannot import sampler 'dimod:Nothing'"),
    ("learn good.csv --sampler no.such.module:X", "cannot import sampler"),
    ("learn good.csv --sampler dimod", "cannot import sampler 'dimod': NAME is missing; give 'dimod:NAME'"),
    ("learn good.csv --sampler mine.py", "cannot import sampler 'mine.py': NAME is missing; give 'mine:NAME'"),
    ("learn good.csv --sampler mine.py:Flip", "give a module instead of a file: 'mine:Flip'"),
    ("learn good.csv --sampler sub/mine.py:Flip", "'mine:Flip', and run the command in the folder of mine.py"),
    ("learn good.csv --sampler builtins:dict", "is not a dimod.Sampler"),
    ("learn good.csv --solver sa --set num_swepes=7", "does not accept the parameter 'num_swepes'; it accepts"),
    ("learn good.csv --precision single", "unrecognized arguments: --precision single; write --set encoding=paper,single"),
    ("learn good.csv --solver sa --set num_sweeps", "write NAME=VALUE"),
    ("learn good.csv --solver sa --set num_sweeps=many", "num_sweeps is 'many'; give a whole number"),
    ("learn good.csv --solver sa --seed -5", "seed is -5"),
    ("learn good.csv --solver sa --set direct=true --seed -5", "--seed is -5"),
    ("learn good.csv --solver sa --reads 0", "--reads is 0"),
    ("learn good.csv --solver exact --reads 10", "--reads needs a sampler"),
    ("learn good.csv --solver tree --seed 5", "has no seed parameter"),
    ("learn good.csv --solver sa --set repair=7", "--set repair is 7; give True or False"),
    ("learn good.csv --solver sa --set progress=1", "does not accept the parameter 'progress'"),
    ("learn good.csv --reads 10", "--reads needs a sampler, such as --solver sa"),
    ("learn good.csv --score magic", "there is no score 'magic'"),
    ("learn good.csv --score bdeu:-1", "give a number from 1e-12 to 1e12"),
    ("learn good.csv -o nowhere/learned.json", "there is no folder nowhere"),
    ("learn good.csv -o learned.xyz", "end the name in .json"),
    ("learn good.csv --samples reads.json", "--samples needs a sampler for the global problem"),
    ("learn good.csv --divide 2", "--divide is 2; give a number from 3 to 3"),
    ("learn good.csv --divide 4", "--divide is 4; give a number from 3 to 3"),
    ("learn six.csv --divide 3 --rule vote", "--rule is 'vote'; give one of 'conquer', 'penalty', 'count'"),
    ("learn six.csv --divide 3 --set subproblems=some", "--set subproblems is 'some'; give 'all'"),
    ("learn six.csv --divide 3 --set subproblems=cover:4", "--set subproblems is 'cover:4'; give 'all'"),
    ("learn six.csv --divide 3 --set subproblems=sample:0", "above 0 and at most 1"),
    ("learn six.csv --divide 3 --set subproblems=sample:1.5", "above 0 and at most 1"),
    ("learn six.csv --divide 3 --set subproblems=sample:x", "above 0 and at most 1"),
    ("learn six.csv --rule penalty", "--rule and settings of subproblems need --divide K"),
    ("learn six.csv --set direct=true", "to set a parameter of a sampler, choose a sampler, such as --solver sa"),
    ("learn six.csv --solver sa --set direct=true --divide 3", "give only one of them"),
    (
        "learn six.csv --divide 6 --solver exhaustive",
        "all subproblems failed; the first error is: exhaustive search supports",
    ),
    ("learn six.csv --divide 3 --journal nowhere/run.db", "there is no folder nowhere"),
    ("learn good.csv --solver sa --samples a.json -o a.json", "are the same file"),
    ("learn good.csv --solver sa --reads 5 --set num_reads=3", "--reads is given twice"),
    ("learn good.csv --sampler dimod:NullSampler", "NullSampler returned no reads"),
    ("learn good.csv --sampler dwave.samplers:PlanarGraphSolver", "PlanarGraphSolver failed with "),
    ("learn good.csv --sampler dimod:StructureComposite", "cannot be called without arguments"),
    ("learn good.csv --sampler sys:exit", "is not a dimod.Sampler"),
    ("learn good.csv --states waste", "no column is a variable of the network given with --states"),
    ("learn quote.csv --strict", "quote.csv, line 3: a quote is not closed"),
    ("learn one.tsv", "the header has 1 (detected separator: tab)"),
    ("learn book.xlsx", ".xlsx files are not supported; save the table as CSV or Parquet"),
    ("compare loop.json waste", "is not a network"),
    ("learn good.csv --truth nothing", "there is no network 'nothing'"),
    ("learn good.csv --truth waste", "have different variables"),
    ("learn good.csv --states nothing.bif", "nothing.bif cannot be read"),
    ("sample nothing", "there is no network 'nothing'; give the path of a .bif file or one of monty-hall"),
    ("sample cycle.bif", "cycle: a -> a"),
    ("sample sum.bif", "sum to 1.1"),
    ("sample parent.bif", "line 1: the variable 'b' is not declared"),
    ("sample state.bif", "'b' has no state 'y'"),
    ("sample waste --rows 0", "rows is 0"),
    ("sample waste -o nowhere/waste.csv", "there is no folder nowhere"),
    ("sample waste -o waste.xls", "end the name in .csv"),
    ("sample waste --weights WasteType -o waste.csv", "already have a column 'WasteType'"),
    ("sample waste --seed -1 -o waste.csv", "seed is -1"),
    ("encode good.csv -o nowhere/good.bqm", "there is no folder nowhere"),
    ("encode good.csv -o good.txt", "end the name in .bqm"),
    ("encode six.csv --max-parents 3 --encoding paper", "the paper's penalties are defined for at most 2 parents"),
    ("compare good.csv waste", "there is no network 'good.csv'"),
    ("compare list.json waste", "is not a network"),
    ("compare no.json waste", "No such file"),
    ("compare lung-cancer waste", "have different variables"),
    ("networks nothing", "there is no network 'nothing'"),
    ("dance", "invalid choice: 'dance'"),
    ("", "required: COMMAND"),
    ("learn", "no data file given; run dagneal learn DATA"),
    ("learn good.csv --frobnicate", "unrecognized arguments: --frobnicate"),
    ("learn good.csv --solver sa --sampler dimod:ExactSolver", "not allowed with"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[words or "nothing" for words, _ in BAD])
def test_bad_input_is_reported_in_one_line_and_no_file_is_written(run, tmp_path, words, message):
    for name in words.split():
        if name in FILES:
            content = FILES[name]
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {p.name for p in tmp_path.iterdir()}
    status, out, err = run(*words.split())
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert status == 2
    assert out == ""
    assert len(lines) == 1
    assert message in lines[0]
    assert {p.name for p in tmp_path.iterdir()} == before


def dagneal(*words, **options):
    return subprocess.run([sys.executable, "-m", "dagneal", *map(str, words)], capture_output=True, text=True, **options)


@pytest.mark.slow
def test_a_full_disk_does_not_change_the_old_file(tmp_path):
    target = tmp_path / "rows.csv"
    target.write_text("precious")

    def tiny():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    ran = dagneal("sample", "alarm-15", "--rows", "20000", "-o", target, preexec_fn=tiny)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert f"cannot write {target}: File too large" in ran.stderr
    assert target.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["sample", "waste"], ["networks"], ["sample", "waste", "-o", "/dev/full.csv"]])
def test_a_full_device_is_reported(words, tmp_path):
    with open("/dev/full", "w") as full:
        if words[-1] == "/dev/full.csv":
            link = tmp_path / "full.csv"
            link.symlink_to("/dev/full")
            words = [*words[:-1], str(link)]
        ran = subprocess.run([sys.executable, "-m", "dagneal", *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 2
    assert "No space left on device" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("source", ["-", "/dev/stdin"])
def test_data_from_a_pipe(lc, source):
    ran = dagneal("learn", source, "--json", input=lc.read_text())
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["optimal"]
    assert "standard input" in dagneal("learn", "-", "--strict", input="a,b\n1,2\n3\n").stderr


@pytest.mark.slow
def test_names_are_written_as_utf8_on_an_ascii_terminal(tmp_path):
    (tmp_path / "data.csv").write_text("näme,β\nä,1\nö,2\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "dagneal", "learn", str(tmp_path / "data.csv")],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert ran.returncode == 0
    assert "näme" in ran.stdout.decode()


@pytest.mark.slow
def test_a_closed_output_causes_no_traceback(lc):
    ran = subprocess.run(f"{sys.executable} -m dagneal learn {lc} --json >&-", shell=True, capture_output=True, text=True)
    assert "Traceback" not in ran.stderr


def test_an_output_may_be_a_symbolic_link(run, lc, tmp_path):
    (tmp_path / "target.json").write_text("old")
    (tmp_path / "link.json").symlink_to("target.json")
    assert run("learn", lc, "-o", "link.json")[0] == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "target.json").read_text())["optimal"]


def test_a_column_with_a_comma_in_its_name(run, tmp_path):
    (tmp_path / "comma.csv").write_text('"a,b",c,d\n1,2,3\n0,1,2\n')
    _, out, _ = run("learn", "comma.csv", "--columns", '"a,b",d', "--json")
    assert json.loads(out)["variables"] == ["a,b", "d"]


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m dagneal sample alarm-15 --rows 200000 | head -n 1"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert ran.stderr == ""
    assert ran.stdout.startswith("Hypovolemia,")


def interrupted(words, folder):
    """Run a command, send Ctrl-C when its sampler creates the file `started`, and return the output."""
    command = [sys.executable, "-m", "dagneal", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    wait_for_file(folder / "started", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert "Traceback" not in err
    return out


@pytest.mark.slow
def test_ctrl_c_gives_exit_status_130(tmp_path):
    data = tmp_path / "waste.csv"
    dagneal("sample", "waste", "-o", data)
    (tmp_path / "slow.py").write_text(
        "import pathlib, time, dimod\n"
        "class Slow(dimod.Sampler):\n"
        "    parameters, properties = {}, {}\n"
        "    def sample(self, bqm):\n"
        "        pathlib.Path('started').touch()\n"
        "        time.sleep(300)\n"
    )
    words = ["learn", "waste.csv", "--sampler", "slow:Slow", "--set", "direct=true", "-o", "learned.json"]
    interrupted(words, tmp_path)
    assert not (tmp_path / "learned.json").exists()


@pytest.mark.slow
def test_ctrl_c_in_a_division_shows_the_partial_result(tmp_path):
    data = tmp_path / "waste.csv"
    dagneal("sample", "waste", "-o", data)
    (tmp_path / "slow.py").write_text(
        "import pathlib, signal, threading\n"
        "from dwave.samplers import SimulatedAnnealingSampler\n"
        "caught, handler = threading.Event(), signal.getsignal(signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, lambda *about: (caught.set(), handler(*about)))\n"
        "class Slow(SimulatedAnnealingSampler):\n"
        "    calls = 0\n"
        "    def sample(self, bqm, **options):\n"
        "        Slow.calls += 1\n"
        "        if Slow.calls >= 40:\n"
        "            pathlib.Path('started').touch()\n"
        "            caught.wait()\n"
        "        return super().sample(bqm, num_reads=1, num_sweeps=10, seed=1)\n"
    )
    words = ["learn", "waste.csv", "--sampler", "slow:Slow", "--divide", "4", "--rule", "penalty"]
    out = interrupted(words, tmp_path)
    assert "of 126 subproblems were solved" in out


def test_help_does_not_import_large_packages():
    script = (
        "import sys\n"
        "from dagneal.cli import main\n"
        "try:\n    main(['learn', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'numba', 'polars', 'networkx', 'dimod', 'rich') if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stderr.strip() == "[]"
    assert "--solver" in ran.stdout


def test_learn_does_not_import_packages_that_it_does_not_need(tmp_path):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    script = (
        "import sys\n"
        "from dagneal.cli import main\n"
        f"assert main(['learn', {str(tmp_path / 'lc.csv')!r}, '--quiet']) == 0\n"
        "unused = ('dimod', 'scipy.linalg', 'pandas', 'dask', 'sklearn', 'numba.np.arraymath')\n"
        "print([m for m in unused if m in sys.modules], file=sys.stderr)"
    )
    for _ in range(2):  # the first run may compile kernels, and the compiler needs scipy
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stderr.strip() == "[]"


@pytest.mark.parametrize("command", ["learn", "sample", "encode", "compare", "plan", "networks"])
def test_every_command_has_help_with_examples(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0
    assert "examples:" in out


def test_exported_names_exist_and_are_documented():
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(dn))
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {"import_module", "TYPE_CHECKING", "Any", "__version__"} == set(dn.__all__)
    for name in dn.__all__:
        assert getattr(dn, name).__doc__
    assert set(dn.__all__) <= set(dir(dn))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dn.nothing  # noqa: B018


def test_an_unknown_solver_is_reported_before_large_imports():
    program = (
        "import sys\n"
        "from dagneal.cli import main\n"
        "try:\n    main(['learn', 'x.csv', '--solver', 'nosuch'])\n"
        "except SystemExit as end:\n    assert end.code == 2\n"
        "assert not {'numpy', 'numba', 'polars', 'networkx', 'dimod'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "there is no solver 'nosuch'; give one of auto, exact" in done.stderr


def test_an_output_never_replaces_the_journal(tmp_path, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    same = str(tmp_path / "x.json")
    assert main(["learn", str(tmp_path / "lc.csv"), "--divide", "3", "--journal", same, "-o", same]) == 2
    assert "are the same file" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("name", ["independent", "two"])
def test_plans_of_tiny_problems(tmp_path, capsys, name):
    pytest.importorskip("minorminer")
    rows = ["a,b,c", *(f"{i % 2},{i // 2 % 2},{i // 4 % 2}" for i in range(80))]
    if name == "two":
        rows = ["a,b", *(f"{i % 2},{i % 2}" for i in range(80))]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    status = main(["plan", str(tmp_path / "t.csv")])
    assert (status, "nothing to send" in capsys.readouterr().err) == ((2, True) if name == "independent" else (0, False))
