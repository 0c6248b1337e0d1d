// The fragment of the address stores the evidence, so that a link opens the page with the same question:
// #observe:NAME=STATE&do:NAME=STATE&show:NAME, all percent-encoded.
const ADDRESS = /^(observe|do|show):([^=]*)(?:=(.*))?$/;

// Read the evidence from the fragment. `problems` lists the parts that do not fit this network. Null for other fragments.
function readAddress(network) {
  const parts = location.hash.slice(1).split("&");
  if (!parts.some((part) => ADDRESS.test(part))) return null;
  const found = { observed: new Map(), fixed: new Map(), shown: null, problems: [] };
  for (const part of parts) {
    try {
      const [, kind, name, state] = ADDRESS.exec(part), variable = network.names.indexOf(decodeURIComponent(name));
      if (variable < 0) throw new Error("unknown");
      if (kind === "show") { found.shown = variable; continue; }
      const code = network.states[variable].indexOf(decodeURIComponent(state));
      if (code < 0) throw new Error("unknown");
      found.observed.delete(variable);
      found.fixed.delete(variable);
      (kind === "do" ? found.fixed : found.observed).set(variable, code);
    } catch {
      found.problems.push(part);
    }
  }
  return found;
}

function writeAddress(network, observed, fixed, shown) {
  const pair = (kind) => ([variable, code]) =>
    `${kind}:${encodeURIComponent(network.names[variable])}=${encodeURIComponent(network.states[variable][code])}`;
  try {
    const parts = [...[...observed].map(pair("observe")), ...[...fixed].map(pair("do"))];
    if (parts.length && shown !== null) parts.push(`show:${encodeURIComponent(network.names[shown])}`);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
  } catch { /* a frame without an address of its own; the question still works */ }
}
