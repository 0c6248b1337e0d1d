"""Functions that read the configuration of a command and convert it to command-line arguments.

A configuration is a dictionary of the options that differ from their defaults, by Python name, such as `max_parents`. It
comes from the command line, from the TOML file of `--config`, or from a journal. The parser always checks every value.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from dagneal.base.errors import InputError, hint, short_repr
from dagneal.base.toml import read_toml
from dagneal.base.version import __version__
from dagneal.cli.parsing import Help, Parser, join_names, parse_value, split_names, split_numbers, split_sizes

COMMANDS = (
    *("learn", "prepare", "confidence", "check", "sample", "encode", "compare", "score", "fit", "convert"),
    *("query", "predict", "impute"),
    *("plan", "reproduce", "networks", "resume", "warm-up"),
)
_EXCLUDED = ("help", "config")  # not part of a configuration

# Settings of the solver that readers expect as options of their own.
_WRITTEN_AS = {"--precision": "--set encoding=paper,single", "--encoding": "--set encoding=paper"}


def load_command(name: str) -> Any:
    """Import and return the module of a command.

    Args:
        name: name of the command.
    """
    return import_module(f"dagneal.cli.{name.replace('-', '_')}_command")


def parser(command: str | None = None) -> Parser:
    """Return the parser of `dagneal`.

    Args:
        command: name of a command, to load only this command; None to load all commands.
    """
    top = Parser(
        prog="dagneal",
        description="Learn Bayesian networks from data with annealers and exact solvers.",
        epilog="Example: dagneal sample lung-cancer -o lc.csv && dagneal learn lc.csv",
        formatter_class=Help,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"dagneal {__version__}")
    commands = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS if command is None else (command,):
        _add_command(commands, name)
    return top


def _add_command(commands: argparse._SubParsersAction[Parser], name: str) -> None:
    """Add the parser of a command, with the options that all commands share."""
    module = load_command(name)
    command = commands.add_parser(
        name,
        help=module.SUMMARY,
        description=module.SUMMARY[0].upper() + module.SUMMARY[1:] + ".",
        usage=f"dagneal {name} {module.USAGE}",
        epilog=module.EXAMPLES,
        formatter_class=Help,
        allow_abbrev=False,
    )
    command.add_argument("--json", action="store_true", help="print the result as one JSON object")
    command.add_argument("--quiet", action="store_true", help="print no progress and no notes")
    command.add_argument("--jobs", type=int, metavar="N", help="number of cores to use (default: all)")
    command.add_argument("--memory", metavar="SIZE", help="memory limit, such as 2GB (default: the free memory)")
    module.add_options(command)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command. Options that are not given come from the file of `--config`, if any.

    Args:
        words: arguments after the word `dagneal`.

    Returns:
        The parsed options. Their attribute `configuration` is a dictionary of the options that differ from their defaults.
    """
    words = list(words)
    if any(word == "--config" or word.startswith("--config=") for word in words):
        words = _add_file(words)
    top = parser(words[0] if words and words[0] in COMMANDS else None)
    options, unknown = top.parse_known_args(words)
    if unknown:
        _report_unknown(options.command, unknown, top)
    options.configuration = _configuration(options, top)
    return options


def _report_unknown(command: str, unknown: Sequence[str], top: Parser) -> NoReturn:
    """Report unknown arguments and suggest the closest option."""
    options = [text for action in _actions(command, top) for text in action.option_strings]
    first = unknown[0].partition("=")[0]
    close = hint(first, options) if first.startswith("-") else ""
    if first in _WRITTEN_AS and "--set" in options:
        close = f"; write {_WRITTEN_AS[first]}"
    _subparser(command, top).error(f"unrecognized arguments: {' '.join(unknown)}{close}")


def to_arguments(command: str, configuration: Mapping[str, Any], where: str = "the configuration") -> list[str]:
    """Return the command-line arguments for a configuration.

    Args:
        command: name of the command.
        configuration: value of each option, by Python name.
        where: source of the configuration, for error messages.

    >>> to_arguments("learn", {"data": "rows.csv", "solver": "sa", "settings": {"num_sweeps": 50}, "columns": ["a", "b"]})
    ['learn', 'rows.csv', '--columns', 'a,b', '--solver', 'sa', '--set', 'num_sweeps=50']
    """
    options, positionals = _split_arguments(command, configuration, where)
    return [command, *options, *positionals] if positionals[:1] == ["--"] else [command, *positionals, *options]


