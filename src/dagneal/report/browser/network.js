// The network of the page, from its data block: variables, edges, and conditional tables if the page has them.
function readNetwork() {
  const data = JSON.parse(byId("data").textContent), names = data.nodes.map((node) => node.name);
  const network = { ...data, names, parents: names.map(() => []), children: names.map(() => []), tables: null };
  data.edges.forEach(({ from, to, absent }) => {
    if (absent) return;
    network.parents[to].push(from);
    network.children[from].push(to);
  });
  if (data.questions) {
    const { states, parents, sets } = data.questions;
    Object.assign(network, { states, parents, sets });
  }
  return network;
}

// The conditional tables: the page stores them as one array of little-endian doubles in base 64.
function readTables(network) {
  if (network.tables) return network.tables;
  const bytes = Uint8Array.from(atob(network.questions.tables), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  network.tables = network.parents.map((own, variable) => {
    const size = [...own, variable].reduce((product, member) => product * network.states[member].length, 1);
    return Float64Array.from({ length: size }, () => { at += 8; return view.getFloat64(at - 8, true); });
  });
  return network.tables;
}

// All variables that can be reached from a variable along `next`, without the variable itself.
function reach(next, variable) {
  const found = new Set(), pending = [...next[variable]];
  while (pending.length) {
    const other = pending.pop();
    if (other !== variable && !found.has(other)) { found.add(other); pending.push(...next[other]); }
  }
  return found;
}

// Parents, children, and other parents of the children.
function blanket(network, variable) {
  const found = new Set([...network.parents[variable], ...network.children[variable]]);
  for (const child of network.children[variable]) for (const other of network.parents[child]) found.add(other);
  found.delete(variable);
  return found;
}
