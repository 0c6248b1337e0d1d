"""The README's Python runs, its table of solvers is the command line's; the pages of the site hold what they say."""

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

import networkx as nx
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


def test_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(README), "exec"), {})
    assert "right=4, wrong=0" in capsys.readouterr().out


@pytest.mark.parametrize("name", SOLVERS)
def test_the_readme_names_every_solver(name):
    assert f"`{name}`" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda path: path.name)
def test_the_linked_files_are_there(path):
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)[)#]", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def listed(nav) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for each in (nav if isinstance(nav, list) else nav.values()) for page in listed(each)]


def test_every_page_is_in_the_contents():
    made = runpy.run_path(str(DOCS / "hooks.py"))["PAGES"]
    assert sorted(listed(SITE["nav"])) == sorted([*(path.name for path in DOCS.glob("*.md")), *made.values()])


def test_every_public_name_is_in_the_reference():
    found = re.findall(r"^::: dagneal\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    missing = set(dn.__all__) - set(found)
    assert not missing, f"add '::: dagneal.NAME' to docs/api.md for {missing}"
    assert sorted(found) == dn.__all__


@pytest.mark.parametrize("package", ["divide", "proofs", "qpu", "qubo", "scoring", "solvers"])
def test_every_public_name_of_a_package_is_in_the_reference(package):
    documented = {path.rpartition(".")[2] for path in re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text("utf-8"), re.M)}
    public = {name for name, value in vars(getattr(dn, package)).items() if name[0] != "_" and not ismodule(value)}
    missing = public - documented - {"as_score"}  # a conversion that `learn` makes
    assert not missing, f"add '::: dagneal.{package}.MODULE.NAME' to docs/api.md for {missing}"


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_public_and_in_the_help(name, capsys):
    kind = SCORES[name].__name__
    assert kind in dn.__all__, f"add {kind} to dagneal/__init__.py"
    assert hasattr(dn.scoring, kind), f"add {kind} to scoring/__init__.py"
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    words = capsys.readouterr().out.split("--score NAME")[1].split("\n\n")[0]
    assert re.search(rf"(?<![\w-]){name}(?![\w-])", words), f"add {name} to the help of --score in cli/inputs.py"


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_is_in_the_help(name):
    words = SOLVERS_HELP.split("settings:")[0]
    assert re.search(rf"(?<![\w-]){name}(?![\w-])", words), f"add {name} to SOLVERS_HELP in cli/solver_options.py"


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_is_public_and_on_the_page_about_solvers(name):
    kind = STRATEGIES[name].partition(":")[2]
    assert kind in dn.__all__, f"add {kind} to dagneal/__init__.py"
    used = set(re.findall(r"--solver (\w[\w-]*)", (DOCS / "solvers.md").read_text("utf-8"))) | {"auto"}  # the default
    assert name in used, f"add a row with --solver {name} to the table of docs/solvers.md"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md", "docs/encoding.md"])
def test_the_modules_on_a_page_exist(page):
    """Paths such as `divide/conquer.py` or `scoring/scores`, in the package or in the repository."""
    named = re.findall(r"`((?:\w+/)+[\w.]*)`", (ROOT / page).read_text("utf-8"))
    assert named
    for path in named:
        places = [parent / f"{path}{ending}" for parent in (ROOT, PACKAGE, PACKAGE.parent) for ending in ("", ".py")]
        assert "NAME" in path or any(place.exists() for place in places), path


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in DOCS.glob("*.md"))])
def test_the_python_names_on_a_page_exist(page):
    text = (ROOT / page).read_text("utf-8")
    if page == "docs/migration.md":  # the old names stand in the first column
        text = "\n".join(line.split("|")[2] for line in text.splitlines() if line.startswith("|"))
    for name in set(re.findall(r"\bdn((?:\.\w+)+)", text)):
        attrgetter(name[1:])(dn)


