// The panel: the states of a variable as bars, evidence, answers, and the conditional table.
const MOST_CHANGED = 8; // variables in the list of changes
const TABLE_ROWS = 50; // rows of a conditional table that are shown at once
const SPOKEN = 4; // states that a screen reader announces
const SLOW = 150; // milliseconds after which the page says that it computes

function startPanel(network, drawing, announce, onChoose) {
  const observed = new Map(), fixed = new Map(), notice = byId("notice");
  let chosen = null, rows = [], prior = null, answer = null, ask = null, failed = false, timer = 0, version = 0;

  const label = (variable) => shorten(network.names[variable]);
  const labelState = (variable, code) => shorten(network.states[variable][code]);
  const pair = (variable, code) => `${label(variable)} = ${labelState(variable, code)}`;
  const hasEvidence = () => observed.size + fixed.size > 0;
  const doing = () => byId("mode-do").checked;

  // Evidence

  const click = (variable, code) => {
    const [own, other] = doing() ? [fixed, observed] : [observed, fixed];
    if (own.get(variable) === code) own.delete(variable);
    else { own.set(variable, code); other.delete(variable); }
    update();
  };
  const remove = (variable) => {
    observed.delete(variable);
    fixed.delete(variable);
    update();
    (byId("evidence").querySelector("button") || byId("variable-name")).focus();
  };
  const clear = () => {
    observed.clear();
    fixed.clear();
    update();
    byId("variable-name").focus();
  };
  const showEvidence = () => {
    const item = (kind) => ([variable, code]) => make("li", { class: kind },
      make("button", { type: "button", class: "name", title: network.names[variable], onclick: () => choose(variable) },
        kind === "fixed" ? `do(${pair(variable, code)})` : pair(variable, code)),
      make("button", { type: "button", class: "remove", "aria-label": `Remove ${pair(variable, code)}`, onclick: () => remove(variable) }, "×"));
    byId("evidence").replaceChildren(...[...observed].map(item("observed")), ...[...fixed].map(item("fixed")));
    byId("evidence").hidden = byId("clear").hidden = !hasEvidence();
    for (const i of drawing.boxes.keys()) {
      const variable = Number(i), kind = fixed.has(variable) ? "fixed" : observed.has(variable) ? "observed" : "";
      const code = fixed.get(variable) ?? observed.get(variable);
      drawing.mark(variable, kind ? `${kind === "fixed" ? "set to " : "= "}${network.states[variable][code]}` : null, kind);
    }
  };

  // Questions to the worker

  const fail = (text) => {
    failed = true;
    clearTimeout(timer);
    byId("panel").setAttribute("aria-busy", "false");
    byId("probability").textContent = "";
    notice.textContent = `This browser cannot answer questions on this page: ${text}. Use dagneal query instead.`;
  };
  const question = (kind, receive) => {
    if (failed) return;
    try {
      ask = ask || startWorker(network, fail);
    } catch (error) {
      fail(error.message);
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => { byId("probability").textContent = "Computing…"; }, SLOW);
    ask(kind, observed, fixed, (reply) => { clearTimeout(timer); receive(reply); });
  };
  const update = () => {
    version++;
    showEvidence();
    writeAddress(network, observed, fixed, chosen);
    byId("explanation").hidden = true;
    showBars(); // the pressed states change at once, the probabilities with the answer
    if (!network.questions) return;
    byId("panel").setAttribute("aria-busy", "true");
    question("answer", (reply) => {
      byId("panel").setAttribute("aria-busy", "false");
      answer = reply;
      if (!hasEvidence() && reply.marginals) prior = reply.marginals;
      if (!prior && reply.marginals) askPrior();
      showAnswer();
      announce(describeAnswer());
    });
  };
  // A link can open the page with evidence. Then the probabilities without evidence are a second question.
  const askPrior = () => {
    ask("prior", new Map(), new Map(), (reply) => {
      prior = reply.marginals || null;
      showBars();
      showChanges();
    });
  };

  const describeRefusal = ({ largest, total, width, limit, totalLimit }) => {
    const count = (size) => (size < 1e15 ? size.toLocaleString("en") : size.toExponential(1));
    const need = largest > limit
      ? `a table with ${count(largest)} numbers (treewidth ${width}); this page computes tables with up to ${count(limit)} numbers`
      : `tables with ${count(total)} numbers together (treewidth ${width}); this page computes up to ${count(totalLimit)}`;
    return `Exact answers need ${need}. ${hasEvidence() ? "More evidence can help" : "Evidence can help"}: click on states of `
      + "well-connected variables. On the command line, dagneal query may use more memory.";
  };
  const problem = () => {
    if (!answer) return "";
    if (answer.refused) return describeRefusal(answer.refused);
    if (!answer.marginals) return "This evidence is impossible: the network gives it probability 0. Remove a state.";
    return "";
  };
  const describeProbability = () => {
    if (!hasEvidence()) return "No evidence yet. Click on a state to add it.";
    if (!observed.size) return "";
    const given = fixed.size ? "P(observed states | set states)" : "P(evidence)";
    const logs = answer.range && answer.range.logs;
    return `${given} = ${logs ? between(fromLog(logs[0]), fromLog(logs[1]), " to ") : fromLog(answer.log)}`;
  };
  // What the answer to an intervention assumes, and whether it is one number.
  const describeEffect = () => {
    if (!fixed.size || !answer || !answer.marginals) return [];
    const lines = ["Assuming no hidden common causes."], names = (answer.open || []).map(label).join(", ");
    // The class is an estimate too: the bootstrap may not support a direction that all its networks share.
    const isUnstable = ({ from, to, absent, arrow }) => !absent && !arrow && [from, to].some((end) => fixed.has(end));
    const unstable = network.edges.filter(isUnstable).length;
    if (!answer.open) {
      return [...lines, `All networks of the equivalence class give this answer.${unstable
        ? ` But the direction of ${plural(unstable, "edge")} at a set variable is undetermined, so the class itself is doubtful.` : ""}`];
    }
    const unknown = `The data do not determine the direction of every edge at ${names}.`;
    if (!answer.range) {
      return [...lines, `${unknown} So the equivalence class does not support a single number. The bars follow the drawn directions, `
        + "which are one of several possibilities; dagneal query computes the range."];
    }
    const { sets, differ, unsupported } = answer.range;
    lines.push(differ
      ? `${unknown} So the equivalence class does not support a single number: ${plural(sets, "possible parent set")} give different `
        + "answers. Each bar shows the lowest and, hatched, the highest."
      : `${unknown} But ${plural(sets, "possible parent set")} give the same answer.`);
    if (unsupported) lines.push(`${plural(unsupported, "parent set")} cannot be evaluated and ${unsupported === 1 ? "is" : "are"} not in the range.`);
    return lines;
  };

  // Answers

  const bounds = (variable) => (answer && answer.range ? [answer.range.low[variable], answer.range.high[variable]]
    : answer && answer.marginals ? [answer.marginals[variable], answer.marginals[variable]] : null);
  const between = (low, high, join) => (low === high ? low : `${low}${join}${high}`); // ends that look equal are written once
  const valueText = (low, high) => between(percent(low), percent(high), " – ");
  const showBars = () => {
    const values = chosen === null ? null : bounds(chosen);
    byId("bars").classList.toggle("ranged", Boolean(values) && values[0].some((low, code) => values[1][code] - low > 1e-9));
    rows.forEach(({ button, low, span, before, value }, code) => {
      const isSet = fixed.get(chosen) === code, isSeen = observed.get(chosen) === code;
      button.setAttribute("aria-pressed", String(isSet || isSeen));
      button.classList.toggle("fixed", isSet);
      const text = values ? valueText(values[0][code], values[1][code]) : "";
      value.textContent = text;
      low.style.width = `${values ? 100 * values[0][code] : 0}%`;
      span.style.left = low.style.width;
      span.style.width = `${values ? 100 * (values[1][code] - values[0][code]) : 0}%`;
      before.hidden = !(prior && hasEvidence());
      if (prior) before.style.left = `${100 * prior[chosen][code]}%`;
      const without = prior && hasEvidence() ? `, without evidence ${percent(prior[chosen][code])}` : "";
      button.title = `${network.states[chosen][code]}: ${text}${without}`;
      button.setAttribute("aria-label", `${labelState(chosen, code)}${text ? `: ${text}` : ""}${without}`);
    });
    byId("bars-note").hidden = !(prior && hasEvidence() && rows.length);
  };
  const showAnswer = () => {
    notice.textContent = problem();
    byId("probability").textContent = notice.textContent ? "" : describeProbability();
    byId("explain").disabled = Boolean(notice.textContent);
    byId("caveats").replaceChildren(...describeEffect().map((text) => make("p", {}, text)));
    showBars();
    showChanges();
  };
  const describeAnswer = () => {
    if (problem()) return problem();
    const parts = [];
    if (chosen !== null) {
      const [low, high] = bounds(chosen), texts = [...low].map((value, code) => `${labelState(chosen, code)} ${valueText(value, high[code])}`);
      parts.push(`${label(chosen)}: ${texts.slice(0, SPOKEN).join(", ")}${texts.length > SPOKEN ? "…" : ""}.`);
    }
    if (observed.size) parts.push(describeProbability());
    return [...parts, ...describeEffect()].join(" ");
  };
  // The variables whose distribution differs most from that without evidence (total variation distance).
  const showChanges = () => {
    const list = byId("changed");
    byId("changes").hidden = !(prior && hasEvidence() && answer && answer.marginals);
    if (byId("changes").hidden) return;
    const changes = network.names.map((_, variable) => {
      if (observed.has(variable) || fixed.has(variable)) return { variable, size: 0 };
      const [low, high] = bounds(variable), middle = low.map((value, code) => (value + high[code]) / 2);
      const gains = [...middle.map((value, code) => value - prior[variable][code])], size = gains.reduce((sum, gain) => sum + Math.abs(gain), 0) / 2;
      const code = gains.indexOf(Math.max(...gains));
      return { variable, size, code, text: `${percent(prior[variable][code])} → ${valueText(low[code], high[code])}` };
    }).filter(({ size }) => size > 5e-4).sort((a, b) => b.size - a.size);
    list.replaceChildren(...changes.slice(0, MOST_CHANGED).map(({ variable, code, text }) => make("li", {},
      make("button", { type: "button", title: network.names[variable], onclick: () => choose(variable) }, label(variable)),
      make("span", { class: "change" }, make("span", { class: "state" }, labelState(variable, code)), ` ${text}`))));
    byId("changes-note").textContent = changes.length
      ? `${plural(changes.length, "variable")} changed by more than 0.05%${changes.length > MOST_CHANGED ? `; the first ${MOST_CHANGED} are listed` : ""}. `
        + "Each line shows the state that gained most."
      : "No other variable changed.";
  };
  const explain = (asked = version) => question("explain", (reply) => {
    if (asked !== version) return; // the evidence has changed since
    showAnswer();
    const box = byId("explanation"), others = network.names.map((_, variable) => variable).filter((v) => !observed.has(v) && !fixed.has(v));
    box.hidden = false;
    if (!reply.states) { box.replaceChildren(make("p", {}, reply.refused ? describeRefusal(reply.refused) : problem())); return; }
    const share = answer && answer.marginals ? ` Probability given the evidence: ${fromLog(reply.log - answer.log)}.` : "";
    const drawn = answer && answer.open ? " It follows the drawn directions." : "";
    const text = `The most probable states of ${others.length === network.names.length ? "all" : "all other"} variables together.${share}${drawn}`;
    box.replaceChildren(make("p", {}, text), make("ul", { class: "pairs" }, ...others.map((variable) => make("li", {},
      make("button", { type: "button", title: network.names[variable], onclick: () => choose(variable) }, label(variable)),
      make("span", { class: "state" }, labelState(variable, reply.states[variable]))))));
    announce(text);
  });

  // The chosen variable

  const choose = (variable) => {
    chosen = variable;
    drawing.uncover(variable);
    drawing.pick(variable);
    onChoose(variable);
    byId("variable-name").textContent = label(variable);
    byId("variable-name").title = network.names[variable];
    byId("choose-hint").hidden = true;
    const relatives = (title, group) => (group.length ? [make("dt", {}, title), make("dd", {}, ...group.map((other) =>
      make("button", { type: "button", title: network.names[other], onclick: () => choose(other) }, label(other))))] : []);
    const ends = network.edges.filter(({ from, to, absent }) => !absent && (from === variable || to === variable));
    byId("relatives").replaceChildren(
      ...relatives("Parents", ends.filter(({ to, arrow }) => arrow && to === variable).map(({ from }) => from)),
      ...relatives("Children", ends.filter(({ from, arrow }) => arrow && from === variable).map(({ to }) => to)),
      ...relatives("Undetermined", ends.filter(({ arrow }) => !arrow).map(({ from, to }) => (from === variable ? to : from))));
    if (!network.questions) { announce(`${label(variable)}. ${notice.textContent}`); return; }
    rows = network.states[variable].map((state, code) => {
      const low = make("span", { class: "low" }), span = make("span", { class: "span" }), before = make("span", { class: "before" });
      const value = make("span", { class: "value" });
      const button = make("button", { type: "button", class: "bar-row", onclick: () => click(variable, code) },
        make("span", { class: "state" }, state), make("span", { class: "track" }, low, span, before), value);
      return { button, low, span, before, value };
    });
    byId("bars").replaceChildren(...rows.map(({ button }) => make("li", {}, button)));
    byId("mode").hidden = false;
    showTable(0);
    byId("table-box").hidden = false;
    writeAddress(network, observed, fixed, chosen);
    if (answer) { showBars(); announce(describeAnswer()); } else update();
  };

  // Conditional table of the chosen variable, a part at a time.
  const showTable = (first) => {
    const own = network.questions.parents[chosen], states = network.states[chosen], table = readTables(network)[chosen];
    const count = table.length / states.length, last = Math.min(first + TABLE_ROWS, count);
    const heads = [...own.map((parent) => label(parent)), ...states.map((state) => shorten(state))];
    const head = make("thead", {}, make("tr", {}, ...heads.map((text, at) => make("th", at < own.length ? { scope: "col" } : { scope: "col", class: "n" }, text))));
    const body = make("tbody");
    for (let row = first; row < last; row++) {
      const codes = [];
      let rest = row;
      for (const parent of [...own].reverse()) { codes.unshift(rest % network.states[parent].length); rest = Math.floor(rest / network.states[parent].length); }
      const cells = own.map((parent, at) => make("th", { scope: "row" }, labelState(parent, codes[at])));
      const values = states.map((_, code) => {
        const value = table[row * states.length + code];
        return make("td", { class: "n", title: String(value) }, Number(value.toPrecision(3)).toString());
      });
      body.append(make("tr", {}, ...cells, ...values));
    }
    byId("table").replaceChildren(make("table", {}, head, body));
    byId("table-rows").textContent = count > TABLE_ROWS ? `Rows ${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${count.toLocaleString("en")}` : "";
    const [previous, next] = [byId("table-previous"), byId("table-next")];
    previous.hidden = next.hidden = count <= TABLE_ROWS;
    previous.disabled = first === 0;
    next.disabled = last === count;
    previous.onclick = () => showTable(Math.max(0, first - TABLE_ROWS));
    next.onclick = () => showTable(first + TABLE_ROWS);
  };

  // Start

  const restore = () => {
    const stored = network.questions ? readAddress(network) : null;
    if (!stored) return;
    observed.clear();
    fixed.clear();
    for (const [variable, code] of stored.observed) observed.set(variable, code);
    for (const [variable, code] of stored.fixed) fixed.set(variable, code);
    answer = null;
    const first = stored.shown ?? [...observed.keys(), ...fixed.keys()][0];
    if (first !== undefined) choose(first); else update();
    if (stored.problems.length) announce(byId("address-problem").textContent =
      `The address has ${plural(stored.problems.length, "part")} that ${stored.problems.length === 1 ? "does" : "do"} not fit this network; ignored.`);
  };
  byId("clear").onclick = clear;
  byId("explain").onclick = () => explain();
  for (const id of ["mode-observe", "mode-do"]) byId(id).onchange = () => { byId("mode-note").hidden = !doing(); };
  if (!network.questions) { notice.textContent = network.reason; byId("ask").hidden = true; }
  addEventListener("hashchange", restore);
  restore();
  return { choose };
}