def _split_arguments(command: str, configuration: Mapping[str, Any], where: str) -> tuple[list[str], list[str]]:
    """Return two lists of texts: the options and the positional arguments.

    If a positional argument looks like an option, the second list starts with `--`.
    """
    actions = {action.dest: action for action in _actions(command) if action.dest not in _EXCLUDED}
    for name in configuration:
        if name not in actions:
            raise InputError(f"{where}: dagneal {command} has no option {name!r}{hint(str(name), actions)}")
    positionals, options = list[str](), list[str]()
    for name, action in actions.items():
        if name in configuration:
            for text in _texts(action, configuration[name], f"{where}: {name}"):
                if not action.option_strings:
                    positionals.append(text)
                elif text is None:
                    options.append(action.option_strings[0])
                elif text.startswith("-") and text != "-":
                    options.append(f"{action.option_strings[-1]}={text}")
                else:
                    options += [action.option_strings[0], text]
    dashes = ["--"] if any(text.startswith("-") and text != "-" for text in positionals) else []
    return options, dashes + positionals


def option_names(command: str) -> dict[str, str]:
    """Return a dictionary from Python names, such as `max_parents`, to options of a command, such as `--max-parents`.

    Args:
        command: name of the command.
    """
    return {action.dest: action.option_strings[-1] for action in _actions(command) if action.option_strings}


def _actions(command: str, top: Parser | None = None) -> list[argparse.Action]:
    """Return the arguments and options of a command."""
    return list(_subparser(command, top or parser(command))._actions)


def _subparser(command: str, top: Parser) -> Parser:
    """Return the parser of a command."""
    commands = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    subparser: Parser = commands.choices[command]
    return subparser


def _configuration(options: argparse.Namespace, top: Parser) -> dict[str, Any]:
    """Return a dictionary of the options that differ from their defaults, by Python name."""
    configuration = {}
    for action in _actions(options.command, top):
        if action.dest not in _EXCLUDED and (value := getattr(options, action.dest)) != action.default:
            configuration[action.dest] = dict(value) if action.dest == "settings" else value
    return configuration


def _add_file(words: list[str]) -> list[str]:
    """Return the arguments in `words` together with the options in the file of `--config`.

    The arguments override the options in the file, but solver settings are merged.
    """
    command = next((word for word in words if word in COMMANDS), COMMANDS[0])
    top = parser(command)
    for action in _actions(command, top):
        action.default = argparse.SUPPRESS
    given = vars(top.parse_known_args(words)[0])
    if given.get("config") is None:
        return words
    values = read_toml(given["config"])
    if values.pop("command", command) != command:
        raise InputError(f"{given['config']} is a configuration of another command, not of `dagneal {command}`")
    settings = values.get("settings", {})
    own = dict(given.get("settings", []))
    if isinstance(settings, dict):
        values["settings"] = {name: value for name, value in settings.items() if name not in own}
    taken = {*given} - {"settings", "config"}
    if taken & {"solver", "sampler"}:  # solver and sampler exclude each other
        taken |= {"solver", "sampler"}
    rest = {name: value for name, value in values.items() if name not in taken}
    options, positionals = _split_arguments(command, rest, given["config"])
    at = words.index(command) + 1
    return [*words[:at], *options, *words[at:], *positionals]


