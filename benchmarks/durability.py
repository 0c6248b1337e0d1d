"""kill -9 at random moments of a divided run and of a bootstrap; resumed, each must end byte for byte as if undisturbed.

The same runs on a Dask cluster of three worker processes, where a worker is killed, and another one comes for it.

Use: python benchmarks/durability.py [MOMENTS]   fifty by default, for each of the four
"""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import harness

import dagneal as dn

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.daskcluster import Cluster

RUNS = {
    "divided by simulated annealing": "--solver sa --divide 4 --rule penalty --reads 30 --seed 3 --set encoding=tight",
    "bootstrap": "--bootstrap 60 --max-parents 3",
}
SCORE = ["--score", "bdeu:1"]
WORKERS = 3


def dagneal(folder: Path, *words: str) -> subprocess.Popen:
    program = [sys.executable, "-m", "dagneal", *words]
    return subprocess.Popen(program, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def answer(folder: Path) -> tuple[str, bytes]:
    """The result without its times, and the network that is written from it."""
    assert dagneal(folder, "convert", "out.json", "net.bif", "--quiet").wait() == 0
    found = json.loads((folder / "out.json").read_text())
    found.pop("seconds")
    return json.dumps(found), (folder / "net.bif").read_bytes()


def run(folder: Path, words: list[str], resume: bool) -> None:
    """Run to the end."""
    process = dagneal(folder, "resume", "run.db", "--quiet") if resume else dagneal(folder, *words)
    _, said = process.communicate()
    if resume and b"does not say what command" in said:  # it was killed before it had read the data
        process = dagneal(folder, *words)
        _, said = process.communicate()
    assert process.returncode == 0, said


def killed_and_resumed(folder: Path, words: list[str], after: float) -> bool:
    """Kill the run, resume it; whether it was still running."""
    process = dagneal(folder, *words)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    run(folder, words, resume=(folder / "run.db").exists())
    return process.returncode == -signal.SIGKILL


def worker_killed(dask: Cluster, folder: Path, words: list[str], after: float) -> bool:
    """Kill a worker of the run, and let another come for it; whether the run was not over yet."""
    process = dagneal(folder, *words, "--dask", dask.address)
    time.sleep(after)
    running = process.poll() is None
    victim = dask.workers.pop(0)
    victim.kill()
    victim.wait()
    dask.workers.append(dask.worker())
    _, said = process.communicate()
    assert process.returncode == 0, said
    return running


def disturb_often(
    bench: harness.Benchmark,
    name: str,
    place: Path,
    words: list[str],
    more: list[str],
    disturb: Callable[[Path, list[str], float], bool],
    moments: int,
) -> None:
    """Disturb a run at random moments, and compare what comes out with that of a run left alone, without a cluster."""
    whole = place / "whole"
    whole.mkdir(parents=True)
    run(whole, words, resume=False)
    expected = answer(whole)
    timed = place / "timed"
    timed.mkdir()
    begun = time.perf_counter()
    run(timed, [*words, *more], resume=False)
    usual = time.perf_counter() - begun
    hit = same = 0
    generator = random.Random(1)
    for moment in range(moments):
        folder = place / str(moment)
        folder.mkdir()
        hit += disturb(folder, words, generator.uniform(0.0, 1.0) * usual)
        same += answer(folder) == expected
    bench.info(f"{name}: still running when it was killed, of {moments}", hit)
    bench.exact(f"{name}: ended as the undisturbed run, of {moments}", same, equal_to=moments)


def main(bench: harness.Benchmark, moments: int) -> None:
    with tempfile.TemporaryDirectory() as place, Cluster(Path(place), WORKERS) as dask:
        rows = Path(place) / "rows.csv"
        dn.load("waste").sample(2_000, 1).frame().write_csv(rows)
        for number, (name, options) in enumerate(RUNS.items()):
            words = ["learn", str(rows), *SCORE, *options.split(), "--quiet", "--journal", "run.db", "-o", "out.json"]
            disturb_often(bench, name, Path(place) / f"{number}", words, [], killed_and_resumed, moments)
            on_dask = ["--dask", dask.address]
            disturb_often(
                bench,
                f"{name}, a Dask worker",
                Path(place) / f"{number}-dask",
                words,
                on_dask,
                partial(worker_killed, dask),
                moments,
            )


if __name__ == "__main__":
    with harness.start("durability", __doc__, ("moments", {"nargs": "?", "type": int, "default": 50})) as benchmark:
        main(benchmark, 1 if benchmark.small else benchmark.options.moments)
