"""Add files outside docs/ to the site, and make links work both in the repository and on the site."""

import json
import re
from pathlib import Path
from posixpath import normpath, relpath
from urllib.parse import unquote

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("examples/notebooks/*.ipynb"))
PAGES = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
    **{path: f"notebooks/{Path(path).stem}.md" for path in NOTEBOOKS},
}
FILES = {"examples/titanic.csv": "tutorials/titanic.csv"}
SOURCES = {page: path for path, page in PAGES.items()}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(?=[)#])")


def on_files(files, config):
    for path, page in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=as_markdown(text) if path in NOTEBOOKS else text))
    for path, place in FILES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Turn links to files outside docs/ into links to their pages."""
    path = SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def move(link: re.Match) -> str:
        target = normpath(f"{Path(path).parent.as_posix()}/{unquote(link[1])}")
        target = (PAGES | FILES).get(target, target.removeprefix("docs/") if target.startswith("docs/") else None)
        return link[1] if target is None else relpath(target, Path(page.file.src_uri).parent.as_posix())

    return LINK.sub(move, markdown)


def as_markdown(notebook: str) -> str:
    """Return a notebook with its outputs as Markdown."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            lines = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
            parts.append(f'<div class="output" markdown>\n\n```text\n{"".join(lines).rstrip()}\n```\n\n</div>')
    return "\n\n".join(parts) + "\n"
