"""Check the length and the language of texts, and draw a sample of them for a first reading.

Usage: python benchmarks/acceptance/writing.py [--sample N --seed S]

The figures are the number of lines with phrases of the old style, the number of functions that are named with a participle,
and the lines of the README and of the longest guide. `--sample` prints random messages, help texts and docstrings instead.
Give them to a reader who does not know the code, and count the texts that need a second reading.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from verdict import Verdicts

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/dagneal"
OLD = """
    conquest, foretold, foretell, turned round, told apart, is told, are told, goes on where, go on with, hangs by,
    the whole is, of the whole, what is known, at hand, to be had, nobody, whatever, whoever, none of this, as it stands,
    as they stand, in the mean, be known about, what came of, how sure, came to
"""
PHRASES = re.compile(rf"\b({'|'.join(phrase.strip() for phrase in OLD.split(','))})\b", re.IGNORECASE)
NOT_PARTICIPLES = {
    "add",
    "embed",
    "seed",
    "read",
    "annealing",
    "drawing",
    "embedding",
    "encoding",
    "opening",
    "ordering",
    "timing",
}
LISTS = ("decisions.md", "glossary.md")  # pages to look something up, which grow with the project
ALLOWED = {"emulated"}  # dn.qpu.emulated() is part of the public design


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the repository that match patterns."""
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.splitlines() if (ROOT / name).exists() and "docs/reproduction" not in name]


def old_phrases() -> list[str]:
    """Return the lines with phrases of the old style."""
    lines = []
    for path in tracked("*.py", "*.md", "*.js", "*.ipynb"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if path != Path(__file__) and PHRASES.search(line):
                lines.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return lines


def participles() -> list[str]:
    """Return the functions whose names look like participles, without properties."""
    names = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or any("property" in ast.unparse(mark) for mark in node.decorator_list):
                continue
            name = node.name.strip("_")
            if re.fullmatch(r"[a-z]+(ed|ing)", name) and name not in NOT_PARTICIPLES | ALLOWED:
                names.append(f"{path.relative_to(SOURCE)}: {node.name}")
    return names


def texts() -> Iterator[str]:
    """Yield all docstrings, error messages and help texts of the package, with their places."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and (text := ast.get_docstring(node)):
                signature = ast.unparse(node.args) if isinstance(node, ast.FunctionDef) else ""
                yield f"[docstring] {name}: {getattr(node, 'name', 'module')}({signature})\n{text}"
            elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                yield f"[message] {name}\n{ast.unparse(node.exc)}"
            elif isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "help":
                        option = ast.unparse(node.args[0]) if node.args else ""
                        yield f"[help] {name}: {option}\n{ast.unparse(keyword.value)}"


def longest(paths: list[Path]) -> int:
    """Return the number of lines of the longest file."""
    return max(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def main() -> None:
    """Print the figures with their targets, or a sample of texts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sample", type=int, metavar="N", help="print N random texts instead of the figures")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default 0)")
    options = parser.parse_args()
    if options.sample:
        chosen = random.Random(options.seed).sample(sorted(texts()), options.sample)
        print("\n\n".join(f"{number}. {text}" for number, text in enumerate(chosen, 1)))
        return
    verdicts = Verdicts()
    for what, lines, most in (("phrases of the old style", old_phrases(), 20), ("participles as names", participles(), 0)):
        verdicts.add(what, len(lines), f"at most {most}", met=len(lines) <= most)
        print(*(f"      {line[:150]}" for line in lines), sep="\n", end="\n" if lines else "")
    readme = longest([ROOT / "README.md"])
    verdicts.add("lines of the README", readme, "at most 80", met=readme <= 80)
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/guides/*.md"), *ROOT.glob("docs/tutorials/*.md")]
    guides = longest([page for page in pages if page.name not in LISTS])
    verdicts.add("lines of the longest guide", guides, "at most 150", met=guides <= 150)
    verdicts.exit()


if __name__ == "__main__":
    main()
