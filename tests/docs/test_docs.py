"""The documentation is complete, its examples run, and its links work."""

import dataclasses
import os
import re
import runpy
import shlex
import subprocess
import sys
from inspect import ismodule
from operator import attrgetter
from pathlib import Path

import pytest
import yaml
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.cli.solver_options import SOLVERS_HELP
from dagneal.scoring.scores import SCORES
from dagneal.strategies.names import SOLVERS, STRATEGIES

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src/dagneal"
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "reproduction" not in path.parts)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def page_names(nav) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav if isinstance(nav, list) else nav.values()) for page in page_names(part)]


# Structure


def test_the_readme_has_at_most_80_lines():
    assert len(read("README.md").splitlines()) <= 80


LISTS = ("decisions.md", "glossary.md")  # pages to look something up, which grow with the project


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.startswith(("guides/", "tutorials/")) or (page not in LISTS and "/" not in page)]
)
def test_a_guide_has_at_most_150_lines(page):
    assert len(read(f"docs/{page}").splitlines()) <= 150


def test_all_links_work():
    faults = runpy.run_path(str(ROOT / "tools/links.py"))["faults"]
    assert list(faults(online=False)) == []


def test_the_link_check_finds_broken_links(tmp_path):
    check = runpy.run_path(str(ROOT / "tools/links.py"))["local_fault"]
    assert "no such file" in check(README, "docs/nothing.md")
    assert "no heading" in check(README, "docs/glossary.md#nothing")
    assert "outside" in check(README, "../")
    assert check(README, "docs/guides/confidence.md#score-drops") is None


def test_every_page_is_in_the_navigation():
    generated = runpy.run_path(str(DOCS / "hooks.py"))["PAGES"]
    assert sorted(page_names(SITE["nav"])) == sorted([*PAGES, *generated.values()])


def test_the_terms_of_the_glossary_are_sorted():
    terms = re.findall(r"^\*\*(.*?)\.\*\*", read("docs/glossary.md"), re.MULTILINE)
    assert len(terms) > 30
    assert terms == sorted(terms, key=str.lower)


def test_the_citation_has_the_current_version():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == dn.__version__


# Names


@pytest.mark.parametrize("name", SOLVERS)
def test_the_readme_lists_every_solver(name):
    assert f"`{name}`" in read("README.md")


def test_every_public_name_is_in_the_reference():
    documented = re.findall(r"^::: dagneal\.(\w+)$", read("docs/reference/python.md"), re.MULTILINE)
    missing = set(dn.__all__) - set(documented)
    assert not missing, f"add '::: dagneal.NAME' to docs/reference/python.md for {missing}"
    assert sorted(documented) == dn.__all__


@pytest.mark.parametrize("package", ["divide", "inference", "proofs", "qpu", "qubo", "scoring", "solvers"])
def test_every_public_name_of_a_package_is_in_the_reference(package):
    documented = {path.rpartition(".")[2] for path in re.findall(r"^::: (\S+)$", read("docs/reference/python.md"), re.M)}
    public = {name for name, value in vars(getattr(dn, package)).items() if name[0] != "_" and not ismodule(value)}
    missing = public - documented - {"as_score"}  # `learn` converts scores itself
    assert not missing, f"add '::: dagneal.{package}.MODULE.NAME' to docs/reference/python.md for {missing}"


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_public_and_in_the_help(name, capsys):
    kind = SCORES[name].__name__
    assert kind in dn.__all__, f"add {kind} to dagneal/__init__.py"
    assert hasattr(dn.scoring, kind), f"add {kind} to scoring/__init__.py"
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    words = capsys.readouterr().out.split("--score NAME")[1].split("\n\n")[0]
    assert re.search(rf"(?<![\w-]){name}(?![\w-])", words), f"add {name} to the help of --score in cli/inputs.py"


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_explained(name):
    page = read("docs/explanation/scores.md")
    assert f"dn.{SCORES[name].__name__}(" in page, f"add a row with {name} to docs/explanation/scores.md"


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_is_in_the_help(name):
    words = SOLVERS_HELP.split("settings:")[0]
    assert re.search(rf"(?<![\w-]){name}(?![\w-])", words), f"add {name} to SOLVERS_HELP in cli/solver_options.py"


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_is_public_and_in_the_guide_to_solvers(name):
    kind = STRATEGIES[name].partition(":")[2]
    assert kind in dn.__all__, f"add {kind} to dagneal/__init__.py"
    used = set(re.findall(r"--solver (\w[\w-]*)", read("docs/guides/solvers.md"))) | {"auto"}  # the default
    assert name in used, f"add a row with --solver {name} to the table of docs/guides/solvers.md"


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md", "docs/explanation/encoding.md"]
)
def test_the_modules_on_a_page_exist(page):
    """Paths such as `divide/conquer.py` or `scoring/scores` exist in the package or in the repository."""
    paths = re.findall(r"`((?:\w+/)+[\w.]*)`", read(page))
    assert paths
    for path in paths:
        places = [parent / f"{path}{ending}" for parent in (ROOT, PACKAGE, PACKAGE.parent) for ending in ("", ".py")]
        assert "NAME" in path or any(place.exists() for place in places), path


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{page}" for page in PAGES)])
def test_the_python_names_on_a_page_exist(page):
    text = read(page)
    if page == "docs/reference/migration.md":  # the first column has the old names
        text = "\n".join(line.split("|")[2] for line in text.splitlines() if line.startswith("|"))
    for name in set(re.findall(r"\bdn((?:\.\w+)+)", text)):
        attrgetter(name[1:])(dn)


