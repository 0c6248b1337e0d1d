// Explore the drawing: search, highlight the relatives of a variable, hide rare edges, show near misses.
const MOST_FOUND = 8; // names in the list below the search box

function startExploring(network, drawing, choose, announce) {
  const search = byId("search"), list = byId("found"), highlight = byId("highlight"), least = byId("least"), misses = byId("misses");
  let chosen = null;

  const matches = () => {
    const text = search.value.trim().toLowerCase();
    return text ? network.names.map((_, i) => i).filter((i) => network.names[i].toLowerCase().includes(text)) : [];
  };
  const open = (variable) => {
    search.value = "";
    showMatches();
    drawing.reveal(variable);
    choose(variable);
    drawing.boxes.get(String(variable)).focus();
  };
  const showMatches = () => {
    const found = matches();
    for (const [i, g] of drawing.boxes) g.classList.toggle("match", found.includes(Number(i)));
    list.replaceChildren(...found.slice(0, MOST_FOUND).map((variable) => make("li", {},
      make("button", { type: "button", title: network.names[variable], onclick: () => open(variable) }, shorten(network.names[variable])))));
    list.hidden = !found.length;
    if (!search.value.trim()) return;
    const more = found.length > MOST_FOUND ? `; the first ${MOST_FOUND} are listed` : "";
    announce(found.length ? `${plural(found.length, "variable")} found${more}.` : "No variable has this text in its name.");
  };
  search.oninput = showMatches;
  search.onkeydown = (event) => {
    if (event.key === "Enter" && matches().length) { event.preventDefault(); open(matches()[0]); }
    if (event.key === "Escape") { search.value = ""; showMatches(); }
  };

  const relatives = {
    blanket: (variable) => blanket(network, variable),
    ancestors: (variable) => reach(network.parents, variable),
    descendants: (variable) => reach(network.children, variable),
  };
  const describe = {
    blanket: (count) => `Markov blanket of ${plural(count, "variable")}: parents, children, and other parents of the children. `
      + "Given these, the other variables say nothing more about it.",
    ancestors: (count) => `${plural(count, "ancestor")}.`,
    descendants: (count) => `${plural(count, "descendant")}.`,
  };
  const showRelatives = () => {
    const kind = highlight.value, note = byId("highlighted");
    note.textContent = "";
    drawing.svg.classList.toggle("dimmed", Boolean(kind) && chosen !== null);
    const group = kind && chosen !== null ? relatives[kind](chosen) : new Set();
    for (const [i, g] of drawing.boxes) g.classList.toggle("related", group.has(Number(i)));
    const inside = new Set([...group, chosen]);
    let open = 0;
    drawing.edges.forEach((g, at) => {
      const { from, to, absent, arrow } = network.edges[at], related = !absent && inside.has(from) && inside.has(to);
      g.classList.toggle("related", related);
      if (related && !arrow) open++;
    });
    if (!kind) return;
    if (chosen === null) { note.textContent = "Select a variable."; return; }
    note.textContent = describe[kind](group.size);
    if (open && kind !== "blanket") {
      note.textContent += ` ${plural(open, "edge")} on the way ${open === 1 ? "has" : "have"} no determined direction, so some may be the reverse.`;
    }
  };
  highlight.onchange = showRelatives;

  const filter = () => {
    const bound = least ? Number(least.value) / 100 : 0, wanted = misses && misses.checked;
    let present = 0, shown = 0;
    drawing.edges.forEach((g, at) => {
      const { frequency, near } = network.edges[at], frequent = frequency === null || frequency >= bound - 1e-9;
      g.classList.toggle("off", near ? !(wanted && frequent) : !frequent);
      if (!near && frequency !== null) { present++; shown += frequent; }
    });
    if (least) byId("least-value").textContent = `${least.value}% · ${shown} of ${plural(present, "edge")}`;
  };
  if (least) least.oninput = () => { filter(); };
  if (least) least.onchange = () => announce(`Edges with at least ${byId("least-value").textContent}.`);
  if (misses) misses.onchange = filter;
  filter();

  return (variable) => { chosen = variable; showRelatives(); };
}
