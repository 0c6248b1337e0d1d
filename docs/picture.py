"""Draw docs/picture.svg: rows of data, their QUBO, and the network that is its ground state."""

from math import hypot, log10
from pathlib import Path

import dagneal as dn

PLACES = {"Pollution": (60, 45), "Smoker": (190, 45), "Cancer": (125, 125), "Xray": (60, 205), "Dyspnoea": (190, 205)}
INK, BLUE, RED, PALE = "#1f2933", "#2166ac", "#b2182b", "#eef2f6"


def text(x: float, y: float, words: str, size: int = 12, anchor: str = "middle", fill: str = INK) -> str:
    style = f'font-family="Helvetica, Arial, sans-serif" font-size="{size}" text-anchor="{anchor}" fill="{fill}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>'


def rows(data: dn.Dataset) -> list[str]:
    out = []
    for c, name in enumerate(data.names):
        out.append(text(10 + 52 * c, 24, name[:9], 10, "start"))
    for r in range(10):
        out.append(f'<rect x="4" y="{34 + 20 * r}" width="264" height="17" rx="3" fill="{PALE}"/>')
        for c, states in enumerate(data.states):
            out.append(text(10 + 52 * c, 47 + 20 * r, states[data.codes[c, r * 2]][:8], 9, "start"))
    return out


def matrix(bqm) -> list[str]:
    q = dn.qubo.qubo_matrix(bqm)
    side = 240 / len(q)
    out = [f'<rect x="0" y="0" width="240" height="240" fill="{PALE}"/>']
    top = abs(q).max()
    for i in range(len(q)):
        for j in range(i, len(q)):
            if q[i, j]:
                depth = max(0.15, 1 + log10(abs(q[i, j]) / top) / 4)
                fill = RED if q[i, j] > 0 else BLUE
                box = f'x="{j * side:.1f}" y="{i * side:.1f}" width="{side:.1f}" height="{side:.1f}"'
                out.append(f'<rect {box} fill="{fill}" fill-opacity="{depth:.2f}"/>')
    return out


def network(dag) -> list[str]:
    out = []
    for a, b in dag.edges:
        (x1, y1), (x2, y2) = PLACES[a], PLACES[b]
        length = hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        line = f'x1="{x1 + 24 * dx:.1f}" y1="{y1 + 24 * dy:.1f}" x2="{x2 - 30 * dx:.1f}" y2="{y2 - 30 * dy:.1f}"'
        out.append(f'<line {line} stroke="{INK}" stroke-width="2" marker-end="url(#tip)"/>')
    for name, (x, y) in PLACES.items():
        out.append(f'<ellipse cx="{x}" cy="{y}" rx="46" ry="19" fill="white" stroke="{BLUE}" stroke-width="2"/>')
        out.append(text(x, y + 4, name))
    return out


def picture() -> str:
    data = dn.load("lung-cancer").sample(10_000, seed=7)
    table = dn.scoring.score_table(data)
    solution = dn.solvers.exact(table)
    bqm = dn.qubo.encode(table, dn.PAPER)
    head = 'viewBox="0 0 10 10" refX="8" refY="5" markerWidth="6" markerHeight="6" orient="auto"'
    tip = f'<marker id="tip" {head}><path d="M0 0 10 5 0 10z" fill="{INK}"/></marker>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 300" width="900" height="300"><defs>{tip}</defs>',
        '<rect width="900" height="300" fill="white"/>',
        '<g transform="translate(16,16)">',
        *rows(data),
        text(136, 268, f"{data.rows:,} rows, {len(data.weights)} distinct"),
        "</g>",
        text(305, 140, "→", 30),
        '<g transform="translate(330,16)">',
        *matrix(bqm),
        text(120, 268, f"QUBO: {bqm.num_variables} variables, {bqm.num_interactions} interactions"),
        "</g>",
        text(595, 140, "→", 30),
        '<g transform="translate(625,16)">',
        *network(solution.dag),
        text(125, 268, f"log score {solution.score:.1f}, the highest (proved)"),
        "</g></svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("picture.svg").write_text(picture(), encoding="utf-8")
