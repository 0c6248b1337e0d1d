// The drawing: zoom, move, tooltips, and drawing again what moved.
const LANE = 18, LEAN = 0.5, ROUND = 28; // as in drawing.py
const STILL = 5; // pixels: a pointer that moved less has clicked
const SVG = "http://www.w3.org/2000/svg";

function startDrawing(network) {
  const svg = byId("network"), tip = byId("tip");
  const view = svg.viewBox.baseVal, canvas = svg.parentElement;
  let home = { x: view.x, y: view.y, w: view.width, h: view.height };
  const boxes = new Map([...svg.querySelectorAll(".node")].map((g) => [g.dataset.i, g]));
  const place = new Map(network.nodes.map((node, i) => [String(i), { x: node.x, y: node.y, w: node.w, h: node.h }]));
  const edges = [...svg.querySelectorAll(".edge")], marks = new Map();

  // Point where a line from a box to a point leaves the box; drawing.py has the same formulas.
  const exitPoint = (box, to) => {
    const dx = to.x - box.x, dy = to.y - box.y;
    if (Math.abs(dy) > box.h) {
      const most = box.w / 2 - 8;
      return { x: box.x + Math.min(Math.max(dx * box.h / 2 / Math.abs(dy), -most), most), y: box.y + (dy > 0 ? box.h / 2 : -box.h / 2) };
    }
    const t = Math.min(Math.abs(box.w / 2 / (dx || 1e-9)), Math.abs(box.h / 2 / (dy || 1e-9)), 1);
    return { x: box.x + dx * t, y: box.y + dy * t };
  };
  // Bends do not move with the boxes. A bend that is no longer between the two boxes is skipped.
  const cornersOf = (a, b, bends) => {
    const lane = a.y < b.y ? LANE : -LANE, top = Math.min(a.y, b.y) + LANE, bottom = Math.max(a.y, b.y) - LANE;
    const line = [[a.x, a.y], ...bends.filter(([, y]) => top < y && y < bottom), [b.x, b.y]];
    return line.slice(1, -1).flatMap(([x, y], i) => {
      const come = (x - line[i][0]) / (y - line[i][1]), go = (line[i + 2][0] - x) / (line[i + 2][1] - y);
      const lean = come * go > 0 ? Math.sign(come) * Math.min(Math.abs(come), Math.abs(go), LEAN) : 0;
      return [{ x: x - lean * lane, y: y - lane }, { x: x + lean * lane, y: y + lane }];
    });
  };
  const towards = (a, b) => {
    const share = Math.min(0.5, ROUND / (Math.hypot(b.x - a.x, b.y - a.y) || 1));
    return `${a.x + share * (b.x - a.x)} ${a.y + share * (b.y - a.y)}`;
  };
  const draw = (g) => {
    const a = place.get(g.dataset.a), b = place.get(g.dataset.b), corners = cornersOf(a, b, network.bends[edges.indexOf(g)]);
    const p = exitPoint(a, corners[0] || b), q = exitPoint(b, corners[corners.length - 1] || a), points = [p, ...corners, q];
    let line = `M${p.x} ${p.y}`;
    corners.forEach((c, i) => { line += `L${towards(c, points[i])}Q${c.x} ${c.y} ${towards(c, points[i + 2])}`; });
    line += `L${q.x} ${q.y}`;
    g.querySelectorAll(".line, .hit").forEach((path) => path.setAttribute("d", line));
    const head = g.querySelector(".head"), before = corners[corners.length - 1] || p;
    if (!head) return;
    const angle = Math.atan2(q.y - before.y, q.x - before.x), at = (turn, far = 11) =>
      `${q.x - far * Math.cos(angle + turn)} ${q.y - far * Math.sin(angle + turn)}`;
    const bar = g.classList.contains("fixed") ? `M${at(0.35, 15)}L${at(-0.35, 15)}` : "";
    head.setAttribute("d", `M${q.x} ${q.y}L${at(0.4)}L${at(-0.4)}Z${bar}`);
  };
  const move = (i, dx, dy, redraw = true) => {
    const box = place.get(i);
    box.x += dx; box.y += dy;
    boxes.get(i).setAttribute("transform", `translate(${box.x} ${box.y})`);
    if (redraw) edges.filter((g) => g.dataset.a === i || g.dataset.b === i).forEach(draw);
  };

  const toDrawing = (x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
  const point = (event) => toDrawing(event.clientX, event.clientY);
  const zoom = (factor, at) => {
    const x = at ? at.x : view.x + view.width / 2, y = at ? at.y : view.y + view.height / 2;
    const w = Math.min(Math.max(view.width * factor, home.w / 20), home.w * 4), k = w / view.width;
    view.x = x - (x - view.x) * k; view.y = y - (y - view.y) * k; view.width = w; view.height *= k;
  };
  const setView = (at) => { view.x = at.x; view.y = at.y; view.width = at.w; view.height = at.h; };
  svg.addEventListener("wheel", (event) => { // without Ctrl, the wheel scrolls the page; a trackpad pinch sets ctrlKey
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point(event));
  }, { passive: false });
  byId("in").onclick = () => zoom(1 / 1.3);
  byId("out").onclick = () => zoom(1.3);
  // The first click shows the complete drawing, even with tiny letters; the next one returns to readable letters.
  byId("fit").onclick = () => { setView(home); canvas.classList.toggle("whole"); };
  const showMiddle = () => { canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2; };
  showMiddle();

  // A large network: draw the neighbourhood of the variable that the user chooses.
  // Near misses that were not requested have no part in the layout.
  const placed = edges.map((_, at) => at).filter((at) => !network.edges[at].near || !edges[at].matches(".off"));
  const pairOf = (at) => [network.edges[at].from, network.edges[at].to], select = make("select", { id: "centre" });
  const showNeighbourhood = (centre) => {
    const found = layOutNeighbourhood(network.nodes, placed.map(pairOf), centre, network.nearby.most, network.nearby.wide);
    select.value = String(centre);
    for (const [i, g] of boxes) {
      const at = found.place.get(Number(i));
      g.classList.toggle("away", !at);
      g.classList.remove("more");
      g.classList.toggle("centre", Number(i) === centre);
      if (at) { Object.assign(place.get(i), at); move(i, 0, 0, false); }
    }
    edges.forEach((g, at) => {
      const drawn = pairOf(at).every((i) => found.place.has(i)), bends = drawn && (found.bends.get(placed.indexOf(at)) || []);
      g.classList.toggle("away", !bends);
      if (bends) { network.bends[at] = bends; draw(g); return; }
      if (placed.includes(at)) for (const i of pairOf(at)) if (found.place.has(i)) boxes.get(String(i)).classList.add("more");
    });
    const xs = [], ys = [];
    for (const [i, { x, y }] of found.place) {
      xs.push(x - network.nodes[i].w / 2, x + network.nodes[i].w / 2);
      ys.push(y - network.nodes[i].h / 2, y + network.nodes[i].h / 2);
    }
    for (const bends of found.bends.values()) for (const [x] of bends) xs.push(x);
    const left = Math.min(...xs) - 24, top = Math.min(...ys) - 24;
    home = { x: left, y: top, w: Math.max(...xs) + 24 - left, h: Math.max(...ys) + 24 - top };
    svg.setAttribute("viewBox", `${home.x} ${home.y} ${home.w} ${home.h}`);
    svg.style.setProperty("--most", `${home.h * 15 / 13}px`);
    svg.style.setProperty("--least", `${Math.min(home.w * 11 / 13, 1116)}px`);
    showMiddle();
    byId("nearby").textContent = `The drawing shows the ${found.place.size} of ${network.nodes.length} variables that are `
      + `nearest to ${network.names[centre]}. Dashed boxes have more neighbours.`;
  };
  if (network.nearby) {
    const order = network.names.map((_, i) => i).sort((a, b) => network.names[a].localeCompare(network.names[b]));
    for (const i of order) select.add(new Option(shorten(network.names[i]), i));
    select.value = String(network.nearby.centre);
    select.onchange = () => showNeighbourhood(Number(select.value));
    byId("highlight").closest(".field").before(make("div", { class: "field" }, make("label", { for: "centre" }, "Neighbourhood of"), select));
  }

  // A mouse or a pen moves variables and the view. The pointer is captured only once it moves, so that clicks reach the boxes.
  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const node = event.target.closest(".node");
    held = { node: node && node.dataset.i, at: point(event), from: event, moved: false };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.from.pointerId) return;
    if (!held.moved && Math.hypot(event.clientX - held.from.clientX, event.clientY - held.from.clientY) < STILL) return;
    if (!held.moved) svg.setPointerCapture(event.pointerId);
    held.moved = true;
    const now = point(event);
    if (held.node) {
      move(held.node, now.x - held.at.x, now.y - held.at.y);
      held.at = now;
    } else { view.x -= now.x - held.at.x; view.y -= now.y - held.at.y; }
  });
  for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, () => { held = null; });

  // One finger scrolls the page. Two fingers move the view and zoom.
  let pinch = null;
  const fingers = ({ touches: [a, b] }) => {
    const x = (a.clientX + b.clientX) / 2, y = (a.clientY + b.clientY) / 2;
    return { at: toDrawing(x, y), x, y, far: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) };
  };
  svg.addEventListener("touchstart", (event) => {
    if (event.touches.length !== 2) return;
    if (event.cancelable) event.preventDefault(); // not while the page scrolls
    pinch = fingers(event);
  }, { passive: false });
  svg.addEventListener("touchmove", (event) => {
    if (!pinch || event.touches.length !== 2) return;
    if (event.cancelable) event.preventDefault();
    const now = fingers(event);
    view.x -= now.at.x - pinch.at.x; view.y -= now.at.y - pinch.at.y;
    if (now.far && pinch.far) zoom(pinch.far / now.far, toDrawing(now.x, now.y));
    pinch = fingers(event);
  }, { passive: false });
  for (const kind of ["touchend", "touchcancel"]) svg.addEventListener(kind, () => { pinch = null; });

  let described = null;
  const showTip = (g, x, y) => {
    described = g;
    tip.textContent = g.dataset.tip;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + scrollX}px`;
    tip.style.top = `${y + 14 + scrollY}px`;
  };
  const hideTip = () => { tip.hidden = true; };
  for (const g of edges) {
    g.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") showTip(g, event.clientX, event.clientY); });
    g.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hideTip(); });
    g.addEventListener("click", (event) => showTip(g, event.clientX, event.clientY));
  }
  for (const g of [...edges, ...boxes.values()]) {
    g.addEventListener("focus", () => {
      if (!g.matches(":focus-visible")) return;
      const box = g.getBoundingClientRect();
      showTip(g, box.x + box.width / 2, box.y + box.height / 2);
    });
    g.addEventListener("blur", () => { if (described === g) hideTip(); }); // keep the text of an edge that was tapped next
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".edge")) hideTip(); });

  const arrows = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
  const onChoice = (choose) => {
    for (const [i, g] of boxes) {
      g.setAttribute("role", "button"); // without scripts, it is an image
      g.setAttribute("aria-pressed", "false");
      g.addEventListener("click", () => choose(Number(i)));
      g.addEventListener("keydown", (event) => {
        if (arrows[event.key]) move(i, ...arrows[event.key]);
        else if (event.key === "Enter" || event.key === " ") choose(Number(i));
        else return;
        event.preventDefault();
        hideTip();
      });
    }
  };
  const pick = (chosen) => {
    const box = boxes.get(String(chosen)).getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    if (box.left < frame.left || box.right > frame.right) canvas.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
    for (const [i, g] of boxes) {
      g.classList.toggle("chosen", Number(i) === chosen);
      g.setAttribute("aria-pressed", String(Number(i) === chosen));
    }
  };

  // Write the state of the evidence below a box; null removes it.
  const mark = (variable, text, kind) => {
    const g = boxes.get(String(variable)), box = place.get(String(variable));
    if (marks.has(variable)) marks.get(variable).remove();
    marks.delete(variable);
    g.classList.remove("observed", "fixed");
    if (text === null) return;
    g.classList.add(kind);
    const shape = (tag, attributes) => {
      const element = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    const badge = shape("g", {}), back = shape("rect", { class: "badge" });
    const label = shape("text", { class: "evidence", "text-anchor": "middle", y: box.h / 2 + 10 });
    label.textContent = text.length > 24 ? `${text.slice(0, 23)}…` : text;
    badge.append(back, label);
    g.append(badge);
    const width = (label.getComputedTextLength() || 7 * label.textContent.length) + 14; // a box that is not drawn has no length
    for (const [name, value] of Object.entries({ x: -width / 2, y: box.h / 2 - 2, width, height: 17, rx: 8 })) back.setAttribute(name, value);
    marks.set(variable, badge);
  };

  // Draw a variable that is not in the neighbourhood.
  const uncover = (variable) => { if (boxes.get(String(variable)).matches(".away")) showNeighbourhood(variable); };
  // Show a variable that is not drawn, or lies outside the visible part.
  const reveal = (variable) => {
    uncover(variable);
    const box = place.get(String(variable));
    if (box.x - box.w / 2 < view.x || box.x + box.w / 2 > view.x + view.width
      || box.y - box.h / 2 < view.y || box.y + box.h / 2 > view.y + view.height) {
      view.x = box.x - view.width / 2;
      view.y = box.y - view.height / 2;
    }
  };

  // The area of the complete drawing, also after variables were moved.
  const extent = () => {
    const area = { left: home.x, top: home.y, right: home.x + home.w, bottom: home.y + home.h };
    for (const [i, box] of place) {
      if (boxes.get(i).matches(".away")) continue;
      area.left = Math.min(area.left, box.x - box.w / 2 - 12);
      area.right = Math.max(area.right, box.x + box.w / 2 + 12);
      area.top = Math.min(area.top, box.y - box.h / 2 - 12);
      area.bottom = Math.max(area.bottom, box.y + box.h / 2 + 24);
    }
    return { x: area.left, y: area.top, w: area.right - area.left, h: area.bottom - area.top };
  };

  // Always print the complete drawing, not only the visible part.
  let shown = null;
  addEventListener("beforeprint", () => { shown = { x: view.x, y: view.y, w: view.width, h: view.height }; setView(home); });
  addEventListener("afterprint", () => { if (shown) setView(shown); });

  return { svg, boxes, edges, onChoice, pick, mark, uncover, reveal, extent };
}
