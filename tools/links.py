"""Check the links in all Markdown files and notebooks: files, anchors and, with `--online`, web addresses.

`make docs` runs it. It reads the files in the repository, not the built site. So it also covers the README and the
templates.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
REFERENCE = re.compile(r"^::: (\S+)$", re.MULTILINE)  # mkdocstrings makes an anchor of each
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """Return all Markdown files and notebooks of the repository."""
    folders = [ROOT / name for name in ("docs", "examples", ".github")]
    below = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".md", ".ipynb")]
    files = [*ROOT.glob("*.md"), *below]
    return sorted(path for path in files if ".ipynb_checkpoints" not in path.parts)


def text_of(path: Path) -> str:
    """Return the Markdown of a page, or of the Markdown cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as Python-Markdown makes it.

    >>> anchor("The score, `BDeu`")
    'the-score-bdeu'
    """
    plain = re.sub(r"[`*]|!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a page."""
    text = text_of(path)
    return {*map(anchor, HEADING.findall(text)), *REFERENCE.findall(text)}


def links_of(path: Path) -> Iterator[str]:
    """Yield the targets of all links of a page, without those in code."""
    yield from LINK.findall(CODE.sub("", text_of(path)))


def local_fault(path: Path, target: str) -> str | None:
    """Return what is wrong with a link to a file or an anchor, or None."""
    address, _, fragment = unquote(target).partition("#")
    file = (path.parent / address).resolve() if address else path
    if not file.exists():
        return "there is no such file"
    if ROOT not in (file, *file.parents):
        return "the file is outside the repository"
    if fragment and file.suffix in (".md", ".ipynb") and fragment not in anchors_of(file):
        return f"{file.name} has no heading with this anchor"
    return None


def online_fault(address: str) -> str | None:
    """Return why a web address cannot be read, or None."""
    try:
        request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
        with urllib.request.urlopen(request, timeout=20):
            return None
    except OSError as error:
        return str(error)


def faults(online: bool) -> Iterator[str]:
    """Yield one line for each broken link."""
    for path in pages():
        for target in links_of(path):
            if not urlsplit(target).scheme:
                fault = local_fault(path, target)
            else:
                fault = online_fault(target) if online and target.startswith("http") else None
            if fault:
                yield f"{path.relative_to(ROOT)}: {target}: {fault}"


if __name__ == "__main__":
    broken = list(faults("--online" in sys.argv[1:]))
    print("\n".join(broken) or f"all links of {len(pages())} pages lead somewhere")
    sys.exit(bool(broken))
