"""Tests of compiled kernels: changed code is recompiled, and kernels work without a cache."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import dagneal
from dagneal.base import caches, kernels
from dagneal.base.kernels import kernel_modules

PACKAGE = Path(dagneal.__file__).parent
SUM = """
import numpy as np
from dagneal.base import kernels
from dagneal.scoring.counting.rowwise import set_sums
from dagneal.scoring.counting.terms import TermTable

codes, ones = np.zeros((2, 3), dtype=np.uint8), np.ones(3, dtype=np.int64)
sums, arities = np.zeros((1, 1)), np.array([2, 2])
members, sizes = np.array([[0, 1]], dtype=np.int32), np.array([2])
table = TermTable(3)
lines = table.lines(np.ones(1))[None]
set_sums(codes, ones, arities, members, sizes, lines, table.terms, table.parameters, sums)
print(kernels.cache_folder(), sums[0, 0])
"""


def copy_package(folder):
    shutil.copytree(PACKAGE, folder / "dagneal", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "dagneal"


def run_sum(folder, **environment):
    inherited = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    process = subprocess.run(
        [sys.executable, "-B", "-c", SUM],
        env=inherited | {"PYTHONPATH": str(folder)} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    cache, value = process.stdout.split()
    return cache, float(value)


def decorated(tree, decorator):
    """Return the functions of a module with a decorator."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node for node in functions if decorator in map(ast.unparse, node.decorator_list)]


@pytest.mark.slow
def test_changing_an_inlined_function_recompiles_kernels_in_other_modules(tmp_path):
    package = copy_package(tmp_path)
    before, value = run_sum(tmp_path)
    assert run_sum(tmp_path) == (before, value)
    terms = package / "scoring" / "counting" / "terms.py"
    last = "/ parameters[line, 2])\n"
    assert last in terms.read_text()
    terms.write_text(terms.read_text().replace(last, "/ parameters[line, 2] + 1000.0)\n"))
    after, changed = run_sum(tmp_path)
    assert changed == value + 1000.0
    assert after != before
    assert not Path(before).exists()


def test_kernels_only_use_names_from_kernel_modules():
    """The cache key covers only the kernel modules, so a kernel must not depend on other modules."""
    covered = {".".join(["dagneal", *path.relative_to(PACKAGE).with_suffix("").parts]) for path in kernel_modules()}
    assert {
        "dagneal.scoring.counting.terms",
        "dagneal.scoring.counting.rowwise",
        "dagneal.scoring.counting.bitwise",
        "dagneal.base.kernels",
    } <= covered
    for path in kernel_modules():
        tree = ast.parse(path.read_text())
        origin = {
            alias.asname or alias.name: node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dagneal")
            for alias in node.names
        }
        for function in decorated(tree, "kernel") + decorated(tree, "kernel_with_arrays"):
            used = {node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)}
            for name in used & set(origin):
                assert origin[name] in covered, f"{path.name}: {function.name} uses {name} from {origin[name]}"


def test_kernels_create_no_arrays():
    """Numba checks this when it compiles a kernel. But it does not notice arrays of other kernels, which are never freed."""
    trees = {path.name: ast.parse(path.read_text()) for path in kernel_modules()}
    makers = {function.name for tree in trees.values() for function in decorated(tree, "kernel_with_arrays")}
    makers |= {f"np.{name}" for name in ("empty", "zeros", "ones", "full", "empty_like", "arange", "array")}
    assert "lane_rows" in makers
    for module, tree in trees.items():
        for function in decorated(tree, "kernel"):
            called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
            assert not called & makers, f"{module}: {function.name} creates an array; use kernel_with_arrays"


def test_a_kernel_that_creates_an_array_is_not_compiled():
    @kernels.kernel
    def create_zeros(count):
        return np.zeros(count)

    with pytest.raises(numba.core.errors.NumbaError):
        create_zeros(2)


@pytest.mark.slow
def test_kernels_work_without_a_writable_cache_folder(tmp_path):
    package = copy_package(tmp_path)
    (package / "__pycache__").write_text("a file, so that not even root can create this folder")
    invalid = str(package / "__pycache__" / "no")
    cache, value = run_sum(tmp_path, HOME=invalid, TMPDIR=str(tmp_path))
    assert Path(cache).is_relative_to(tmp_path / caches.temporary_cache_folder().name)
    (tmp_path / caches.temporary_cache_folder().name).rename(tmp_path / "moved")
    (tmp_path / caches.temporary_cache_folder().name).write_text("")
    assert run_sum(tmp_path, HOME=invalid, TMPDIR=str(tmp_path)) == ("None", value)


@pytest.mark.slow
def test_damaged_cache_files_cause_a_recompilation(tmp_path):
    copy_package(tmp_path)
    cache, value = run_sum(tmp_path)
    for path in Path(cache).iterdir():
        path.write_bytes(b"\x80garbage" + path.read_bytes()[: len(path.name)])
    assert run_sum(tmp_path) == (cache, value)


def test_cache_folders_writable_by_other_users_are_skipped(tmp_path):
    public, private = tmp_path / "public", tmp_path / "private"
    public.mkdir()
    public.chmod(0o777)
    assert caches.first_writable([public, private]) == private
    assert private.stat().st_mode & 0o777 == 0o700
    assert caches.first_writable([tmp_path / "private" / "x" / "y"]) is not None


def test_without_a_home_folder_the_cache_is_temporary(monkeypatch):
    for name in ("DAGNEAL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert caches.user_cache_folder() == caches.temporary_cache_folder()
