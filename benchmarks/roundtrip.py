"""BIF files of a folder through our reader and writer, and pyAgrum's reader: python benchmarks/roundtrip.py FOLDER"""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dagneal.networks.bif import format_bif, parse_bif
from dagneal.networks.formats import with_safe_labels

THEIRS = """
import json, sys, numpy as np, pyagrum as gum
bn = gum.loadBN(sys.argv[1])
found = {}
for name in bn.names():
    cpt, number = bn.cpt(name), bn.idFromName(name)
    np.save(f"{sys.argv[2]}/{number}.npy", cpt.toarray())
    found[name] = [list(bn.variable(name).labels()), list(cpt.names), number]
json.dump(found, open(f"{sys.argv[2]}/found.json", "w"))
"""


def compared(network, folder: str) -> tuple[bool, float]:
    """Whether pyAgrum reads the same states and parents, and the largest difference of a probability."""
    path = Path(folder) / "network.bif"
    path.write_text(format_bif(network))
    subprocess.run([sys.executable, "-c", THEIRS, str(path), folder], check=True, capture_output=True)
    found = json.loads((Path(folder) / "found.json").read_text())
    same, worst = set(found) == set(network.names), 0.0
    for name, (labels, names, number) in found.items():
        axes, own = names[::-1], [*network.parents[name], name]
        same = same and tuple(labels) == network.states[name] and set(axes) == set(own)
        theirs = np.transpose(np.load(f"{folder}/{number}.npy"), [axes.index(v) for v in own])
        worst = max(worst, float(np.abs(theirs - network.cpts[name]).max()))
    return same, worst


print(
    "| network | variables | ours again | pyAgrum: states and parents | largest difference | s |\n|---|---|---|---|---|---|"
)
for path in sorted(Path(sys.argv[1]).glob("*.bif*")):
    begun = time.perf_counter()
    content = path.read_bytes()
    network = parse_bif((gzip.decompress(content) if path.suffix == ".gz" else content).decode(), path.name)
    again = parse_bif(format_bif(network), "again")
    ours = dict(again.states) == dict(network.states) and dict(again.parents) == dict(network.parents)
    ours = ours and all(np.array_equal(again.cpts[name], network.cpts[name]) for name in network.names)
    with tempfile.TemporaryDirectory() as folder:
        same, worst = compared(with_safe_labels(network), folder)
    spent = time.perf_counter() - begun
    print(f"| {path.name} | {len(network.names)} | {ours} | {same} | {worst:.1e} | {spent:.1f} |", flush=True)
