"""Configurations: arguments, files and journals give the same options."""

import json
import re

import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.base.errors import InputError
from dagneal.cli import main
from dagneal.cli.configuration import COMMANDS, load_command, parse, to_arguments
from dagneal.cli.solver_options import SOLVERS_HELP
from dagneal.strategies.names import SOLVERS

EXAMPLES = [
    ["learn", "rows.csv"],
    ["learn", "-", "--columns", 'a,"b,c"', "--drop", "d", "--bins", "quantile:4", "--bins", "a=at:1,2", "--rare", "0.1"],
    ["learn", "rows.csv", "--solver", "sa", "--reads", "5", "--set", "num_sweeps=50", "--set", "encoding=paper"],
    ["learn", "rows.csv", "--solver", "sa", "--set", "repair=false", "--set", "beta_range=[0.1, 5]", "--divide", "4"],
    ["learn", "rows.csv", "--require", "a:b", "--forbid=-x:b", "--tiers", "a,b:c", "--roots", "a", "--leaves", "c,d"],
    ["learn", "rows.csv", "--time-limit", "2.5", "--initial", "a.bif", "--seed", "7", "--bootstrap", "3", "--journal", "j"],
    ["learn", "rows.csv", "-o", "a.html", "-o", "b.bif", "--safe-labels", "--json", "--quiet", "--jobs", "2"],
    ["learn", "--output=-odd.html", "--", "-rows.csv"],
    ["reproduce", "performance", "table-11", "--scale", "paper", "--k", "3,4"],
    ["confidence", "a.json", "rows.csv", "--ess", "0.1,1,10", "--holdout", "0.2"],
    ["plan", "--variables", "15", "--divide", "3,4", "--topology", "pegasus,zephyr"],
]


@pytest.mark.parametrize("words", EXAMPLES, ids=" ".join)
def test_a_configuration_can_be_converted_to_arguments_and_back(words):
    options = parse(words)
    stored = json.loads(json.dumps(options.configuration))  # as in a journal
    assert parse(to_arguments(options.command, stored)).configuration == options.configuration


@given(
    st.dictionaries(
        st.from_regex("[a-z_]+", fullmatch=True),
        st.integers()
        | st.booleans()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text()
        | st.lists(st.integers()),
    )
)
def test_settings_can_be_converted_to_arguments_and_back(settings):
    settings = {name: value for name, value in settings.items() if "\0" not in str(value)}
    words = to_arguments("learn", {"data": "rows.csv", "settings": settings})
    assert dict(parse(words).settings) == settings


STORED = {"(0.1, 5)": [0.1, 5], "{1: 2}": {"1": 2}, "None": None, "b'x'": "b'x'", "1j": "1j", "'5'": "5", "nan": "nan"}


@pytest.mark.parametrize(("text", "value"), STORED.items())
def test_settings_are_parsed_as_journals_store_them(text, value):
    options = parse(["learn", "rows.csv", "--set", f"x={text}"])
    assert dict(options.settings) == {"x": value}
    assert parse(to_arguments("learn", json.loads(json.dumps(options.configuration)))).settings == options.settings


def test_defaults_are_not_stored():
    assert parse(["learn", "rows.csv", "--merge", "auto"]).configuration == {"data": "rows.csv"}


