"""Measure the structure of the package, and check that it stays within its limits.

Use: python tools/structure.py [SOURCE] [--check] [--json]

The limits: modules in the root, cycles of imports between packages (imports in functions and under TYPE_CHECKING count),
parameters of public functions, cyclomatic complexity, modules of one name, public classes of one name, and modules that
import the root package although they are below it. With `--check` the exit status is 1 if a limit is exceeded.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT_MODULES = 8
PARAMETERS = 10
COMPLEXITY = 20
ABOVE_ROOT = ("cli", "paper", "__main__")  # they use the public names, so they may import the root package
SHOWN = 8  # largest functions that are printed

Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.comprehension,
    ast.Assert,
    ast.With,
)


@dataclass(frozen=True)
class Module:
    """A module of the package.

    Attributes:
        name: dotted name.
        is_package: whether it is the `__init__` of a package.
        tree: syntax tree.
        lines: number of lines.
    """

    name: str
    is_package: bool
    tree: ast.Module
    lines: int

    @property
    def unit(self) -> str:
        """Package below the root that contains the module; for a module of the root, its own name."""
        return self.name.partition(".")[2].partition(".")[0] or "(root)"

    @property
    def in_root(self) -> bool:
        """Whether its file is in the folder of the root package."""
        return "." not in self.name or (self.name.count(".") == 1 and not self.is_package)

    @property
    def functions(self) -> list[Function]:
        """All functions and methods, including nested ones."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]


def read_modules(source: Path) -> dict[str, Module]:
    """Return the modules of a package by name, without `__main__`.

    Args:
        source: the folder of the package.
    """
    modules = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        if parts[-1] != "__main__":
            text = path.read_text(encoding="utf-8")
            modules[name] = Module(name, is_package, ast.parse(text, str(path)), text.count("\n"))
    return modules


def imports(module: Module, modules: dict[str, Module]) -> Iterator[str]:
    """Yield the modules of the package that a module imports, anywhere in its text.

    Args:
        module: the importer.
        modules: all modules by name.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.name.split(".")
                kept = parts[: len(parts) - node.level + module.is_package]
                base = ".".join([*kept, *([base] if base else [])])
            inside = [f"{base}.{alias.name}" for alias in node.names]
            names = inside if all(name in modules for name in inside) else [base, *inside]
        else:
            continue
        yield from (name for name in names if name in modules)


def package_imports(modules: dict[str, Module]) -> dict[str, set[str]]:
    """Return which packages each package imports.

    The re-exports of the root package are left out; imports of the root package count.

    Args:
        modules: all modules by name.
    """
    graph: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        if module.unit != "(root)":
            graph[module.unit] |= {modules[name].unit for name in imports(module, modules)} - {module.unit}
    return dict(graph)


def cyclic(graph: dict[str, set[str]]) -> list[str]:
    """Return the nodes that are on a cycle.

    >>> cyclic({"a": {"b"}, "b": {"a"}, "c": {"a"}})
    ['a', 'b']
    """

    def reaches_itself(start: str) -> bool:
        seen: set[str] = set()
        waiting = list(graph.get(start, ()))
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting.extend(graph.get(node, ()))
        return start in seen

    return sorted(node for node in graph if reaches_itself(node))


def is_kernel(function: Function) -> bool:
    """Return whether a function is compiled by Numba.

    Args:
        function: of a module.
    """
    return any("kernel" in ast.unparse(each) or "njit" in ast.unparse(each) for each in function.decorator_list)


def parameters(function: Function) -> int:
    """Return the number of parameters, `self` included.

    Args:
        function: of a module.
    """
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def complexity(function: Function) -> int:
    """Return the cyclomatic complexity: one more than the number of branches.

    Args:
        function: of a module, with the functions inside it.
    """
    nodes = list(ast.walk(function))
    operators = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + sum(isinstance(node, BRANCHES) for node in nodes) + operators


def repeated(places: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names that occur more than once.

    Args:
        places: by name.
    """
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


