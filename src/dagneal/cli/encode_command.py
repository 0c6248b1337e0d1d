"""`dagneal encode`: write the search for the best network as a QUBO."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dagneal.base.errors import InputError
from dagneal.base.files import check_format
from dagneal.cli import show
from dagneal.cli.inputs import add_data, add_reading_options, read_data
from dagneal.cli.knowledge_options import add_knowledge_options, read_knowledge_options
from dagneal.cli.parsing import Once, Parser

if TYPE_CHECKING:
    import dimod

    from dagneal.qubo.encode import Encoding
    from dagneal.qubo.penalties import Penalties
    from dagneal.qubo.statistics import Figures
    from dagneal.scoring.table import ScoreTable

SUMMARY = "write the search for the best network as a QUBO"
USAGE = "DATA [options]"
EXAMPLES = """\
examples:
  dagneal encode lc.csv --compare           # the encodings side by side
  dagneal encode lc.csv -o lc.bqm           # dimod.BinaryQuadraticModel.from_file
  dagneal encode lc.csv -o lc.bqm --encoding paper
  dagneal encode lc.csv -o lc.coo --ising   # text: row, column, value, over spins
  dagneal encode lc.csv -o lc.npz           # arrays row, column, value, offset, labels
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    add_data(command)
    add_reading_options(command)
    add_knowledge_options(command)
    words = "tight (default), gap or paper; also complete or chordal, pruned or unpruned, with commas between"
    command.add_argument("--encoding", default="tight", metavar="WORDS", help=words)
    command.add_argument("--compare", action="store_true", help="show what each encoding would need, and write nothing")
    command.add_argument("--ising", action="store_true", help="over spins -1 and +1 instead of binary variables")
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help="where to write it: .bqm, .coo or .npz")


def run(options: argparse.Namespace) -> None:
    """Encode the search, and write the model or compare encodings.

    Args:
        options: of the command.
    """
    from dagneal.qubo.encode import encoding_named, qubos
    from dagneal.qubo.export import FORMATS, write_model
    from dagneal.qubo.statistics import compare_encodings
    from dagneal.runtime.run import Run, ignore_progress
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import score_named

    if options.output:
        if options.compare:
            raise InputError("--compare writes nothing; leave -o out, or choose with --encoding")
        check_format(options.output, FORMATS)
    if options.compare and options.encoding != "tight":
        raise InputError("--compare shows all encodings; leave --encoding out")
    encoding = encoding_named(options.encoding)
    score = score_named(options.score)
    data = read_data(options)
    with show.progress(options.quiet) as progress:
        knowledge = read_knowledge_options(options, data.names)
        table = Scorer(data, score, knowledge, Run(progress=progress or ignore_progress)).table(options.max_parents)
    if options.compare:
        _show_encodings(compare_encodings(table, options.ising), table, options)
        return
    found = qubos(table, encoding)
    bqm = found.model(0, table.names)
    if options.ising:
        bqm = bqm.change_vartype("SPIN", inplace=False)
    if options.output:
        write_model(bqm, options.output)
    _show_model(bqm, table, encoding, found.penalties, options)


def _show_model(
    bqm: dimod.BinaryQuadraticModel,
    table: ScoreTable,
    encoding: Encoding,
    penalties: Penalties,
    options: argparse.Namespace,
) -> None:
    """Print what a QUBO is like."""
    from dagneal.qubo.statistics import figures
    from dagneal.qubo.variables import KINDS

    found = figures(bqm)
    kinds_of = (penalties.transitivity, penalties.consistency, penalties.exclusion)
    weights = [float(values.max(initial=0.0)) for values in kinds_of]  # the largest, where they differ
    report = found.to_dict() | {
        "encoding": encoding.name,
        "vartype": bqm.vartype.name,
        "offset": float(bqm.offset),
        "delta_max": dict(zip(table.names, penalties.maximum[0].tolist(), strict=True)),  # 0 where there is no H_max
        "delta_trans": weights[0],
        "delta_consist": weights[1],
        "delta_exclude": weights[2],
        "max_parents": table.max_parents,
        "file": options.output,
    }
    kinds = ", ".join(f"{found.bits_by_kind[kind]} {name}" for kind, name in KINDS.items() if found.bits_by_kind[kind])
    text = (
        f"{found.bits} {'spins' if options.ising else 'bits'} ({kinds}), {found.interactions} interactions, "
        f"offset {bqm.offset:.6f}\n"
        f"{encoding.name}: delta_max up to {penalties.maximum.max():.3f}, delta_trans {weights[0]:.3f}, "
        f"delta_consist {weights[1]:.3f}"
        + (f", delta_exclude {weights[2]:.3f}\n" if weights[2] else "\n")
        + f"coefficients {found.smallest:.3f} to {found.largest:.3f} ({found.range_bits:.1f} bits), "
        f"treewidth {found.treewidth}"
    )
    show.result(report, text + (f"\nwritten to {options.output}" if options.output else ""), options)


def _show_encodings(found: dict[Encoding, Figures | str], table: ScoreTable, options: argparse.Namespace) -> None:
    """Print the encodings of a table side by side."""
    unit = "spins" if options.ising else "bits"
    lines = [
        f"{len(table.names)} variables, at most {table.max_parents} parents, {len(table.scores):,} scores; "
        f"coefficients over {unit}",
        "",
        f"{'encoding':26} {unit:>6} {'edge':>6} {'slack':>6} {'order':>6} {'aux.':>6} {'products':>9} "
        f"{'largest':>12} {'smallest':>12} {'range':>9} {'treewidth':>10}",
    ]
    report: list[dict[str, Any]] = []
    for encoding, figures in found.items():
        if isinstance(figures, str):
            report.append({"encoding": encoding.name, "refused": figures})
            lines.append(f"{encoding.name:26} {figures}")
            continue
        report.append({"encoding": encoding.name} | figures.to_dict())
        kinds = " ".join(f"{number:6}" for number in figures.bits_by_kind.values())
        lines.append(
            f"{encoding.name:26} {figures.bits:6} {kinds} {figures.interactions:9} {figures.largest:12.3f} "
            f"{figures.smallest:12.6f} {figures.range_bits:4.1f} bits {figures.treewidth:10}"
        )
    show.result(
        {"max_parents": table.max_parents, "vartype": "SPIN" if options.ising else "BINARY", "encodings": report},
        "\n".join(lines),
        options,
    )
