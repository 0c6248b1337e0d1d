// Exact answers in a junction tree. This file is the whole program of the worker; it uses no other file.
//
// A table is a Float64Array with a scope: the list of its variables, of which the last changes fastest. Variables with a known
// state are not in any scope, so evidence makes the tables smaller. Each table and each message is scaled, and the logarithms
// of the scales are summed, so the probability of the evidence may be far below the smallest double.
"use strict";

const LARGEST_TABLE = 2 ** 22; // numbers in one table of the junction tree (32 MB)
const LARGEST_TOTAL = 2 ** 23; // numbers in all tables
const FLOOR = Math.log(1e-150); // a table that may have smaller positive numbers is scaled
const AGREEMENT = 1e-9; // networks of the class agree if their probabilities differ by at most this much
const MOST_CONFIGURATIONS = 2000; // largest number of parent states to sum over, for the range of an effect
const MOST_SECONDS = 5; // longest time for the range of an effect
const KEPT = 8; // junction trees that are kept for the next question

const sizeOf = (scope, states) => scope.reduce((size, variable) => size * states[variable], 1);

// Strides of the variables of `scope` in a table over `inner`; 0 for a variable that is not in `inner`.
function stridesIn(scope, inner, states) {
  const strides = new Map();
  let stride = 1;
  for (let axis = inner.length - 1; axis >= 0; axis--) { strides.set(inner[axis], stride); stride *= states[inner[axis]]; }
  return scope.map((variable) => strides.get(variable) || 0);
}

// Visit a table over `scope` in runs: visit(start, at, step, length), where `at` is the position in the table over `inner`, and
// `step` its stride within the run. Neighbouring variables with a common stride form one axis, so that the runs are long.
function walk(scope, inner, states, visit) {
  const strides = stridesIn(scope, inner, states), axes = []; // the axis that changes fastest comes first
  for (let i = scope.length - 1; i >= 0; i--) {
    const size = states[scope[i]], last = axes[axes.length - 1];
    if (last && strides[i] === last.step * last.size) last.size *= size;
    else axes.push({ size, step: strides[i] });
  }
  if (!axes.length) { visit(0, 0, 0, 1); return; }
  const [{ size: length, step }] = axes, sizes = axes.map((axis) => axis.size), steps = axes.map((axis) => axis.step);
  const digits = new Int32Array(axes.length), size = sizeOf(scope, states);
  for (let start = 0, at = 0; start < size; start += length) {
    visit(start, at, step, length);
    for (let axis = 1; axis < sizes.length; axis++) {
      at += steps[axis];
      if (++digits[axis] < sizes[axis]) break;
      at -= steps[axis] * sizes[axis];
      digits[axis] = 0;
    }
  }
}

function multiply(table, scope, factor, inner, states) {
  walk(scope, inner, states, (start, at, step, length) => {
    for (let i = start, k = at; i < start + length; i++, k += step) table[i] *= factor[k];
  });
}

function sumTo(inner, table, scope, states) {
  const sums = new Float64Array(sizeOf(inner, states));
  walk(scope, inner, states, (start, at, step, length) => {
    for (let i = start, k = at; i < start + length; i++, k += step) sums[k] += table[i];
  });
  return sums;
}

function maximumTo(inner, table, scope, states) {
  const most = new Float64Array(sizeOf(inner, states));
  walk(scope, inner, states, (start, at, step, length) => {
    for (let i = start, k = at; i < start + length; i++, k += step) if (table[i] > most[k]) most[k] = table[i];
  });
  return most;
}

const largest = (table) => { let most = 0; for (const value of table) if (value > most) most = value; return most; };
const smallestLog = (table) => { let least = 1; for (const value of table) if (value > 0 && value < least) least = value; return Math.log(least); };
const total = (table) => { let sum = 0; for (const value of table) sum += value; return sum; };

// Divide a table by a number, and return the logarithm of the number.
function scale(table, divisor) {
  for (let i = 0; i < table.length; i++) table[i] /= divisor;
  return Math.log(divisor);
}

// The part of a conditional table that agrees with the known states.
function restrict(network, variable, rest, known) {
  const family = [...network.parents[variable], variable], strides = stridesIn(family, family, network.states);
  let offset = 0;
  family.forEach((member, axis) => { if (known.has(member)) offset += known.get(member) * strides[axis]; });
  const part = new Float64Array(sizeOf(rest, network.states)), table = network.tables[variable];
  walk(rest, family, network.states, (start, at, step, length) => {
    for (let i = start, k = offset + at; i < start + length; i++, k += step) part[i] = table[k];
  });
  return part;
}

