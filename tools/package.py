"""Build the wheel and the sdist in dist/, install the wheel in a new environment, and test it outside the clone.

`make test` runs it. The new environment uses the dependencies of the current one, so nothing is downloaded. The tests
come from the unpacked sdist. They fail if a file is missing in the wheel or in the sdist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TESTS = ("tests/networks", "tests/report", "tests/learning/test_learn.py", "tests/cli/test_network_commands.py")
NEEDED = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile", "tests/conftest.py", "docs/index.md")


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder and return its output; stop if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\npackage: {' '.join(map(str, command))} failed with status {done.returncode}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build both distributions from the clone, and return the wheel and the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT, folder=ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def make_environment(folder: Path, wheel: Path) -> Path:
    """Create an environment with the wheel and the dependencies of this environment, and return its Python."""
    venv.create(folder, with_pip=False)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = folder / scripts / ("python.exe" if os.name == "nt" else "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-deps", wheel, folder=folder)
    # Only a path: the editable installation of the clone is a .pth file there, and nested .pth files are not read.
    library = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder).strip())
    (library / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n", "utf-8")
    return python


def check(python: Path, sdist: Path, folder: Path) -> None:
    """Use the installed package in an empty folder, and run tests of the sdist against it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = (path for path in folder.iterdir() if path.name.startswith("dagneal-"))
    missing = [name for name in NEEDED if not (source / name).exists()]
    if missing:
        sys.exit(f"package: the sdist lacks {', '.join(missing)}")
    shutil.rmtree(source / "src")  # the tests must use the wheel
    used = run(python, "-c", "import dagneal; print(dagneal.__file__)", folder=source).strip()
    if python.parents[1] not in Path(used).parents:
        sys.exit(f"package: {used} is not the installed wheel")
    run(python, "-m", "dagneal", "sample", "lung-cancer", "--rows", "1000", "-o", "patients.csv", folder=folder)
    run(python, "-m", "dagneal", "learn", "patients.csv", "-o", "patients.html", "-o", "patients.bif", folder=folder)
    quick = "not slow and not browser and not cluster"
    lines = run(python, "-m", "pytest", "-q", "-m", quick, "-p", "no:cacheprovider", *TESTS, folder=source).splitlines()
    print(f"package: the installed wheel passes tests of the sdist: {lines[-1]}")


def main() -> None:
    """Build, install and test."""
    wheel, sdist = build()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        check(make_environment(folder / "environment", wheel), sdist, folder)
    print(f"package: {wheel.name} and {sdist.name} are in dist/")


if __name__ == "__main__":
    main()
