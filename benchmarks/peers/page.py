"""Write the page and the plot of the comparison with other tools, from the records of the runs."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean
from typing import Any

FIGURES = ("seconds", "memory", "below", "right", "wrong", "shd", "cpdag")
HEAD = ("", "seconds", "GB", "nats below the best", "true positives", "false positives", "SHD", "CPDAG distance")
BETTER = {
    "below": "higher score",
    "cpdag": "lower CPDAG distance",
    "shd": "lower SHD",
    "seconds": "faster",
    "memory": "less memory",
}
PACKAGES = ("dagneal", "dwave-samplers", "pybnesian", "pyagrum", "pgmpy", "causal-learn", "pygobnilp")

_INTRODUCTION = """
Every tool learns from the same 10,000 rows of each network. All numbers are means over seeds 1 to 3. Each search runs in its
own process on one core. All tools use BDeu with an equivalent sample size of 1 and the states that occur in the data; other
settings are the defaults. "Seconds" is the CPU time of the search, without imports, compilation and reading. dagneal has its
result earlier and spends the rest of its time on looking for a better one; [Search](search.md) compares at equal times. "GB"
is the peak memory of the process. dagneal scores all graphs; an equivalence class (CPDAG) is first extended to a DAG. **Nats
below the best** is the distance to the best log score that any tool found on the same rows, in natural-log units (nats). "SA
alone" allows at most two parents per variable; the other tools have no limit. SHD counts missing, extra and reversed edges.
Within an equivalence class the data cannot decide the direction of an edge, so SHD is partly chance. A tool that exceeds 300
s on one network is not run on larger networks. `make peers` repeats all measurements.
"""

_TOOLS = """
"SA alone" is an annealer without the rest of dagneal: D-Wave's simulated annealing on the QUBO of the global problem, with
200 reads. Its result is the best read that is a valid network. pgmpy runs with a fixed PYTHONHASHSEED, because its result
depends on it. pyAgrum approximates BDeu, and causal-learn adds a prior on the number of parents; the exact BDeu judges their
graphs. PC uses chi² tests at 0.01. It has no score and may return no valid equivalence class. Its result here is the nearest
DAG: edges with two arrowheads are dropped, and so is one edge of each cycle. "Tabu as bnlearn documents it" is our
implementation, based on the documentation of the R package. Its tabu list has 100 entries, like that of pyAgrum; the default
of R is 10. BLIP, if installed, has a limit of four parents and 40 s. The columns are in the order of the network files. In
hailfinder all edges point forward in this order, which helps searches that break ties by column order.
"""

_RATES = """
The table shows how many parent sets each tool scores per second on one core, after reading, compilation and one-time
preparation. The other tools score one set per call, in random order, for at most ten seconds. dagneal computes all sets at
once. "Difference" is the largest difference from dagneal's scores, in nats.
"""


def page(records: list[dict[str, Any]], rates: list[dict[str, Any]]) -> str:
    """Return the page as Markdown.

    Args:
        records: records of the searches.
        rates: records of the local scores.
    """
    table = means(records)
    networks = list(dict.fromkeys(network for _, network in table))
    lines = [
        "# Comparison with other tools",
        "",
        _INTRODUCTION.strip(),
        "",
        "![Score and time](peers.svg)",
        "",
        _TOOLS.strip(),
        "",
        *versions(),
    ]
    missing = sorted({record["tool"] for record in records if "missing" in record})
    lines += ["", "Not installed for this measurement: " + "; ".join(missing) + "."] if missing else []
    for network in networks:
        lines += ["", f"## {network}", "", *row(HEAD), "|---" + "|--:" * len(FIGURES) + "|"]
        for (tool, where), figures in table.items():
            if where == network:
                lines += row((tool, *cells(figures)))
    lines += ["", "## Where other tools are better", "", *losses(table, networks)]
    return "\n".join([*lines, "", "## Local scores", "", *local_scores(rates), ""])


def means(records: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the mean figures of each tool on each network, or the reason why there are none."""
    best: dict[Any, float] = {}
    for record in records:
        if "score" in record:
            key = record["network"], record["seed"]
            best[key] = max(best.get(key, record["score"]), record["score"])
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for tool, network in dict.fromkeys((record["tool"], record["network"]) for record in records if "missing" not in record):
        own = [record for record in records if (record["tool"], record["network"]) == (tool, network)]
        scored = [record | {"below": best[network, record["seed"]] - record["score"]} for record in own if "score" in record]
        if scored:
            table[tool, network] = {name: mean(record[name] for record in scored) for name in FIGURES}
            if len(scored) < len(own):
                table[tool, network]["of"] = f"{len(scored)} of {len(own)} seeds"
        else:
            table[tool, network] = {"why": own[0].get("late") or own[0]["failed"]}
    return table