// Eliminate the variables of a graph greedily: the one that adds fewest edges (`byFill`), or that makes the smallest table.
// Return, in this order, each variable with its neighbours at that time.
function eliminate(graph, states, byFill) {
  const near = new Map([...graph].map(([variable, others]) => [variable, new Set(others)])), costs = new Map();
  const cost = (variable) => {
    const others = [...near.get(variable)];
    let fill = 0;
    for (let i = 0; i < others.length; i++) {
      const around = near.get(others[i]);
      for (let j = i + 1; j < others.length; j++) if (!around.has(others[j])) fill++;
    }
    const size = states[variable] * sizeOf(others, states);
    return byFill ? [fill, size] : [size, fill];
  };
  const smaller = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
  for (const variable of near.keys()) costs.set(variable, cost(variable));
  const steps = [];
  while (near.size) {
    let next = -1;
    for (const [variable, value] of costs) if (next < 0 || smaller(value, costs.get(next))) next = variable;
    const others = [...near.get(next)], changed = new Set(others);
    const adds = costs.get(next)[byFill ? 0 : 1] > 0;
    for (const a of others) {
      near.get(a).delete(next);
      for (const b of others) if (a !== b) near.get(a).add(b);
    }
    near.delete(next);
    costs.delete(next);
    // A new edge between two neighbours changes the fill of the variables that are next to both.
    if (adds) for (const a of others) for (const b of near.get(a)) changed.add(b);
    for (const variable of changed) costs.set(variable, cost(variable));
    steps.push({ variable: next, scope: [next, ...others] });
  }
  return steps;
}

const measure = (steps, states) => {
  const sizes = steps.map((step) => sizeOf(step.scope, states));
  return { total: sizes.reduce((sum, size) => sum + size, 0), largest: Math.max(1, ...sizes) };
};

// Build a junction tree for the variables without a known state. The tables of the variables in `cut` are left out. Children
// come before their parents in the list of cliques.
function buildTree(network, known, cut) {
  const { states, parents } = network, graph = new Map(), factors = [];
  parents.forEach((own, variable) => {
    if (!known.has(variable)) graph.set(variable, new Set());
    if (!cut.has(variable)) factors.push({ variable, scope: [...own, variable].filter((member) => !known.has(member)) });
  });
  for (const { scope } of factors) for (const a of scope) for (const b of scope) if (a !== b) graph.get(a).add(b);
  const steps = [true, false].map((byFill) => eliminate(graph, states, byFill))
    .sort((a, b) => measure(a, states).total - measure(b, states).total)[0];
  const size = measure(steps, states), width = Math.max(0, ...steps.map((step) => step.scope.length - 1));
  if (size.largest > LARGEST_TABLE || size.total > LARGEST_TOTAL) {
    return { refused: { ...size, width, limit: LARGEST_TABLE, totalLimit: LARGEST_TOTAL } };
  }
  const position = new Map(steps.map((step, at) => [step.variable, at]));
  const parentOf = steps.map((step) => Math.min(...step.scope.slice(1).map((variable) => position.get(variable))));
  const into = steps.map((_, at) => at), scopes = steps.map((step) => step.scope);
  steps.forEach((_, at) => { // merge a clique into its parent if it contains it
    const parent = parentOf[at];
    if (parent === Infinity || !scopes[parent].every((variable) => scopes[at].includes(variable))) return;
    scopes[parent] = scopes[at];
    into[at] = parent;
  });
  const resolve = (at) => { while (into[at] !== at) at = into[at]; return at; };
  const kept = steps.map((_, at) => at).filter((at) => into[at] === at), number = new Map(kept.map((at, i) => [at, i]));
  const cliques = kept.map((at) => ({ scope: [...scopes[at]].sort((a, b) => a - b), parent: -1, separator: [] }));
  kept.forEach((at, i) => {
    if (parentOf[at] === Infinity) return;
    cliques[i].parent = number.get(resolve(parentOf[at]));
    const above = new Set(cliques[cliques[i].parent].scope);
    cliques[i].separator = cliques[i].scope.filter((variable) => above.has(variable));
  });
  const first = (scope) => Math.min(...scope.map((variable) => position.get(variable)));
  for (const factor of factors) factor.clique = factor.scope.length ? number.get(resolve(first(factor.scope))) : -1;
  const home = new Map(); // the smallest clique of each variable
  cliques.forEach((clique, i) => {
    clique.size = sizeOf(clique.scope, states);
    for (const variable of clique.scope) {
      if (!home.has(variable) || clique.size < cliques[home.get(variable)].size) home.set(variable, i);
    }
  });
  return { cliques, factors, home };
}