@dataclass(frozen=True)
class Structure:
    """The figures of a package.

    Attributes:
        modules: the number of modules.
        lines: their lines.
        packages: the number of modules by package.
        root_modules: the modules in the root, `__init__` included.
        imports: which packages each package imports.
        cycles: the packages that import each other in a cycle.
        parameters: public functions without kernels by the number of their parameters, most first.
        complexity: functions without kernels by their complexity, highest first.
        module_names: names of more than one module.
        class_names: names of more than one public class.
        root_importers: modules that import the root package although it re-exports them or what is above them.
    """

    modules: int
    lines: int
    packages: dict[str, int]
    root_modules: list[str]
    imports: dict[str, list[str]]
    cycles: list[str]
    parameters: list[tuple[int, str]]
    complexity: list[tuple[int, str]]
    module_names: dict[str, list[str]]
    class_names: dict[str, list[str]]
    root_importers: list[str]

    def exceeded(self) -> list[str]:
        """Return one line for each exceeded limit."""
        found = []
        if len(self.root_modules) > ROOT_MODULES:
            found.append(f"the root has {len(self.root_modules)} modules; at most {ROOT_MODULES} are allowed")
        if self.cycles:
            found.append(f"packages import each other in a cycle: {', '.join(self.cycles)}")
        for count, name in self.parameters:
            if count > PARAMETERS:
                found.append(f"{name} has {count} parameters; at most {PARAMETERS} are allowed")
        for value, name in self.complexity:
            if value > COMPLEXITY:
                found.append(f"{name} has complexity {value}; at most {COMPLEXITY} is allowed")
        for name, where in self.module_names.items():
            found.append(f"{len(where)} modules are named {name!r}: {', '.join(where)}")
        for name, where in self.class_names.items():
            found.append(f"{len(where)} classes are named {name!r}: {', '.join(where)}")
        for name in self.root_importers:
            found.append(f"{name} imports the root package; only {', '.join(ABOVE_ROOT)} may")
        return found


def measure(source: Path) -> Structure:
    """Return the figures of a package.

    Args:
        source: its folder.
    """
    modules = read_modules(source)
    packages: dict[str, int] = defaultdict(int)
    stems: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    most_parameters, most_complex = [], []
    for name, module in modules.items():
        packages["(root)" if module.in_root else module.unit] += 1
        if name != source.name:
            stems[name.rpartition(".")[2]].append(name)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name)
        for function in module.functions:
            if not is_kernel(function):
                most_complex.append((complexity(function), f"{name}.{function.name}"))
                if not function.name.startswith("_"):
                    most_parameters.append((parameters(function), f"{name}.{function.name}"))
    graph = package_imports(modules)
    return Structure(
        modules=len(modules),
        lines=sum(module.lines for module in modules.values()),
        packages=dict(sorted(packages.items())),
        root_modules=sorted(name for name, module in modules.items() if module.in_root),
        imports={name: sorted(others) for name, others in sorted(graph.items())},
        cycles=cyclic(graph),
        parameters=sorted(most_parameters, reverse=True),
        complexity=sorted(most_complex, reverse=True),
        module_names=repeated(stems),
        class_names=repeated(classes),
        root_importers=sorted(
            name
            for name, module in modules.items()
            if module.unit not in ("(root)", *ABOVE_ROOT) and source.name in imports(module, modules)
        ),
    )


def print_figures(structure: Structure) -> None:
    """Print all figures.

    Args:
        structure: of a package.
    """
    print(f"{structure.modules} modules, {structure.lines:,} lines")
    print("modules by package:", ", ".join(f"{name} {count}" for name, count in structure.packages.items()))
    print("imports between packages:")
    for name, others in structure.imports.items():
        print(f"  {name} -> {', '.join(others) or 'none'}")
    print(f"modules in the root: {len(structure.root_modules)} (at most {ROOT_MODULES})")
    print(f"packages in cycles: {', '.join(structure.cycles) or 'none'}")
    print(f"most parameters of public functions (at most {PARAMETERS}):")
    for count, name in structure.parameters[:SHOWN]:
        print(f"  {count:3} {name}")
    print(f"highest complexity without kernels (at most {COMPLEXITY}):")
    for value, name in structure.complexity[:SHOWN]:
        print(f"  {value:3} {name}")
    print("modules of one name:", ", ".join(structure.module_names) or "none")
    print("public classes of one name:", ", ".join(structure.class_names) or "none")
    print("modules that should not import the root package:", ", ".join(structure.root_importers) or "none")


def main(words: list[str] | None = None) -> int:
    """Run the script and return its exit status.

    Args:
        words: after the name of the script.
    """
    parser = argparse.ArgumentParser(description="Measure the structure of the package.")
    default = Path(__file__).parents[1] / "src" / "dagneal"
    parser.add_argument("source", nargs="?", type=Path, default=default, help="the folder of the package")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is exceeded")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args(words)
    structure = measure(options.source.resolve())
    exceeded = structure.exceeded()
    if options.json:
        print(json.dumps(vars(structure) | {"exceeded": exceeded}))
    else:
        print_figures(structure)
        print(*(f"structure: {line}" for line in exceeded), sep="\n", end="\n" if exceeded else "")
    return 1 if options.check and exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
