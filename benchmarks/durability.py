"""kill -9 at random moments of a divided run and of a bootstrap; resumed, each must end byte for byte as if undisturbed.

Use: python durability.py [MOMENTS]   fifty by default, for each of the two
"""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import line

import dagneal as dn

RUNS = {
    "divided by simulated annealing": [
        "--solver",
        "sa",
        "--divide",
        "4",
        "--rule",
        "penalty",
        "--reads",
        "30",
        "--seed",
        "3",
    ],
    "bootstrap": ["--bootstrap", "60", "--max-parents", "3"],
}


def dagneal(folder: Path, *words: str) -> subprocess.Popen:
    program = [sys.executable, "-m", "dagneal", *words]
    return subprocess.Popen(program, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def answer(folder: Path) -> tuple[str, bytes]:
    """The result without its times, and the network."""
    found = json.loads((folder / "out.json").read_text())
    found.pop("seconds")
    return json.dumps(found), (folder / "net.bif").read_bytes()


def run(folder: Path, words: list[str], resume: bool) -> None:
    """Run to the end, and write the network from the result."""
    process = dagneal(folder, "resume", "run.db", "--quiet") if resume else dagneal(folder, *words)
    _, said = process.communicate()
    if resume and b"does not say what command" in said:  # it was killed before it had read the data
        process = dagneal(folder, *words)
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert dagneal(folder, "convert", "out.json", "net.bif", "--quiet").wait() == 0


def main(moments: int) -> None:
    for name, options in RUNS.items():
        with tempfile.TemporaryDirectory() as place:
            rows = Path(place) / "rows.csv"
            dn.load("waste").sample(2_000, 1).frame().write_csv(rows)
            words = ["learn", str(rows), *options, "--quiet", "--journal", "run.db", "-o", "out.json"]
            whole = Path(place) / "whole"
            whole.mkdir()
            begun = time.perf_counter()
            run(whole, words, resume=False)
            usual = time.perf_counter() - begun
            expected, cut, same = answer(whole), 0, 0
            generator = random.Random(1)
            for moment in range(moments):
                folder = Path(place) / str(moment)
                folder.mkdir()
                process = dagneal(folder, *words)
                time.sleep(generator.uniform(0.0, 1.0) * usual)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                cut += process.returncode == -signal.SIGKILL
                run(folder, words, resume=(folder / "run.db").exists())
                same += answer(folder) == expected
            line(f"{name}: killed {cut} times in {moments}, ended as the undisturbed run", f"{same} of {moments}", "all")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
