"""`dagneal encode`: encode structure learning as a QUBO, or write the scores of parent sets."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.errors import InputError
from dagneal.base.files import SCORE_FILES, check_format
from dagneal.base.text import plural
from dagneal.cli import show
from dagneal.cli.inputs import add_data, add_reading_options, read_data, read_table
from dagneal.cli.knowledge_options import add_knowledge_options, read_knowledge_options
from dagneal.cli.parsing import Once, Parser

if TYPE_CHECKING:
    import dimod

    from dagneal.qubo.encode import Encoding
    from dagneal.qubo.penalties import Penalties
    from dagneal.qubo.statistics import EncodingStatistics
    from dagneal.scoring.table import ScoreTable

SUMMARY = "encode structure learning as a QUBO"
USAGE = "DATA [options]"
EXAMPLES = """\
examples:
  dagneal encode lc.csv --compare           # compare the sizes of all encodings
  dagneal encode lc.csv -o lc.bqm           # for dimod.BinaryQuadraticModel.from_file
  dagneal encode lc.csv -o lc.bqm --encoding paper
  dagneal encode lc.csv -o lc.coo --ising   # spins; text lines with row, column and value
  dagneal encode lc.csv -o lc.npz           # NumPy arrays row, column, value, offset, labels
  dagneal encode lc.csv -o lc.jkl           # scores of all parent sets, for GOBNILP, BLIP and other tools
  dagneal encode lc.jkl -o lc.bqm           # encode scores instead of data
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    add_data(command, f"largest number of parents (default {PAPER_PARENTS})")
    add_reading_options(command)
    add_knowledge_options(command)
    words = (
        "penalties: tight (default), gap or paper; optionally add complete or chordal, pruned or unpruned, and double or "
        "single (precision), such as paper,single"
    )
    command.add_argument("--encoding", default="tight", metavar="WORDS", help=words)
    command.add_argument("--compare", action="store_true", help="print the sizes of all encodings; write no file")
    command.add_argument("--ising", action="store_true", help="use spins (-1, +1) instead of binary variables")
    output = "output file: .bqm, .coo or .npz for the QUBO; .jkl, .scores or .jaa for the scores within the parent limit"
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help=output)


def run(options: argparse.Namespace) -> None:
    """Encode structure learning, then write the QUBO or the scores to a file, or compare encodings.

    Args:
        options: parsed options of the command.
    """
    from dagneal.qubo.encode import parse_encoding, qubos
    from dagneal.qubo.export import FORMATS, write_model
    from dagneal.qubo.statistics import compare_encodings
    from dagneal.runtime.run import Run, ignore_progress
    from dagneal.scoring.scorefiles import is_score_file, write_scores
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import parse_score

    if options.output:
        if options.compare:
            raise InputError("--compare writes no file; omit -o, or give --encoding instead of --compare")
        check_format(options.output, (*FORMATS, *SCORE_FILES))
    writes_scores = options.output is not None and is_score_file(options.output)
    if writes_scores and (options.ising or options.encoding != "tight"):
        option = "--ising" if options.ising else "--encoding"
        raise InputError(f"{option} changes a QUBO, but {options.output} contains only scores; omit {option}")
    if options.compare and options.encoding != "tight":
        raise InputError("--compare shows all encodings; omit --encoding")
    encoding = parse_encoding(options.encoding)
    score = parse_score(options.score)
    table = read_table(options)
    if table is None:
        data = read_data(options)
        with show.progress(options.quiet) as progress:
            knowledge = read_knowledge_options(options, data.names)
            table = Scorer(data, score, knowledge, Run(progress=progress or ignore_progress)).table(options.max_parents)
    if writes_scores:
        write_scores(table, options.output)
        _show_scores(table, options)
        return
    if options.compare:
        _show_encodings(compare_encodings(table, options.ising), table, options)
        return
    models = qubos(table, encoding)
    bqm = models.model(0, table.names)
    if options.ising:
        bqm = bqm.change_vartype("SPIN", inplace=False)
    if options.output:
        write_model(bqm, options.output)
    _show_model(bqm, table, encoding, models.penalties, options)


