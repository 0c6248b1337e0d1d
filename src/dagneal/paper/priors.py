"""Table 1: with which prior the best and the expected solution coincide."""

from __future__ import annotations

from dagneal.paper.items import Item, Section, Setting, Table, share, verdict
from dagneal.paper.published import CALLED, PRIORS, SMALL, TABLE_1
from dagneal.paper.records import Case, Records

ROWS = (10_000, 100_000, 1_000_000)
SAMPLES = 100
DRAWN = (3, 1, 1)  # the paper's 8 datasets: one expected of each size, and so many samples of each
RARE = 0.005  # the paper's draw is taken as unlike ours where less than this lies beyond it


def cases(setting: Setting) -> list[Case]:
    """Expected data of three sizes for each prior, and 100 samples of each size."""
    expected = [_expected(network, rows, score) for network in SMALL for rows in ROWS for score in PRIORS.values()]
    return expected + [_sampled(network, rows) for network in SMALL for rows in ROWS]


def _expected(network: str, rows: int, score: str) -> Case:
    return Case("optimum", {"network": network, "data": f"expected {rows}", "score": score})


def _sampled(network: str, rows: int) -> Case:
    return Case("priors", {"network": network, "rows": rows, "seeds": [0, SAMPLES]})


def section(records: Records, setting: Setting) -> Section:
    """Shares by prior and size, beside the paper's one draw of 8."""
    rows, reasons, missed = [], [], []
    for network in SMALL:
        for at, (prior, score) in enumerate(PRIORS.items()):
            exact = [records.get(_expected(network, size, score)) for size in ROWS]
            sampled = [records.get(_sampled(network, size)) for size in ROWS]
            hits = [None if r is None else bool(r.result["truth_is_best"]) for r in exact]
            counts = [None if r is None else int(r.result["truth_is_best"][score]) for r in sampled]
            cells = [share(count, SAMPLES) if count is not None else share(0, 0) for count in counts]
            published = TABLE_1[network][at]
            known = [hit for hit in hits if hit is not None]
            rows.append((CALLED[network], prior, f"{published:.2f}", f"{sum(known)} of {len(known)}", *cells))
            if score == "bdeu:1" and not all(known):
                missed.append(f"{CALLED[network]}: the optimum of some expected data is not the truth")
            shares = [float(bool(hit)) for hit in hits]
            shares += [(count or 0) / SAMPLES for count, times in zip(counts, DRAWN, strict=True) for _ in range(times)]
            if tail(shares, round(8 * published)) < RARE:
                mean = sum(shares) / len(shares)
                reasons.append(f"{CALLED[network]} with {prior}: the paper {published:.2f}, ours {mean:.2f} in the mean")
    table = Table(
        "Share of datasets whose optimum is the expected solution; samples: share of 100 seeded ones with its 95% interval",
        ("problem", "alpha_ijk", "the paper, 8 datasets", "ours, expected data", *(f"samples of {n:,} rows" for n in ROWS)),
        rows,
    )
    found = verdict(missed, reasons)
    notes = [
        "With sampled data the optimum is not always the truth: the paper's 8 of 8 is one draw. With 1/r, which unlike "
        "1/(r q) gives equivalent networks different scores, exact search finds networks above the truth on most samples "
        "of 10,000 rows; why the paper's search found none we cannot tell."
    ]
    return Section(*found, [table], notes=notes)


def tail(shares: list[float], hits: int) -> float:
    """How likely a count at least as far out is, the count being of independent events with these probabilities.

    Args:
        shares: the probabilities.
        hits: the count.

    >>> tail([0.5] * 8, 8) == 0.5**8
    True
    """
    counts = [1.0]
    for probability in shares:
        grown = [0.0, *(probability * each for each in counts)]
        counts = [each + (1 - probability) * counts[at] if at < len(counts) else each for at, each in enumerate(grown)]
    return min(sum(counts[hits:]), sum(counts[: hits + 1]))


ITEM = Item(
    "priors",
    "Table 1",
    "The prior, alpha_ijk",
    "Reproduced: with 1/(r q) the optimum of the expected data is the truth at all three sizes of all three problems, and "
    "each of the "
    "paper's shares is one that eight datasets like the paper's could have given (not less than 0.5% beyond it, by our "
    "shares). "
    "In shape: the first of these.",
    cases,
    section,
)