// Send messages from the leaves to the roots. Return the tables, the messages, and the logarithm of the total; null if the
// known states are impossible.
function collect(network, tree, known, reduceTo) {
  const { states } = network, { cliques } = tree;
  const tables = cliques.map((clique) => new Float64Array(clique.size).fill(1)), messages = [];
  const floors = new Float64Array(cliques.length); // lower bounds of the logarithms of positive numbers in the tables
  let log = 0;
  const multiplyInto = (clique, factor, scope) => {
    multiply(tables[clique], cliques[clique].scope, factor, scope, states);
    let least = Infinity;
    for (const value of factor) if (value > 0 && value < least) least = value;
    floors[clique] += Math.log(least);
    if (floors[clique] >= FLOOR) return true;
    const most = largest(tables[clique]);
    if (most > 0) log += scale(tables[clique], most);
    floors[clique] = most > 0 ? smallestLog(tables[clique]) : 0;
    return most > 0;
  };
  for (const { variable, scope, clique } of tree.factors) {
    const part = restrict(network, variable, scope, known);
    if (clique < 0) {
      if (part[0] <= 0) return null;
      log += Math.log(part[0]);
    } else if (!multiplyInto(clique, part, scope)) return null;
  }
  for (let i = 0; i < cliques.length; i++) {
    const { scope, separator, parent } = cliques[i], message = reduceTo(separator, tables[i], scope, states);
    const divisor = largest(message);
    if (divisor <= 0) return null;
    log += scale(message, divisor);
    messages.push(message);
    // The message of a root is a single number, which is now 1.
    if (parent >= 0 && !multiplyInto(parent, message, separator)) return null;
  }
  return { tables, messages, log };
}

// Send messages from the roots to the leaves. Then each table is proportional to the distribution of its variables.
function distribute(network, tree, { tables, messages }) {
  const { states } = network, { cliques } = tree;
  for (let i = cliques.length - 1; i >= 0; i--) {
    const { scope, separator, parent } = cliques[i];
    if (parent < 0) continue;
    const ratio = sumTo(separator, tables[parent], cliques[parent].scope, states);
    scale(ratio, largest(ratio));
    for (let k = 0; k < ratio.length; k++) ratio[k] = messages[i][k] > 0 ? ratio[k] / messages[i][k] : 0;
    multiply(tables[i], scope, ratio, separator, states);
    scale(tables[i], largest(tables[i]));
  }
}

class Reasoner {
  constructor(network) {
    this.network = network;
    this.trees = new Map();
  }

  // The junction tree depends on which variables are known, not on their states.
  tree(known, cut) {
    const key = `${[...known.keys()].sort((a, b) => a - b)};${[...cut].sort((a, b) => a - b)}`;
    let tree = this.trees.get(key);
    if (!tree) {
      tree = buildTree(this.network, known, cut);
      if (this.trees.size >= KEPT) this.trees.delete(this.trees.keys().next().value);
      this.trees.set(key, tree);
    }
    return tree;
  }

  // All marginals and the logarithm of the probability of the known states. The tables of the variables in `cut` are left out.
  ask(known, cut) {
    const tree = this.tree(known, cut), { states } = this.network;
    if (tree.refused) return tree;
    const state = collect(this.network, tree, known, sumTo);
    if (!state) return { log: -Infinity };
    distribute(this.network, tree, state);
    const marginals = states.map((count, variable) => {
      if (known.has(variable)) { const one = new Float64Array(count); one[known.get(variable)] = 1; return one; }
      const clique = tree.home.get(variable);
      const marginal = sumTo([variable], state.tables[clique], tree.cliques[clique].scope, states);
      scale(marginal, total(marginal));
      return marginal;
    });
    return { log: state.log, marginals };
  }

  // The logarithm of the probability of the known states only.
  logProbability(known, cut) {
    const tree = this.tree(known, cut);
    if (tree.refused) return NaN;
    const state = collect(this.network, tree, known, sumTo);
    return state ? state.log : -Infinity;
  }

  // The most probable states of all variables, and the logarithm of their joint probability.
  explain(known, cut) {
    const tree = this.tree(known, cut), { states } = this.network;
    if (tree.refused) return tree;
    const state = collect(this.network, tree, known, maximumTo);
    if (!state) return { log: -Infinity };
    const best = new Map(known);
    for (let i = tree.cliques.length - 1; i >= 0; i--) { // a parent comes after its children
      const { scope } = tree.cliques[i], open = scope.filter((variable) => !best.has(variable));
      const strides = stridesIn(scope, scope, states);
      let offset = 0, most = -1, where = 0;
      scope.forEach((variable, axis) => { if (best.has(variable)) offset += best.get(variable) * strides[axis]; });
      walk(open, scope, states, (start, at, step, length) => {
        for (let j = 0, k = offset + at; j < length; j++, k += step) if (state.tables[i][k] > most) { most = state.tables[i][k]; where = k; }
      });
      scope.forEach((variable, axis) => best.set(variable, Math.floor(where / strides[axis]) % states[variable]));
    }
    return { log: state.log, states: states.map((_, variable) => best.get(variable)) };
  }

