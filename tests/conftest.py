import os
import shutil

import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests that use a browser or embeddings for a full chip, before `-m` selects tests."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "browser" in fixtures:
            item.add_marker(pytest.mark.browser)
        if "embeddings" in fixtures and "shared_embeddings" not in fixtures:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def embeddings(tmp_path_factory):
    """A folder that caches embeddings for the session, because they are slow to find.

    Searches for subgraphs end early. Those that succeed take at most 1.5 s, and the others would take all their time.
    """
    from dagneal.qpu import tiling

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiling, "_SUBGRAPH_SECONDS", 3)
        yield tmp_path_factory.mktemp("embeddings")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        if os.environ.get("DAGNEAL_BROWSER") == "required":
            pytest.fail("chromium and chromedriver are required (DAGNEAL_BROWSER=required), but were not found")
        pytest.skip(
            "chromium and chromedriver are not installed; on Debian, install the packages chromium and chromium-driver"
        )
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    quiet = "no-first-run disable-background-networking disable-component-update disable-sync disable-quic"
    for word in f"headless no-sandbox disable-gpu window-size=1100,1400 {quiet}".split():
        options.add_argument(f"--{word}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    session = webdriver.Chrome(options=options, service=Service(driver))
    yield session
    session.quit()
