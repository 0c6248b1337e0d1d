"""Library messages name arguments; the command line replaces them by options, but not in text from users."""

import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.cli.translation import translate


@pytest.mark.parametrize(
    ("command", "message", "expected"),
    [
        ("learn", "seed is -5; give more", "--seed is -5; give more"),
        ("learn", "num_reads is 0", "--reads is 0"),
        ("learn", "give missing='drop', or columns=['a,b', 'c']", "give --missing drop, or --columns '\"a,b\",c'"),
        ("learn", "leave direct=True out", "leave --set direct=true out"),
        ("learn", "--set direct=true and more", "--set direct=true and more"),
        ("learn", "allow more with memory=...", "allow more with --memory"),
        ("plan", "size is 6; take fewer", "--divide is 6; take fewer"),
        ("plan", "annealing_time is -1.0", "--annealing-time is -1.0"),
        ("encode", "encoding is 'x'", "--encoding is 'x'"),
        ("networks", "seed is 3", "seed is 3"),  # the command has no such option
        ("learn", "there is no file seed=5.csv", "there is no file seed=5.csv"),
        ("learn", "there is no file size=3/data.csv", "there is no file size=3/data.csv"),
        ("learn", "column 'size=3' has one state", "column 'size=3' has one state"),
        ("learn", "there is no folder /data/seed=5", "there is no folder /data/seed=5"),
        ("learn", "A failed with seed=5, num_reads=3: no memory", "A failed with seed=5, num_reads=3: no memory"),
        ("learn", "num_reads is 0: A failed with num_reads=0: x", "--reads is 0: A failed with num_reads=0: x"),
    ],
)
def test_arguments_become_options(command, message, expected):
    assert translate(message, command) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("learn seed=5.csv", "there is no file seed=5.csv"),
        ("learn size=3/data.csv", "there is no file size=3/data.csv"),
        ("plan --variables 5 --divide 3 --annealing-time -1", "--annealing-time is -1"),
        ("plan --variables 5 --divide 3 --subproblems x", "--subproblems is 'x'"),
        ("learn lc.csv --set acyclic=true", "--set acyclic needs subproblems; give their size with --divide K"),
        ("learn lc.csv --set chain_strength=2", "--set chain_strength needs --solver qpu or qpu-emulated"),
        (
            "learn lc.csv --solver order --set rounds=3",
            "the solver order has no setting 'rounds'; its settings are",
        ),
        ("learn lc.csv --solver sa --divide 3 --set direct=true", "dagneal: --set direct=true"),
        ("learn lc.csv --seed 1 --solver sa --set seed=2", "--seed and --set seed are the same setting"),
    ],
)
def test_messages_of_commands(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dn.load("lung-cancer").sample(50, 1).frame().write_csv("lc.csv")
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "--set --set" not in error