def _texts(action: argparse.Action, value: Any, where: str) -> list[Any]:
    """Convert the value of an option to a list of texts. The command line has the option once for each text.

    For a flag, such as `--json`, the list is [None] if the flag is set, and empty if not.
    """
    if isinstance(action, argparse._StoreTrueAction):
        if not isinstance(value, bool):
            raise InputError(f"{where} is {short_repr(value)}; give true or false")
        return [None] if value else []
    if action.dest == "settings" or (action.dest in _WRITERS and isinstance(value, dict | list)):
        return _WRITERS[action.dest](value, where)
    if isinstance(action, argparse._AppendAction) or action.nargs == "*":
        return [_text(item, where) for item in (value if isinstance(value, list) else [value])]
    if action.type in (split_names, split_numbers, split_sizes):
        texts = [_text(item, where) for item in _list(value, where)]
        return [join_names(texts) if action.type is split_names else ",".join(texts)] if texts else []
    return [_text(value, where)]


def _setting_texts(value: Any, where: str) -> list[str]:
    """Convert solver settings to texts such as NAME=VALUE."""
    if not isinstance(value, dict) or not all(isinstance(name, str) and name for name in value):
        raise InputError(f"{where} is {short_repr(value)}; give a table, such as [settings] with num_sweeps = 5000")
    return [f"{name}={_value_text(_plain(setting, f'{where}.{name}'))}" for name, setting in value.items()]


def _bin_texts(value: Any, where: str) -> list[str]:
    """Convert bins to texts such as NAME=KIND:N. The empty name stands for all columns and gives KIND:N."""
    if isinstance(value, list):
        return [_text(item, where) for item in value]
    return [f"{name}={_text(bins, where)}" if name else _text(bins, where) for name, bins in value.items()]


def _edge_texts(value: Any, where: str) -> list[str]:
    """Convert edges to texts such as PARENT:CHILD."""
    edges = value if isinstance(value, list) else [value]
    return [":".join(_text(end, where) for end in edge) if isinstance(edge, list) else _text(edge, where) for edge in edges]


def _probability_texts(value: Any, where: str) -> list[str]:
    """Convert probabilities of edges to texts such as PARENT:CHILD=P."""
    if isinstance(value, dict):  # with keys such as "PARENT -> CHILD"
        value = [[*edge.split("->"), p] for edge, p in value.items()]
    texts = []
    for item in _list(value, where):
        if isinstance(item, list) and len(item) == 3:
            parent, child, p = (_text(part, where).strip() for part in item)
            item = f"{parent}:{child}={p}"
        texts.append(_text(item, where))
    return texts


def _knowledge_texts(value: Any, where: str) -> list[str]:
    """Convert background knowledge to a JSON text."""
    if not isinstance(value, dict):
        raise InputError(f"{where} is {short_repr(value)}; give a table or the path of a file")
    return [json.dumps(_plain(value, where))]


def _tier_texts(value: Any, where: str) -> list[str]:
    """Convert tiers to a text such as A,B:C,D."""
    if not isinstance(value, list):
        raise InputError(f"{where} is {short_repr(value)}; give a list of lists of names")
    return [":".join(join_names([_text(name, where) for name in _list(group, where)]) for group in value)] if value else []


# For each option: function that converts tables and lists of a configuration file to command-line texts.
_WRITERS = {
    "settings": _setting_texts,
    "bins": _bin_texts,
    "required": _edge_texts,
    "forbidden": _edge_texts,
    "probabilities": _probability_texts,
    "knowledge": _knowledge_texts,
    "tiers": _tier_texts,
}


def _text(value: Any, where: str) -> str:
    """Convert a text or a number to a command-line text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{where} is {short_repr(value)}; give a text or a number")
    if isinstance(value, str) and "\0" in value:
        raise InputError(f"{where} contains a null byte; remove it")
    return str(value)


def _plain(value: Any, where: str) -> Any:
    """Convert a value from a TOML file to JSON types; raise an error for dates and times, which JSON does not have."""
    try:
        return json.loads(json.dumps(value))
    except TypeError as error:
        raise InputError(
            f"{where} contains a date or a time; give a text, a number, true, false, a list or a table"
        ) from error


def _value_text(value: Any) -> str:
    """Convert a setting to a text that `parse_value` converts back to the same value."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) and parse_value(value) == value else repr(value)


def _list(value: Any, where: str) -> list[Any]:
    """Return a list unchanged; return a single text or number as a list with this one item."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return [value]
    if not isinstance(value, list):
        raise InputError(f"{where} is {short_repr(value)}; give a list")
    return value