FILE = """
data = "lc.csv"
solver = "sa"
num_reads = 20
size = 3
combine = "penalty"
seed = 4
columns = ["Smoker", "Cancer", "Xray"]
max_parents = 1
output = ["a.json"]

[settings]
num_sweeps = 50
acyclic = true

[knowledge]
leaves = ["Xray"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dn.load("lung-cancer").sample(500, 1).frame().write_csv("lc.csv")
    (tmp_path / "run.toml").write_text(FILE)
    return tmp_path


def test_arguments_override_the_configuration_file(folder):
    options = parse(["learn", "--config", "run.toml", "--seed", "9", "--set", "num_sweeps=70", "--reads=5"])
    assert (options.data, options.solver, options.seed, options.num_reads, options.size) == ("lc.csv", "sa", 9, 5, 3)
    assert dict(options.settings) == {"num_sweeps": 70, "acyclic": True}
    assert json.loads(options.knowledge) == {"leaves": ["Xray"]}
    assert options.output == ["a.json"]
    assert parse(["learn", "other.csv", "--config=run.toml"]).data == "other.csv"
    assert parse(["learn", "--config", "run.toml", "-o", "b.json"]).output == ["b.json"]


def test_lists_tables_and_unusual_names_in_a_configuration_file(folder):
    (folder / "run.toml").write_text(
        'data = "-rows.csv"\ncolumns = []\ndrop = []\ntiers = []\nsampler = "mine:Sampler"\n'
        'required = [["a", "b"], "c:d"]\nforbidden = []\nbins = {age = "quantile:4"}\n'
    )
    options = parse(["learn", "--config", "run.toml", "--solver", "sa", "--reads", "5"])
    assert (options.data, options.columns, options.drop, options.tiers) == ("-rows.csv", None, [], None)
    assert (options.solver, options.sampler, options.num_reads) == ("sa", None, 5)
    assert (options.required, options.forbidden, options.bins) == (["a:b", "c:d"], [], ["age=quantile:4"])
    assert parse(["learn", "--config", "run.toml"]).sampler == "mine:Sampler"


def test_a_configuration_file_and_arguments_give_the_same_result(folder, capsys):
    assert main(["learn", "--config", "run.toml", "--json", "--quiet"]) == 0
    there = json.loads(capsys.readouterr().out)
    words = ["--columns", "Smoker,Cancer,Xray", "--max-parents", "1", "--solver", "sa", "--reads", "20", "--seed", "4"]
    words += ["--divide", "3", "--rule", "penalty", "--set", "num_sweeps=50", "--set", "acyclic=true", "--leaves", "Xray"]
    assert main(["learn", "lc.csv", *words, "--json", "--quiet"]) == 0
    here = json.loads(capsys.readouterr().out)
    for name in ("edges", "score", "votes", "division", "knowledge", "seed"):
        assert here[name] == there[name]
    assert dn.load_result("a.json").edges == [tuple(edge) for edge in here["edges"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colums = ['a']", "dagneal learn has no option 'colums'; did you mean 'columns'?"),
        ("max_parents = 'x'", "invalid int value"),
        ("max_parents = [1]", "run.toml: max_parents is [1]; give a text or a number"),
        ("json = 1", "run.toml: json is 1; give true or false"),
        ("settings = 3", "run.toml: settings is 3; give a table"),
        ("command = 'sample'", "run.toml is a configuration of another command, not of `dagneal learn`"),
        ("a = ", "run.toml is not TOML"),
        ("[knowledge]\nroots = [2020-01-01]", "run.toml: knowledge contains a date"),
        ("[settings]\nx = 2020-01-01", "run.toml: settings.x contains a date"),
        ("tiers = 3", "--tiers 3: the data have no column '3'"),
        ("knowledge = [1]", "run.toml: knowledge is [1]; give a table or the path of a file"),
        ("config = 'run.toml'", "has no option 'config'"),
        (".".join(["a"] * 50_000) + " = 1", "key has 50,000 parts"),
    ],
    ids=[
        "unknown",
        "type",
        "list",
        "flag",
        "settings",
        "command",
        "syntax",
        "date",
        "setting",
        "tiers",
        "list of knowledge",
        "itself",
        "deep",
    ],
)
def test_invalid_configuration_files_are_reported(folder, text, message, capsys):
    (folder / "run.toml").write_text(text)
    try:
        status = main(["learn", "lc.csv", "--config", "run.toml"])
    except SystemExit as end:
        status = end.code
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_a_missing_configuration_file_is_reported(folder, capsys):
    assert main(["learn", "lc.csv", "--config", "no.toml"]) == 2
    assert "no.toml cannot be read: No such file" in capsys.readouterr().err


def test_invalid_configurations_are_not_converted():
    with pytest.raises(InputError, match="null byte"):
        to_arguments("learn", {"data": "a\0b"})
    with pytest.raises(InputError, match="has no option"):
        to_arguments("learn", {"help": True})


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_module_is_complete(name):
    module = load_command(name)
    assert module.SUMMARY
    assert module.USAGE
    assert "examples:" in module.EXAMPLES
    assert callable(module.run)


def test_the_help_of_learn_names_every_solver():
    for name in SOLVERS:
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", SOLVERS_HELP), f"add {name} to SOLVERS_HELP in cli/solver_options.py"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["learn", "rows.csv", "--scoer", "bic"], "did you mean '--score'?; see dagneal learn --help"),
        (["sample", "lung-cancer", "500"], "unrecognized arguments: 500; see dagneal sample --help"),
    ],
)
def test_unknown_arguments_are_reported(words, message, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert message in capsys.readouterr().err


def test_the_help_of_learn_has_at_most_70_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(["learn", "--help"])
    assert len(capsys.readouterr().out.splitlines()) <= 70
