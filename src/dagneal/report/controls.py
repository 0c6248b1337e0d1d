"""The controls of the page: search, highlight, slider and export above the drawing, and the panel for questions beside it.

The scripts in `browser` give them their function. They are hidden as long as scripts do not run.
"""

from __future__ import annotations

from html import escape

_HIGHLIGHTS = {
    "": "nothing",
    "blanket": "Markov blanket",
    "ancestors": "ancestors",
    "descendants": "descendants",
}
_BUTTONS = {"in": "Zoom in", "out": "Zoom out", "fit": "Fit", "save-svg": "Save SVG", "save-png": "Save PNG"}


def toolbar(bootstrap: bool, near_misses: int, drawn: bool) -> str:
    """Return the controls above the drawing as HTML.

    Args:
        bootstrap: whether edges have bootstrap frequencies, so that a slider can hide rare edges.
        near_misses: number of edges that are frequent in the bootstrap but absent from the network.
        drawn: whether the near misses are drawn at first.
    """
    options = "".join(f'<option value="{key}">{text}</option>' for key, text in _HIGHLIGHTS.items())
    fields = [
        '<div class="field search"><label for="search">Find a variable</label>'
        '<input type="search" id="search" autocomplete="off" spellcheck="false">'
        '<ul id="found" aria-label="Variables found" hidden></ul></div>',
        f'<div class="field"><label for="highlight">Highlight</label><select id="highlight">{options}</select></div>',
    ]
    if bootstrap:
        fields.append(
            '<div class="field"><label for="least">Least bootstrap frequency</label><div class="slide">'
            '<input type="range" id="least" min="0" max="100" step="5" value="0">'
            '<output id="least-value" for="least">0%</output></div></div>'
        )
    if near_misses:
        checked = " checked" if drawn else ""
        box = f'<input type="checkbox" id="misses"{checked}>'
        fields.append(f'<div class="field check"><label>{box} Near misses ({near_misses:,})</label></div>')
    buttons = "".join(f'<button type="button" id="{name}">{text}</button>' for name, text in _BUTTONS.items())
    fields.append(f'<div class="field buttons">{buttons}</div>')
    return f'<div class="toolbar needs-script">{"".join(fields)}</div>'


def question_panel() -> str:
    """Return the panel beside the drawing as HTML: the chosen variable, the evidence and the answers."""
    hint = "Select a variable in the drawing, or find it by name."
    set_note = (
        "Set forces a state from outside and cuts the influence of the parents. "
        "Observe only reports that the state occurred."
    )
    return f"""<aside class="panel needs-script" id="panel" aria-label="Questions to the network">
<h2 id="variable-name" tabindex="-1">Ask the network</h2>
<p id="choose-hint" class="soft">{escape(hint)}</p>
<dl id="relatives"></dl>
<fieldset id="mode" hidden><legend>Click on a state to</legend>
<label><input type="radio" name="mode" id="mode-observe" checked><span>Observe</span></label>
<label><input type="radio" name="mode" id="mode-do"><span>Set (do)</span></label></fieldset>
<p id="mode-note" class="soft" hidden>{escape(set_note)}</p>
<ul id="bars"></ul>
<p id="bars-note" class="soft" hidden><i class="before-key" aria-hidden="true"></i> without evidence</p>
<p id="notice"></p>
<section id="ask"><h3>Evidence</h3>
<ul id="evidence" hidden></ul>
<p id="address-problem" class="soft"></p>
<p id="probability">No evidence yet. Click on a state to add it.</p>
<div id="caveats"></div>
<div class="buttons"><button type="button" id="explain">Most probable explanation</button>
<button type="button" id="clear" hidden>Clear all</button></div>
<div id="explanation" hidden></div></section>
<section id="changes" hidden><h3>What changed</h3><ul id="changed" class="pairs"></ul>
<p id="changes-note" class="soft"></p></section>
<details id="table-box" hidden><summary>Conditional table</summary>
<div id="table" class="wide" tabindex="0" role="region" aria-label="Conditional table"></div>
<div class="buttons"><button type="button" id="table-previous">Previous</button>
<button type="button" id="table-next">Next</button>
<span id="table-rows" class="soft"></span></div></details>
<p id="announcement" class="full" role="status"></p>
</aside>"""
