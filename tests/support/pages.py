"""Helpers for tests of the HTML page in a browser."""

import re


def emulate(window, scheme="light", media="", width=None):
    """Set the colour scheme, the medium and the width of the window."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    if width is None:
        window.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    else:
        size = {"width": width, "height": 740, "deviceScaleFactor": 2, "mobile": not media}
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def find_violations(window, axe):
    """Run axe-core, and return the violations and the rules that passed."""
    window.execute_script(axe)
    report = window.execute_async_script("axe.run().then(arguments[0])")
    violations = [
        (rule["impact"], rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in report["violations"]
    ]
    return violations, {rule["id"] for rule in report["passes"]}