def _show_scores(table: ScoreTable, options: argparse.Namespace) -> None:
    """Print the size of a score table that was written to a file."""
    size = {"variables": len(table.names), "scores": len(table.scores), "max_parents": table.max_parents}
    text = f"{size['variables']} variables, at most {plural(table.max_parents, 'parent')}, {size['scores']:,} scores"
    show.result(size | {"file": options.output}, f"{text}\nwritten to {options.output}", options)


def _show_model(
    bqm: dimod.BinaryQuadraticModel,
    table: ScoreTable,
    encoding: Encoding,
    penalties: Penalties,
    options: argparse.Namespace,
) -> None:
    """Print the size and the coefficients of a QUBO."""
    from dagneal.qubo.statistics import encoding_statistics
    from dagneal.qubo.variables import KINDS

    statistics = encoding_statistics(bqm)
    groups = (penalties.transitivity, penalties.consistency, penalties.exclusion)
    weights = [float(values.max(initial=0.0)) for values in groups]  # largest penalty of each group
    report = statistics.to_dict() | {
        "encoding": encoding.name,
        "vartype": bqm.vartype.name,
        "offset": float(bqm.offset),
        "delta_max": dict(zip(table.names, penalties.maximum[0].tolist(), strict=True)),  # 0 without the term H_max
        "delta_trans": weights[0],
        "delta_consist": weights[1],
        "delta_exclude": weights[2],
        "max_parents": table.max_parents,
        "file": options.output,
    }
    kinds = ", ".join(
        f"{statistics.variables_by_kind[kind]} {name}" for kind, name in KINDS.items() if statistics.variables_by_kind[kind]
    )
    text = (
        f"{statistics.qubo_variables} {'spins' if options.ising else 'variables'} ({kinds}), "
        f"{statistics.interactions} interactions, offset {bqm.offset:.6f}\n"
        f"{encoding.name}: delta_max up to {penalties.maximum.max():.3f}, delta_trans {weights[0]:.3f}, "
        f"delta_consist {weights[1]:.3f}"
        + (f", delta_exclude {weights[2]:.3f}\n" if weights[2] else "\n")
        + f"coefficients {statistics.smallest:.3f} to {statistics.largest:.3f} ({statistics.range_bits:.1f} bits), "
        f"treewidth {statistics.treewidth}"
    )
    show.result(report, text + (f"\nwritten to {options.output}" if options.output else ""), options)


def _show_encodings(
    encodings: dict[Encoding, EncodingStatistics | str], table: ScoreTable, options: argparse.Namespace
) -> None:
    """Print the statistics of several encodings as a table."""
    unit = "spins" if options.ising else "binary variables"
    column = "spins" if options.ising else "variables"
    lines = [
        f"{len(table.names)} columns, at most {table.max_parents} parents, {len(table.scores):,} scores; "
        f"coefficients for {unit}",
        "",
        f"{'encoding':26} {column:>9} {'edge':>6} {'slack':>6} {'order':>6} {'aux.':>6} {'interactions':>12} "
        f"{'largest':>12} {'smallest':>12} {'range':>9} {'treewidth':>10}",
    ]
    report: list[dict[str, Any]] = []
    for encoding, statistics in encodings.items():
        if isinstance(statistics, str):
            report.append({"encoding": encoding.name, "refused": statistics})
            lines.append(f"{encoding.name:26} {statistics}")
            continue
        report.append({"encoding": encoding.name} | statistics.to_dict())
        kinds = " ".join(f"{number:6}" for number in statistics.variables_by_kind.values())
        lines.append(
            f"{encoding.name:26} {statistics.qubo_variables:9} {kinds} {statistics.interactions:12} "
            f"{statistics.largest:12.3f} {statistics.smallest:12.6f} {statistics.range_bits:4.1f} bits "
            f"{statistics.treewidth:10}"
        )
    show.result(
        {"max_parents": table.max_parents, "vartype": "SPIN" if options.ising else "BINARY", "encodings": report},
        "\n".join(lines),
        options,
    )