  // Answer a question with observed states and with states that an intervention sets.
  answer(observed, fixed) {
    const known = new Map([...observed, ...fixed]), cut = new Set(fixed.keys()), drawn = this.ask(known, cut);
    if (drawn.refused || !drawn.marginals) return drawn;
    const open = [...fixed.keys()].filter((variable) => !this.network.sets[variable] || this.network.sets[variable].length > 1);
    if (!open.length) return drawn;
    const range = open.length === 1 && this.network.sets[open[0]] ? this.range(open[0], observed, fixed, drawn) : null;
    return { ...drawn, open, range };
  }

  // The lowest and highest answers over the networks of the equivalence class, which differ in the parents of one set variable.
  // Null if there are too many parent states.
  range(variable, observed, fixed, drawn) {
    const { states, sets, parents } = this.network, own = new Set(parents[variable]), begun = Date.now();
    const configurations = sets[variable].reduce((sum, set) => sum + sizeOf(set, states), 0);
    if (configurations > MOST_CONFIGURATIONS) return null;
    const answers = [];
    let unsupported = 0;
    for (const set of sets[variable]) {
      if (set.length === own.size && set.every((parent) => own.has(parent))) { answers.push(drawn); continue; }
      const answer = this.adjust(variable, set, observed, fixed, () => Date.now() - begun > 1000 * MOST_SECONDS);
      if (answer === undefined) return null;
      if (answer) answers.push(answer); else unsupported++;
    }
    if (!answers.length) return null;
    const bound = (pick) => states.map((count, target) => Float64Array.from({ length: count }, (_, state) =>
      pick(...answers.map((answer) => answer.marginals[target][state]))));
    const low = bound(Math.min), high = bound(Math.max), logs = answers.map((answer) => answer.log);
    const differ = low.some((values, target) => values.some((value, state) => high[target][state] - value > AGREEMENT));
    return { low, high, logs: [Math.min(...logs), Math.max(...logs)], sets: sets[variable].length, unsupported, differ };
  }

  // The answer if an intervened variable has the given parents: the distribution of the network, divided by P(x | parents).
  // Null if the intervention is impossible for some states of the parents; undefined if `late()`.
  adjust(variable, set, observed, fixed, late) {
    const { states } = this.network, others = new Map([...fixed].filter(([other]) => other !== variable)), cut = new Set(others.keys());
    const free = set.filter((parent) => !fixed.has(parent)), parts = [];
    const digits = free.map(() => 0);
    let mass = 0;
    for (let at = sizeOf(free, states); at > 0; at--) {
      if (late()) return undefined;
      const parentStates = new Map(free.map((parent, axis) => [parent, digits[axis]]));
      for (const parent of set) if (fixed.has(parent)) parentStates.set(parent, fixed.get(parent));
      const before = this.ask(parentStates, new Set());
      if (before.refused) return undefined;
      const chance = before.marginals ? before.marginals[variable][fixed.get(variable)] : 0;
      if (chance > 0) {
        const joint = new Map([...others, ...parentStates, [variable, fixed.get(variable)]]);
        mass += Math.exp(this.logProbability(joint, cut)) / chance;
        if (free.every((parent, axis) => !observed.has(parent) || observed.get(parent) === digits[axis])) {
          const answer = this.ask(new Map([...joint, ...observed]), cut);
          if (answer.refused) return undefined;
          if (answer.marginals) parts.push({ log: answer.log - Math.log(chance), marginals: answer.marginals });
        }
      }
      for (let axis = free.length - 1; axis >= 0; axis--) {
        if (++digits[axis] < states[free[axis]]) break;
        digits[axis] = 0;
      }
    }
    if (!(Math.abs(mass - 1) <= AGREEMENT) || !parts.length) return null;
    const most = Math.max(...parts.map((part) => part.log));
    const weights = parts.map((part) => Math.exp(part.log - most)), sum = weights.reduce((a, b) => a + b, 0);
    const marginals = states.map((count, target) => Float64Array.from({ length: count }, (_, state) =>
      parts.reduce((value, part, i) => value + weights[i] * part.marginals[target][state], 0) / sum));
    return { log: most + Math.log(sum), marginals };
  }
}

let reasoner = null;
onmessage = ({ data }) => {
  if (data.kind === "load") { reasoner = new Reasoner(data.network); return; }
  const observed = new Map(data.observed), fixed = new Map(data.fixed), begun = performance.now();
  const known = new Map([...observed, ...fixed]);
  const answer = data.kind === "explain" ? reasoner.explain(known, new Set(fixed.keys())) : reasoner.answer(observed, fixed);
  postMessage({ id: data.id, kind: data.kind, milliseconds: performance.now() - begun, ...answer });
};
