"""Write titanic.csv, a made-up passenger list for examples: python examples/titanic.py FILE

The columns, the gaps and the approximate shares of each class are those of the passenger list of the Titanic. The passengers
are drawn at random.
"""

import csv
import sys
from pathlib import Path

import numpy as np

ROWS = 800
COLUMNS = "PassengerId Survived Pclass Name Sex Age SibSp Parch Ticket Fare Cabin Embarked"
FAMILIES = (  # noqa: SIM905 - a list takes a line for each name
    "Smith Johnson Brown Wilson Murphy Andersson Svensson Olsen Hansen Kelly Ryan Davies Carter Hart Baker Goodwin "
    "Palsson Rice Skoog Lefebre Ford Dean Becker Harris Fortune Allison Thayer Widener Navratil Collyer Herman West "
    "Caldwell Nakid Coutts"
).split()
MEN = "William John James Charles George Thomas Edward Henry Joseph Frederick Karl Johan Patrick Samuel Arthur".split()  # noqa: SIM905
WOMEN = "Mary Anna Margaret Elizabeth Alice Helen Ellen Bertha Emily Hanna Catherine Agnes Kate Ida".split()  # noqa: SIM905
SURVIVAL = {(1, True): 0.968, (2, True): 0.905, (3, True): 0.51, (1, False): 0.36, (2, False): 0.1, (3, False): 0.13}
CHILDREN_SURVIVAL = {1: 0.95, 2: 0.97, 3: 0.42}
PORTS = {1: [0.59, 0.40, 0.01], 2: [0.89, 0.09, 0.02], 3: [0.72, 0.13, 0.15]}


def draw_passenger(number: int, rng: np.random.Generator) -> list[object]:
    """Return one row of the table."""
    ticket_class = int(rng.choice([1, 2, 3], p=[0.24, 0.21, 0.55]))
    female = rng.random() < {1: 0.435, 2: 0.41, 3: 0.29}[ticket_class]
    mean, deviation = {1: (39, 14), 2: (30.5, 13), 3: (25.5, 11)}[ticket_class]
    age = float(np.clip(rng.normal(mean, deviation), 0.5, 76))
    if rng.random() < {1: 0.02, 2: 0.08, 3: 0.11}[ticket_class]:
        age = rng.uniform(0.5, 12)
    child = age < 13
    siblings = [0.74, 0.24, 0.015, 0.005, 0]
    if child:
        siblings = [0.2, 0.35, 0.18, 0.15, 0.12] if ticket_class == 3 else [0.3, 0.5, 0.2, 0, 0]
    parents = [0.02, 0.5, 0.48, 0] if child else [0.83, 0.1, 0.06, 0.01] if female else [0.93, 0.05, 0.02, 0]
    with_siblings, with_parents = int(rng.choice(5, p=siblings)), int(rng.choice(4, p=parents))
    family = with_siblings + with_parents
    price, spread = {1: (55, 0.5), 2: (16, 0.3), 3: (8.2, 0.18)}[ticket_class]
    fare = round(price * (1 + 0.75 * family) * float(np.exp(rng.normal(0, spread))) * 4) / 4
    chance = CHILDREN_SURVIVAL[ticket_class] if child else SURVIVAL[ticket_class, female]
    survived = int(rng.random() < (0.4 * chance if family > 3 else chance))
    age_known = rng.random() < {1: 0.87, 2: 0.94, 3: 0.72}[ticket_class]
    cabin = ""
    if rng.random() < {1: 0.8, 2: 0.08, 3: 0.02}[ticket_class]:
        cabin = f"{rng.choice(list({1: 'BCDE', 2: 'DEF', 3: 'FG'}[ticket_class]))}{rng.integers(2, 130)}"
    title = ("Miss." if age < 24 else "Mrs.") if female else ("Master." if age < 14 else "Mr.")
    name = f"{rng.choice(FAMILIES)}, {title} {rng.choice(WOMEN if female else MEN)}"
    ticket = f"{rng.choice(['', '', '', 'PC ', 'A/5 ', 'CA. '])}{rng.integers(2000, 390_000)}"
    years = (f"{age:.2f}" if age < 1 else f"{int(age)}") if age_known else ""
    port = str(rng.choice(["S", "C", "Q"], p=PORTS[ticket_class]))
    sex = "female" if female else "male"
    return [number, survived, ticket_class, name, sex, years, with_siblings, with_parents, ticket, f"{fare:g}", cabin, port]


def main(path: str) -> None:
    """Write the table."""
    rng = np.random.default_rng(1912)
    rows = [draw_passenger(number, rng) for number in range(1, ROWS + 1)]
    for at in (61, 629):
        rows[at][-1] = ""  # two ports are unknown
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS.split())
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1])
