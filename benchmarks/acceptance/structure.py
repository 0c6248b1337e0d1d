"""Compare the structure of the code with its limits, and trace `dagneal learn`.

Usage: python benchmarks/acceptance/structure.py [--before CHECKOUT]

tools/structure.py measures the source tree. For three commands this script counts the modules of the package whose functions
are called, and the maximum depth of nested calls in the package, starting at `dagneal.cli.main`. Bodies of modules and
classes and comprehensions do not count. These two figures have no limit; they are printed next to those of an earlier
version. CHECKOUT is a clone of an earlier commit with its own virtual environment; the same code measures it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

from verdict import Verdicts

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
COMMANDS = {
    name: [*name.split(), *(() if name.endswith("data.csv") else ("data.csv", "--reads", "10")), "--quiet"]
    for name in ("learn data.csv", "learn --solver sa --divide 4 --rule penalty", "learn --solver qpu-emulated")
}  # fewer reads use the same code
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
EARLIER = {  # modules called and depth that the issue states for the earlier version
    "learn data.csv": (68, 15),
    "learn --solver sa --divide 4 --rule penalty": (69, 17),
}


class Trace:
    """Count the modules of a package that are called, and the depth of nested calls in the package.

    Args:
        package: folder of the package.
    """

    def __init__(self, package: Path) -> None:
        self.package = str(package) + os.sep
        self.modules: set[str] = set()
        self.depth = 0
        self.deepest: list[str] = []
        self._local = threading.local()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(self.package):
            return
        if not code.co_flags & CO_OPTIMIZED or code.co_name in COMPREHENSIONS:  # skip bodies of modules and classes
            return
        depth = getattr(self._local, "depth", 0)
        if event == "call":
            self.modules.add(code.co_filename)
            self._local.depth = depth + 1
            if depth + 1 > self.depth:
                self.depth, self.deepest = depth + 1, self._stack(frame)
        else:
            self._local.depth = depth - 1

    def _stack(self, frame: FrameType | None) -> list[str]:
        """Return the calls of the package on the stack of a frame, outermost first."""
        names = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.package) and frame.f_code.co_name not in COMPREHENSIONS:
                names.append(f"{frame.f_code.co_filename.removeprefix(self.package)}:{frame.f_code.co_name}")
            frame = frame.f_back
        return names[::-1]

    @contextlib.contextmanager
    def watch(self) -> Any:
        """Trace this thread and all threads that start from now on."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def trace_command(words: list[str]) -> dict[str, Any]:
    """Run a command in this process; return the modules called and the depth."""
    import dagneal
    from dagneal.cli import main

    trace = Trace(Path(dagneal.__file__).resolve().parent)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors, trace.watch():
        status = main(words)
    if status:
        raise SystemExit(f"{' '.join(words)} ended with {status}: {errors.getvalue()}")
    names = sorted(name.removeprefix(trace.package) for name in trace.modules)
    return {"modules": len(names), "depth": trace.depth, "names": names, "deepest": trace.deepest}


def trace_in(python: Path, words: list[str]) -> dict[str, Any] | str:
    """Trace a command in a process of one version; return its figures or an error message."""
    with tempfile.TemporaryDirectory() as folder:
        sample = "import dagneal as dn; dn.load('lung-cancer').sample(2_000, 1).frame().write_csv('data.csv')"
        subprocess.run([python, "-c", sample], cwd=folder, check=True)
        command = [python, "-W", "ignore", HERE, "--trace", json.dumps(words)]
        subprocess.run(command, cwd=folder, capture_output=True)  # compiles the kernels
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no figures"])[-1]
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def measure_tree(source: Path) -> dict[str, Any]:
    """Return the figures of tools/structure.py."""
    words = [sys.executable, str(ROOT / "tools" / "structure.py"), str(source), "--json"]
    figures: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return figures


def check_tree(verdicts: Verdicts, before: Path | None) -> None:
    """Compare the figures of the tree with their limits."""
    now = measure_tree(ROOT / "src" / "dagneal")
    then = measure_tree(before / "src" / "dagneal") if before else None

    def add(what: str, figure: Any, target: str, met: bool, earlier: Any) -> None:
        verdicts.add(what, figure, target if then is None else f"{target} (before: {earlier})", met)

    counts = {
        "modules in the root": (len(now["root_modules"]), 8, then and len(then["root_modules"])),
        "packages in cycles": (len(now["cycles"]), 0, then and len(then["cycles"])),
        "most parameters of a public function": (now["parameters"][0][0], 10, then and then["parameters"][0][0]),
        "highest complexity without kernels": (now["complexity"][0][0], 20, then and then["complexity"][0][0]),
        "repeated module names": (len(now["module_names"]), 0, then and len(then["module_names"])),
        "repeated names of public classes": (len(now["class_names"]), 0, then and len(then["class_names"])),
        "modules below the public API that import it": (len(now["root_importers"]), 0, then and len(then["root_importers"])),
    }
    for what, (figure, most, earlier) in counts.items():
        add(what, figure, f"at most {most}", figure <= most, earlier)
    for line in now["exceeded"]:
        print(f"      {line}")


def check_commands(verdicts: Verdicts, before: Path | None) -> None:
    """Trace the commands in both versions, and check that each command ends with a network."""
    for name, words in COMMANDS.items():
        now = trace_in(Path(sys.executable), words)
        verdicts.add(
            f"{name}: ends with a network", "no" if isinstance(now, str) else "yes", "yes", not isinstance(now, str)
        )
        then: Any = None if before is None else trace_in(before / ".venv" / "bin" / "python", words)
        for version, figures in (("now", now), ("before", then)):
            if isinstance(figures, str):
                print(f"      {version}: {figures}", flush=True)
            elif figures is not None:
                print(f"      {version}: {figures['modules']} modules called, depth {figures['depth']}", flush=True)
                print(f"      {version}, deepest: {' > '.join(figures['deepest'][-6:])}", flush=True)
        if name in EARLIER:
            print("      the issue states {} modules, depth {}".format(*EARLIER[name]), flush=True)


def main() -> None:
    """Check all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="an earlier version with its virtual environment")
    options = parser.parse_args()
    before = options.before and options.before.resolve()
    verdicts = Verdicts()
    check_tree(verdicts, before)
    check_commands(verdicts, before)
    verdicts.exit()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        print(json.dumps(trace_command(json.loads(sys.argv[2]))))
    else:
        main()
