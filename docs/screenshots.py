"""Take the screenshots of the HTML page in docs with Chromium.

    python docs/screenshots.py           # the pictures in docs/guides
    python docs/screenshots.py all       # also docs/results/gallery: 5 to 76 variables, light and dark, desktop and phone

The networks with 20, 37 and 76 variables come from the bnlearn repository; see benchmarks/networks.py.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import dagneal as dn
from dagneal.confidence.bootstrap import bootstrap
from networks import fetch_networks

GUIDES = Path(__file__).parent / "guides"
PICTURES = Path(__file__).parent / "results" / "gallery"
GALLERY = {  # rows, bootstrap samples and score of each network
    "lung-cancer": (1_000, 50, None),
    "child": (2_000, 50, None),
    "alarm": (5_000, 50, None),
    "win95pts": (5_000, 10, "bic"),
}
SIZES = {"desktop": (1280, 1300), "phone": (390, 844)}
QUALITY = 70  # of a WebP picture, in percent


def open_browser(folder: Path) -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars"):
        options.add_argument(f"--{word}")
    options.add_argument(f"--user-data-dir={folder}")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def learn(network: dn.BayesianNetwork, rows: int, samples: int = 50, score: str | None = None) -> Any:
    data = network.sample(rows, 7)
    measured = bootstrap(data, samples, score=score)
    return dn.learn(data, score=score, time_limit=60).with_confidence(dn.Confidence(bootstrap=measured))


def take(window: Any, page: Path, picture: Path, size: tuple[int, int], scheme: str = "light", question: str = "") -> None:
    """Take a picture of the first screen of a page, with a question in its address."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    window.get("about:blank")
    window.get(page.as_uri() + question)
    if width < 600:
        window.execute_script("document.querySelector('.explorer').scrollIntoView()")
    time.sleep(1.5)  # the answer, and the drawing of it
    picture.parent.mkdir(parents=True, exist_ok=True)
    kind = {"format": "webp", "quality": QUALITY} if picture.suffix == ".webp" else {"format": "png"}
    picture.write_bytes(base64.b64decode(window.execute_cdp_cmd("Page.captureScreenshot", kind)["data"]))
    print(picture)


def take_gallery(window: Any, folder: Path, name: str, result: Any) -> None:
    """Take the pictures of a network in the gallery. `folder` is for the page."""
    page = folder / f"{name}.html"
    result.save(page, title=f"{name}.csv")
    for device, size in SIZES.items():
        for scheme in ("light", "dark"):
            picture = PICTURES / f"{len(result.dag)}-{device}-{scheme}.webp"
            take(window, page, picture, size, scheme, ask_about(result))


def ask_about(result: Any) -> str:
    """Return a question: a state of the variable with most neighbours is observed, and one of its children is shown."""
    dag = result.dag
    hub = max(dag, key=dag.out_degree)
    return f"#observe:{hub}={result.network.states[hub][-1]}&show:{next(dag.successors(hub))}"


def main(words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        window = open_browser(folder / "profile")
        try:
            first, second = dn.load("lung-cancer"), dn.load("alarm-15")
            command = "dagneal learn FILE --bootstrap 50"
            learn(first, 10_000).save(folder / "a.html", title="patients.csv", command=command)
            learn(second, 1_000).save(folder / "b.html", truth=second, title="alarm.csv", command=command)
            asked = "#observe:Smoker=True&observe:Dyspnoea=True&show:Cancer"
            take(window, folder / "a.html", GUIDES / "page.png", (1300, 880), question=asked)
            take(window, folder / "b.html", GUIDES / "page-compared.png", (1300, 1230))
            if words[:1] != ["all"]:
                return
            known = {"lung-cancer": first} | fetch_networks([name for name in GALLERY if name != "lung-cancer"])
            for name, (rows, samples, score) in GALLERY.items():
                take_gallery(window, folder, name, learn(known[name], rows, samples, score))
        finally:
            window.quit()


if __name__ == "__main__":
    main(sys.argv[1:])
