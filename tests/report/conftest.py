import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from dagneal.report.page import page


@pytest.fixture
def shown(browser, tmp_path):
    """Return a function that opens a page; at the end, check that the console has no messages."""

    def show(result, fragment="", **more):
        path = tmp_path / "page.html"
        path.write_text(page(result, **more), encoding="utf-8")
        browser.get("about:blank")  # a new fragment alone would not load the page again
        browser.get(path.as_uri() + fragment)
        return browser

    yield show
    assert [line["message"] for line in browser.get_log("browser")] == []


@pytest.fixture(scope="session")
def axe():
    """Return the source of axe-core, which is not part of this repository."""
    package = find_spec("axe_playwright_python")  # not imported, because an import needs a browser driver
    if package is None or package.origin is None:
        if os.environ.get("DAGNEAL_BROWSER") == "required":
            pytest.fail("axe-core is required but not installed; `make test` installs it")
        pytest.skip("axe-core is not installed; run pip install --no-deps axe-playwright-python")
    return (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")
