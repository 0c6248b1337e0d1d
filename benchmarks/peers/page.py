"""The page and the plot of the peers, from the records of their runs."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean
from typing import Any

FIGURES = ("seconds", "memory", "below", "right", "wrong", "shd", "cpdag")
HEAD = ("", "seconds", "GB", "nats below the best", "right", "wrong", "SHD", "CPDAG distance")
BETTER = {
    "below": "a better score",
    "cpdag": "nearer the true class",
    "shd": "a lower SHD",
    "seconds": "quicker",
    "memory": "less memory",
}
PACKAGES = ("dagneal", "dwave-samplers", "pybnesian", "pyagrum", "pgmpy", "causal-learn", "pygobnilp")

_INTRODUCTION = """
Every tool on the same 10,000 rows of each network, seeds 1 to 3, means; one core and one process each, BDeu with an
equivalent sample size of 1 and the states that occur, otherwise the tool's own defaults, and dagneal's. Seconds are those of
the search, without imports, compilation and reading; memory is the peak of the whole process. All graphs are scored by
dagneal; equivalence classes are extended to a DAG first. **Nats below the best** is against the best score that any tool
found on the same rows, so 0.0 for whoever found it. dagneal has at most four parents a variable, SA alone two, the others no
limit. SHD counts edges that are missing, too many or turned; within a class it is a matter of luck how they are turned.
`make peers` measures all of it again.
"""

_TOOLS = """
"SA alone" is D-Wave's simulated annealing on the QUBO of the whole, 200 reads, the best read that is a network as it stands:
what an annealer does without the rest of dagneal. pgmpy runs with a fixed PYTHONHASHSEED, since its answer changes with it.
pyAgrum's BDeu is an approximation, and causal-learn's has a prior on the number of parents; their graphs are judged by the
exact one. PC tests with chi² at 0.01; it has no score, and what stands for its answer here is the nearest DAG: edges that it
leaves with two heads are dropped, and so is one of each cycle. "Tabu as bnlearn documents it" is written by us after the
documentation of R's, with a list of 100, where R's default is 10 and pyAgrum's 100. BLIP, where it is installed, has four
parents and 40 s. Columns are in the order of the files, in which all edges of hailfinder lead forward: searches that settle
ties by that order gain from it.
"""

_RATES = """
All sets of parents, on one core, after reading, compiling and what a tool does once with the rows. The peers score one set a
call and are asked in random order for at most ten seconds; dagneal gives all at once. "Apart" is the largest difference from
dagneal, in nats.
"""


def page(found: list[dict[str, Any]], rates: list[dict[str, Any]]) -> str:
    """The page, as Markdown.

    Args:
        found: the records of the searches.
        rates: the records of the local scores.
    """
    table = means(found)
    networks = list(dict.fromkeys(network for _, network in table))
    lines = [
        "# Side by side",
        "",
        _INTRODUCTION.strip(),
        "",
        "![Score and time](peers.svg)",
        "",
        _TOOLS.strip(),
        "",
        *versions(),
    ]
    missing = sorted({each["tool"] for each in found if "missing" in each})
    lines += ["", "Not installed where this was measured, so skipped: " + "; ".join(missing) + "."] if missing else []
    for network in networks:
        lines += ["", f"## {network}", "", *row(HEAD), "|---" + "|--:" * len(FIGURES) + "|"]
        for (tool, where), own in table.items():
            if where == network:
                lines += row((tool, *cells(own)))
    lines += ["", "## Where dagneal loses", "", *losses(table, networks)]
    return "\n".join([*lines, "", "## Local scores", "", *local_scores(rates), ""])


def means(found: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The mean figures of each tool on each network, or why there are none."""
    best: dict[Any, float] = {}
    for each in found:
        if "score" in each:
            key = each["network"], each["seed"]
            best[key] = max(best.get(key, each["score"]), each["score"])
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for tool, network in dict.fromkeys((each["tool"], each["network"]) for each in found if "missing" not in each):
        own = [each for each in found if (each["tool"], each["network"]) == (tool, network)]
        fine = [each | {"below": best[network, each["seed"]] - each["score"]} for each in own if "score" in each]
        if fine:
            table[tool, network] = {name: mean(each[name] for each in fine) for name in FIGURES}
            if len(fine) < len(own):
                table[tool, network]["of"] = f"{len(fine)} of {len(own)} seeds"
        else:
            table[tool, network] = {"why": own[0].get("late") or own[0]["failed"]}
    return table


def cells(own: dict[str, Any]) -> list[str]:
    """The figures of one line."""
    if "why" in own:
        return [own["why"], *[""] * (len(FIGURES) - 1)]
    formats = ("{:.2g}" if own["seconds"] < 1 else "{:.1f}", "{:.2f}", *["{:.1f}"] * 5)
    figures = [style.format(own[name]) for name, style in zip(FIGURES, formats, strict=True)]
    return [f"{figures[0]} ({own['of']})" if "of" in own else figures[0], *figures[1:]]


def losses(table: dict[tuple[str, str], dict[str, Any]], networks: list[str]) -> list[str]:
    """For each network who is better than dagneal at what, in the mean."""
    lines = []
    for network in networks:
        ours = table["dagneal", network]
        parts = []
        for name, words in BETTER.items():
            ahead = sorted(
                (own[name], tool)
                for (tool, where), own in table.items()
                if where == network and tool != "dagneal" and name in own and own[name] < ours[name] - 1e-6
            )
            if ahead:
                value, tool = ahead[0]
                others = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
                parts.append(f"{words}: {tool}{others} ({value:.2g} against {ours[name]:.2g})")
        lines.append(f"- **{network}**: " + ("; ".join(parts) or "nowhere") + ".")
    return lines


def local_scores(rates: list[dict[str, Any]]) -> list[str]:
    """The table of local scores."""
    heads = {"alarm": "alarm, 10,000 rows, at most 2 parents", "million": "9 variables x 10^6 rows, at most 3 parents"}
    lines = [
        _RATES.strip(),
        "",
        *row(("", *heads.values())),
        "|---|---|---|",
    ]
    for tool in dict.fromkeys(each["tool"] for each in rates):
        words = []
        for name in heads:
            own = next(each for each in rates if each["tool"] == tool and each["table"] == name)
            if "missing" in own:
                words.append("not installed")
                continue
            pace = (
                f"{own['sets'] / own['seconds']:,.0f} a second ({own['sets']:,} of {own['all']:,} in {own['seconds']:.3f} s)"
            )
            words.append(pace if tool == "dagneal" else f"{pace}, apart {own['apart']:.2g}")
        lines += row((tool, *words))
    return lines


def versions() -> list[str]:
    """What was measured."""
    known = []
    for name in PACKAGES:
        try:
            known.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ["Measured: " + ", ".join(known) + "."]


def row(words: tuple[str, ...]) -> list[str]:
    return ["| " + " | ".join(words) + " |"]


def plot(found: list[dict[str, Any]], path: Path) -> None:
    """Nats below the best against seconds, a panel for each network.

    Args:
        found: the records of the searches.
        path: the drawing.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    table = {key: own for key, own in means(found).items() if "below" in own}
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