def test_the_new_names_of_the_table_exist():
    rows = [line.split("|") for line in (DOCS / "migration.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    names = {name for row in rows for name in re.findall(r"\bdn((?:\.\w+)+)", row[2])}
    assert len(names) > 30
    for name in names:
        attrgetter(name[1:])(dn)


def test_the_old_names_of_the_table_are_gone():
    table = (DOCS / "migration.md").read_text("utf-8").split("## Names in the root")[1].split("The same as before")[0]
    old = {name for row in table.splitlines() for name in re.findall(r"\bdn\.(\w+)`", "|".join(row.split("|")[:2]))}
    assert len(old) >= 20
    assert not [name for name in old if name in dn.__all__]


def test_the_code_on_the_page_about_solvers_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dn.load("lung-cancer").sample(300, 1)
    data = dataclasses.replace(data, names=("survived", *data.names[1:]))
    names = {"dn": dn, "nx": nx, "dataclass": dataclasses.dataclass, "data": data, "sampler": SimulatedAnnealingSampler()}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "solvers.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        exec(compile(code, "solvers.md", "exec"), names)
    assert (tmp_path / "run.db").exists()


@pytest.mark.slow
def test_the_code_on_the_page_about_use_prints_what_is_shown(tmp_path):
    """With pyAgrum and pgmpy, in a process of its own: they do not stand warnings as errors."""
    text = (DOCS / "use.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) >= 6
    program = "\n".join(f"{code}\nprint('--', flush=True)" for code, _ in blocks)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("--\n")[:-1] == [shown for _, shown in blocks]
    assert (tmp_path / "safe.bif").exists()


@pytest.mark.slow
def test_the_commands_on_the_pages_for_beginners_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [line for name in ("use", "quick-start") for line in (DOCS / f"{name}.md").read_text("utf-8").splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("    dagneal ")]
    rides = "ride,city,rain,temperature\n" + "".join(
        f"R{i},Trento,{i % 3},{i % 97 / 7 if i % 9 else ''}\n" for i in range(300)
    )
    (tmp_path / "rides.csv").write_text(rides)
    assert len(commands) >= 10
    for words in commands:
        assert main(words) == 0, (words, capsys.readouterr().err)
    shown = (DOCS / "quick-start.md").read_text("utf-8").split("edge   ")[1].split("\n\n`loses`")[0]
    capsys.readouterr()
    assert main(["learn", "patients.csv", "--bootstrap", "200"]) == 0
    printed = capsys.readouterr().out
    for line in filter(None, map(str.strip, shown.splitlines()[1:])):
        assert line in printed
    quick = re.findall(r"```python\n(.*?)```", (DOCS / "quick-start.md").read_text("utf-8"), re.DOTALL)
    exec(compile("".join(quick), "quick-start.md", "exec"), {})
    assert "('Smoker', 'Cancer')" in capsys.readouterr().out


# The site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    words = ["build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run([sys.executable, "-m", "mkdocs", *words], cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")
    return folder


@pytest.mark.slow
def test_the_site_fetches_nothing_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(listed(SITE["nav"]))
    for path in pages:
        text = path.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:link|script|img|iframe|source|object|embed|video|audio)\b[^>]*>", text):
            assert not re.search(r"""(?:src|href|data|srcset)=["']?(?:https?:)?//""", tag), (path.name, tag)
    for path in site.rglob("*.css"):
        assert not re.search(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", path.read_text(encoding="utf-8")), path.name


@pytest.mark.slow
def test_every_public_name_is_on_the_site(site):
    text = (site / "api.html").read_text(encoding="utf-8")
    for name in dn.__all__:
        assert f'id="dagneal.{name}"' in text, name


@pytest.mark.slow
def test_notebooks_changes_and_contributing_are_on_the_site(site):
    assert "P(cancer | smoker, abnormal X-ray)" in (site / "notebooks" / "medical.html").read_text(encoding="utf-8")
    assert 'href="notebooks/sachs.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert 'href="architecture.html"' in (site / "contributing.html").read_text(encoding="utf-8")
    assert "0.1.0" in (site / "changes.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.browser
def test_the_site_is_searched_without_a_server(site, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get((site / "index.html").as_uri())
    box = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    browser.execute_script("document.querySelector('#__search').click()")
    box.send_keys("equivalent sample size")
    found = WebDriverWait(browser, 20).until(lambda at: at.find_elements(By.CSS_SELECTOR, ".md-search-result__link"))
    assert "confidence" in " ".join(link.get_attribute("href") for link in found)
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert [name for name in asked if not name.startswith(("file:", "data:"))] == []
    assert [line["message"] for line in browser.get_log("browser")] == []