def cells(figures: dict[str, Any]) -> list[str]:
    """Return the cells of one row."""
    if "why" in figures:
        return [figures["why"], *[""] * (len(FIGURES) - 1)]
    formats = ("{:.2g}" if figures["seconds"] < 1 else "{:.1f}", "{:.2f}", *["{:.1f}"] * 5)
    texts = [style.format(figures[name]) for name, style in zip(FIGURES, formats, strict=True)]
    return [f"{texts[0]} ({figures['of']})" if "of" in figures else texts[0], *texts[1:]]


def losses(table: dict[tuple[str, str], dict[str, Any]], networks: list[str]) -> list[str]:
    """List for each network which tools are better than dagneal on average, and in what."""
    lines = []
    for network in networks:
        ours = table["dagneal", network]
        parts = []
        for name, words in BETTER.items():
            better = sorted(
                (figures[name], tool)
                for (tool, where), figures in table.items()
                if where == network and tool != "dagneal" and name in figures and figures[name] < ours[name] - 1e-6
            )
            if better:
                value, tool = better[0]
                others = f" and {len(better) - 1} more" if len(better) > 1 else ""
                parts.append(f"{words}: {tool}{others} ({value:.2g}, dagneal {ours[name]:.2g})")
        lines.append(f"- **{network}**: " + ("; ".join(parts) or "none") + ".")
    return lines


def local_scores(rates: list[dict[str, Any]]) -> list[str]:
    """Return the table of local scores."""
    heads = {"alarm": "alarm, 10,000 rows, at most 2 parents", "million": "9 variables x 10^6 rows, at most 3 parents"}
    lines = [
        _RATES.strip(),
        "",
        *row(("", *heads.values())),
        "|---|---|---|",
    ]
    for tool in dict.fromkeys(record["tool"] for record in rates):
        words = []
        for name in heads:
            record = next(record for record in rates if record["tool"] == tool and record["table"] == name)
            if "missing" in record:
                words.append("not installed")
                continue
            count, seconds = record["sets"], record["seconds"]
            rate = f"{count / seconds:,.0f} per second ({count:,} of {record['all']:,} in {seconds:.3f} s)"
            words.append(rate if tool == "dagneal" else f"{rate}, difference {record['apart']:.2g}")
        lines += row((tool, *words))
    return lines


def versions() -> list[str]:
    """Return a line with the versions of the tools."""
    installed = []
    for name in PACKAGES:
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ["Versions: " + ", ".join(installed) + "."]


def row(words: tuple[str, ...]) -> list[str]:
    """Return one row of a Markdown table."""
    return ["| " + " | ".join(words) + " |"]


def plot(records: list[dict[str, Any]], path: Path) -> None:
    """Plot nats below the best score against seconds, with a panel for each network.

    Args:
        records: records of the searches.
        path: file to write.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    table = {key: figures for key, figures in means(records).items() if "below" in figures}
    networks = list(dict.fromkeys(network for _, network in table))
    tools = list(dict.fromkeys(tool for tool, _ in table))
    figure, panels = pyplot.subplots(2, -(-len(networks) // 2), figsize=(12, 7), squeeze=False)
    for panel, network in zip(panels.flat, networks, strict=False):
        for number, tool in enumerate(tools):
            if (tool, network) in table:
                own = table[tool, network]
                size = 110 if tool == "dagneal" else 40
                panel.scatter(
                    own["seconds"], own["below"] + 0.1, s=size, label=tool, color=f"C{number}", marker="*osD^v<>PXh"[number]
                )
        panel.set(title=network, xscale="log", yscale="log", xlabel="seconds", ylabel="nats below the best + 0.1")
    handles = {
        label: handle for panel in panels.flat for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=5)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    figure.savefig(path, metadata={"Date": None})