def test_the_new_names_of_the_migration_table_exist():
    rows = [line.split("|") for line in read("docs/reference/migration.md").splitlines() if line.startswith("| `")]
    names = {name for row in rows for name in re.findall(r"\bdn((?:\.\w+)+)", row[2])}
    assert len(names) > 30
    for name in names:
        attrgetter(name[1:])(dn)


def test_the_old_names_of_the_migration_table_are_gone():
    table = read("docs/reference/migration.md").split("## Names in the root")[1].split("Unchanged:")[0]
    old = {name for row in table.splitlines() for name in re.findall(r"\bdn\.(\w+)`", "|".join(row.split("|")[:2]))}
    assert len(old) >= 20
    assert not [name for name in old if name in dn.__all__]


# Examples


@pytest.mark.slow
def test_the_python_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = PYTHON.findall(read("README.md"))
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    exec(compile(code, str(README), "exec"), {})
    assert "true_positives=4, false_positives=0" in capsys.readouterr().out
    assert (tmp_path / "network.html").exists()


def test_the_examples_of_the_guide_to_solvers_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dn.load("lung-cancer").sample(300, 1)
    data = dataclasses.replace(data, names=("survived", *data.names[1:]))
    (code,) = PYTHON.findall(read("docs/guides/solvers.md"))
    exec(compile(code, "solvers.md", "exec"), {"dn": dn, "data": data, "sampler": SimulatedAnnealingSampler()})
    assert (tmp_path / "run.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "quick-start.md",
        "tutorials/analyst.md",
        "tutorials/annealing.md",
        "tutorials/titanic.md",
        "guides/use.md",
        "guides/ask.md",
        "guides/custom-solver.md",
    ],
)
def test_the_output_of_examples_is_current(page, tmp_path):
    examples = runpy.run_path(str(DOCS / "examples.py"))
    run_page, without_times = examples["run_page"], examples["without_times"]
    text = read(f"docs/{page}")
    current = run_page(text, str(tmp_path))
    assert without_times(current) == without_times(text), f"run python docs/examples.py docs/{page}"


@pytest.mark.slow
def test_the_commands_for_beginners_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pages = (
        "docs/quick-start.md",
        "docs/guides/use.md",
        "docs/guides/ask.md",
        "docs/guides/confidence.md",
        "docs/guides/page.md",
        "README.md",
    )
    lines = [line for page in pages for line in read(page).splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("    dagneal ")]
    rides = "ride,city,rain,temperature\n" + "".join(
        f"R{i},Trento,{i % 3},{i % 97 / 7 if i % 9 else ''}\n" for i in range(300)
    )
    (tmp_path / "rides.csv").write_text(rides)
    commands = [words for words in commands if words[0] != "reproduce"]
    assert len(commands) >= 20
    for words in commands:
        assert main(words) == 0, (words, capsys.readouterr().err)


# Site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    words = ["build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([sys.executable, "-m", "mkdocs", *words], cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_the_network(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(page_names(SITE["nav"]))
    for path in pages:
        text = path.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:link|script|img|iframe|source|object|embed|video|audio)\b[^>]*>", text):
            assert not re.search(r"""(?:src|href|data|srcset)=["']?(?:https?:)?//""", tag), (path.name, tag)
    for path in site.rglob("*.css"):
        assert not re.search(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", path.read_text(encoding="utf-8")), path.name


@pytest.mark.slow
def test_every_public_name_is_on_the_site(site):
    text = (site / "reference" / "python.html").read_text(encoding="utf-8")
    for name in dn.__all__:
        assert f'id="dagneal.{name}"' in text, name


@pytest.mark.slow
def test_notebooks_changes_and_contributing_are_on_the_site(site):
    assert "How probable is cancer?" in (site / "notebooks" / "medical.html").read_text(encoding="utf-8")
    assert 'href="notebooks/sachs.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert 'href="architecture.html"' in (site / "contributing.html").read_text(encoding="utf-8")
    assert "0.1.0" in (site / "changes.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.browser
def test_the_search_of_the_site_works_without_a_server(site, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get((site / "index.html").as_uri())
    box = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    browser.execute_script("document.querySelector('#__search').click()")
    box.send_keys("glossary")
    links = WebDriverWait(browser, 20).until(lambda at: at.find_elements(By.CSS_SELECTOR, ".md-search-result__link"))
    assert "glossary" in " ".join(link.get_attribute("href") for link in links)
    requests = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert [name for name in requests if not name.startswith(("file:", "data:"))] == []
    assert [line["message"] for line in browser.get_log("browser")] == []
