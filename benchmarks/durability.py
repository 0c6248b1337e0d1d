"""Kill a divided run and a bootstrap with SIGKILL at random moments. A resumed run must give the same bytes as a full run.

The same runs also use a Dask cluster of three worker processes. There a worker is killed and replaced.

Usage: python benchmarks/durability.py [MOMENTS]   number of kills for each of the four runs, fifty by default
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
from support.solving import without_times

RUNS = {
    # D-Wave's annealer is slow enough to be killed many times.
    "divided by simulated annealing": "--sampler dwave.samplers:SimulatedAnnealingSampler --divide 4 --rule penalty "
    "--reads 30 --seed 3 --set encoding=tight",
    "bootstrap": "--bootstrap 60 --max-parents 3",
}
SCORE = ["--score", "bdeu:1"]
WORKERS = 3
NO_COMMAND = b"stores no command"  # error of `dagneal resume` if the journal has no command


def dagneal(folder: Path, *words: str) -> subprocess.Popen:
    program = [sys.executable, "-m", "dagneal", *words]
    return subprocess.Popen(program, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read_result(folder: Path) -> tuple[str, bytes]:
    """Return the result without its times, and the network as BIF."""
    assert dagneal(folder, "convert", "out.json", "net.bif", "--quiet").wait() == 0
    result = without_times(json.loads((folder / "out.json").read_text()))
    return json.dumps(result), (folder / "net.bif").read_bytes()


def run(folder: Path, words: list[str], resume: bool) -> None:
    """Run or resume a command until it ends."""
    process = dagneal(folder, "resume", "run.db", "--quiet") if resume else dagneal(folder, *words)
    _, error = process.communicate()
    if resume and NO_COMMAND in error:  # it was killed before it read the data
        process = dagneal(folder, *words)
        _, error = process.communicate()
    assert process.returncode == 0, error


def kill_and_resume(folder: Path, words: list[str], after: float) -> bool:
    """Kill a run and resume it. Return whether it was still running."""
    process = dagneal(folder, *words)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    run(folder, words, resume=(folder / "run.db").exists())
    return process.returncode == -signal.SIGKILL


def kill_worker(dask: Cluster, folder: Path, words: list[str], after: float) -> bool:
    """Kill a worker during a run and start another. Return whether the run was still active."""
    process = dagneal(folder, *words, "--dask", dask.address)
    time.sleep(after)
    running = process.poll() is None
    victim = dask.workers.pop(0)
    victim.kill()
    victim.wait()
    dask.workers.append(dask.start_worker())
    _, error = process.communicate()
    assert process.returncode == 0, error
    return running


def disturb_repeatedly(
    bench: harness.Benchmark,
    name: str,
    place: Path,
    words: list[str],
    more: list[str],
    disturb: Callable[[Path, list[str], float], bool],
    moments: int,
) -> None:
    """Disturb a run at random moments, and compare each result with that of an undisturbed run without a cluster."""
    undisturbed = place / "undisturbed"
    undisturbed.mkdir(parents=True)
    run(undisturbed, words, resume=False)
    expected = read_result(undisturbed)
    timed = place / "timed"
    timed.mkdir()
    start = time.perf_counter()
    run(timed, [*words, *more], resume=False)
    duration = time.perf_counter() - start
    hit = same = 0
    generator = random.Random(1)
    for moment in range(moments):
        folder = place / str(moment)
        folder.mkdir()
        hit += disturb(folder, words, generator.uniform(0.0, 1.0) * duration)
        same += read_result(folder) == expected
    bench.info(f"{name}: killed while running, of {moments}", hit)
    bench.exact(f"{name}: same result as the undisturbed run, of {moments}", same, equal_to=moments)


def main(bench: harness.Benchmark, moments: int) -> None:
    with tempfile.TemporaryDirectory() as place, Cluster(Path(place), WORKERS) as dask:
        rows = Path(place) / "rows.csv"
        dn.load("waste").sample(2_000, 1).frame().write_csv(rows)
        for number, (name, options) in enumerate(RUNS.items()):
            words = ["learn", str(rows), *SCORE, *options.split(), "--quiet", "--journal", "run.db", "-o", "out.json"]
            disturb_repeatedly(bench, name, Path(place) / f"{number}", words, [], kill_and_resume, moments)
            on_dask = ["--dask", dask.address]
            disturb_repeatedly(
                bench,
                f"{name}, Dask worker killed",
                Path(place) / f"{number}-dask",
                words,
                on_dask,
                partial(kill_worker, dask),
                moments,
            )


if __name__ == "__main__":
    with harness.start("durability", __doc__, ("moments", {"nargs": "?", "type": int, "default": 50})) as benchmark:
        main(benchmark, 1 if benchmark.small else benchmark.options.moments)
