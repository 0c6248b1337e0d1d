"""What each command does."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from dagneal.base.errors import InputError
from dagneal.base.files import check_writable, replacing
from dagneal.cli import journals, learning, quantum, reading, reproduce as reproduction, show, tools
from dagneal.cli.known import knowledge
from dagneal.cli.streams import write_data

learn = learning.learn
resume = journals.resume
score = tools.score
fit = tools.fit
convert = tools.convert
plan = quantum.plan
reproduce = reproduction.reproduce


def sample(options: argparse.Namespace) -> None:
    """`dagneal sample`."""
    from dagneal.data.dataset import decoded
    from dagneal.networks.formats import read_network

    if options.output:
        if Path(options.output).suffix.lower() not in (".csv", ".tsv", ".parquet"):
            raise InputError(f"cannot tell the format of {options.output}; end the name in .csv, .tsv or .parquet")
        check_writable(options.output)
    elif options.json:
        raise InputError("--json tells what was written; give -o FILE as well")
    network = read_network(options.network)
    states = list(network.states.values())
    if options.expected or options.weights:
        data = (
            network.expected(options.rows, options.rounding)
            if options.expected
            else network.sample(options.rows, options.seed)
        )
        rows, frames = data.rows, iter([data.frame(options.weights)])
    else:  # as drawn, block by block
        rows = options.rows
        frames = (decoded(network.names, states, codes) for codes in network.sample_codes(rows, options.seed))
    if options.output is None:
        for position, frame in enumerate(frames):
            write_data(frame.write_csv(include_header=position == 0))
        return
    with replacing(options.output) as file:
        if options.output.lower().endswith(".parquet"):
            import polars

            buffer = io.BytesIO()
            polars.concat(frames).write_parquet(buffer)
            file.write(buffer.getbuffer())
        else:
            separator = "\t" if options.output.lower().endswith(".tsv") else ","
            for position, frame in enumerate(frames):
                file.write(frame.write_csv(separator=separator, include_header=position == 0).encode())
    report = {"network": options.network, "rows": rows, "file": options.output}
    show.result(report, f"{rows:,} rows of {options.network} written to {options.output}", options)


def encode(options: argparse.Namespace) -> None:
    """`dagneal encode`."""
    from dagneal.qubo import export
    from dagneal.qubo.encode import encoding_named, qubos
    from dagneal.qubo.statistics import side_by_side
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import score_named

    if options.output:
        if options.compare:
            raise InputError("--compare writes nothing; leave -o out, or choose with --encoding")
        export.check_format(options.output)
    if options.compare and options.encoding != "tight":
        raise InputError("--compare shows all encodings; leave --encoding out")
    encoding = encoding_named(options.encoding)
    score = score_named(options.score)
    data = reading.data(options)
    with show.progress(options.quiet) as progress:
        table = Scorer(data, score, knowledge=knowledge(options, data.names)).table(options.max_parents, progress=progress)
    if options.compare:
        show.encodings(side_by_side(table, options.ising), table, options)
        return
    found = qubos(table, encoding)
    bqm = found.model(0, table.names)
    if options.ising:
        bqm = bqm.change_vartype("SPIN", inplace=False)
    if options.output:
        export.write_model(bqm, options.output)
    show.encoded(bqm, table, encoding, found.penalties, options)


def compare(options: argparse.Namespace) -> None:
    """`dagneal compare`."""
    from dagneal.networks.comparison import compare
    from dagneal.scoring.scorer import Scorer
    from dagneal.scoring.scores import score_named

    score = score_named(options.score)
    found, truth = reading.graph(options.found), reading.graph(options.truth)
    scorer = Scorer(reading.data(options), score) if options.data else None
    show.comparison(compare(found, truth, scorer), options)


def networks(options: argparse.Namespace) -> None:
    """`dagneal networks`."""
    from dagneal.networks.bif import format_bif
    from dagneal.networks.bundled import NAMES, load

    if options.network:
        network = load(options.network)
        report = {"name": network.name, "states": dict(network.states), "edges": [list(edge) for edge in network.dag.edges]}
        if options.json:
            show.result(report, "", options)
        else:
            write_data(format_bif(network))
        return
    show.networks([(name, load(name)) for name in NAMES], options)
