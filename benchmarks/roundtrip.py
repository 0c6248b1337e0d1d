"""Write and read BIF files with dagneal, and read them with pyAgrum.

Usage: python benchmarks/roundtrip.py FOLDER   a folder with .bif or .bif.gz files
"""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
import numpy as np

import dagneal as dn
from dagneal.networks.bif import format_bif, make_labels_safe, parse_bif

PYAGRUM = """
import json, sys, numpy as np, pyagrum as gum
bn = gum.loadBN(sys.argv[1])
tables = {}
for name in bn.names():
    cpt, number = bn.cpt(name), bn.idFromName(name)
    np.save(f"{sys.argv[2]}/{number}.npy", cpt.toarray())
    tables[name] = [list(bn.variable(name).labels()), list(cpt.names), number]
json.dump(tables, open(f"{sys.argv[2]}/tables.json", "w"))
"""


def compare_with_pyagrum(network: dn.BayesianNetwork, folder: str) -> tuple[bool, float]:
    """Return whether pyAgrum reads the same states and parents, and the largest difference of a probability."""
    path = Path(folder) / "network.bif"
    path.write_text(format_bif(network))
    subprocess.run([sys.executable, "-c", PYAGRUM, str(path), folder], check=True, capture_output=True)
    tables = json.loads((Path(folder) / "tables.json").read_text())
    same, worst = set(tables) == set(network.names), 0.0
    for name, (labels, names, number) in tables.items():
        axes, own = names[::-1], [*network.parents[name], name]
        same = same and tuple(labels) == network.states[name] and set(axes) == set(own)
        values = np.transpose(np.load(f"{folder}/{number}.npy"), [axes.index(v) for v in own])
        worst = max(worst, float(np.abs(values - network.cpts[name]).max()))
    return same, worst


def survives_roundtrip(network: dn.BayesianNetwork) -> bool:
    """Return whether dagneal reads the same network that it wrote."""
    again = parse_bif(format_bif(network), "again")
    same = dict(again.states) == dict(network.states) and dict(again.parents) == dict(network.parents)
    return same and all(np.array_equal(again.cpts[name], network.cpts[name]) for name in network.names)


if __name__ == "__main__":
    with harness.start("roundtrip", __doc__, ("folder", {})) as bench:
        heads = ("network", "variables", "same in dagneal", "same in pyAgrum", "largest difference", "s")
        table = harness.Table(bench, heads)
        for path in sorted(Path(bench.options.folder).glob("*.bif*"))[: 1 if bench.small else None]:
            start = time.perf_counter()
            content = path.read_bytes()
            network = parse_bif((gzip.decompress(content) if path.suffix == ".gz" else content).decode(), path.name)
            ours = survives_roundtrip(network)
            with tempfile.TemporaryDirectory() as folder:
                same, worst = compare_with_pyagrum(make_labels_safe(network), folder)
            spent = time.perf_counter() - start
            cells = (path.name, len(network.names), ours, same, f"{worst:.1e}", f"{spent:.1f}")
            table.row(path.name, cells, spent, exact=(ours, same))
            if not (ours and same):
                bench.problems.append(f"{path.name} changes when written and read")
