"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svg = document.getElementById("network"), tip = document.getElementById("tip");
  if (svg) {
    const view = svg.viewBox.baseVal, canvas = svg.parentElement;
    let home = { x: view.x, y: view.y, w: view.width, h: view.height };
    const boxes = new Map([...svg.querySelectorAll(".node")].map((g) => [g.dataset.i, g]));
    const place = new Map(data.nodes.map((n, i) => [String(i), { x: n.x, y: n.y, w: n.w, h: n.h }]));
    const edges = [...svg.querySelectorAll(".edge")];

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
    const LANE = 18, LEAN = 0.5, ROUND = 28;
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
      const a = place.get(g.dataset.a), b = place.get(g.dataset.b), corners = cornersOf(a, b, data.bends[edges.indexOf(g)]);
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
    const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const zoom = (factor, at) => {
      const x = at ? at.x : view.x + view.width / 2, y = at ? at.y : view.y + view.height / 2;
      const w = Math.min(Math.max(view.width * factor, home.w / 20), home.w * 4), k = w / view.width;
      view.x = x - (x - view.x) * k; view.y = y - (y - view.y) * k; view.width = w; view.height *= k;
    };
    const setView = (at) => { view.x = at.x; view.y = at.y; view.width = at.w; view.height = at.h; };
    svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point(event)); }, { passive: false });
    document.getElementById("in").onclick = () => zoom(1 / 1.3);
    document.getElementById("out").onclick = () => zoom(1.3);
    // The first click shows the complete drawing, even with tiny letters; the next one returns to readable letters.
    document.getElementById("fit").onclick = () => { setView(home); canvas.classList.toggle("whole"); };
    const showMiddle = () => { canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2; };
    showMiddle();

    if (data.nearby) { // a large network: draw the neighbourhood of the variable that the user chooses
      const pairs = edges.map((g) => [Number(g.dataset.a), Number(g.dataset.b)]), text = document.getElementById("nearby");
      const showNeighbourhood = (centre) => {
        const found = layOutNeighbourhood(data.nodes, pairs, centre, data.nearby.most, data.nearby.wide);
        for (const [i, g] of boxes) {
          const at = found.place.get(Number(i));
          g.classList.toggle("away", !at);
          g.classList.remove("more");
          g.classList.toggle("centre", Number(i) === centre);
          if (at) { Object.assign(place.get(i), at); move(i, 0, 0, false); }
        }
        edges.forEach((g, at) => {
          const bends = found.bends.get(at);
          g.classList.toggle("away", !bends);
          if (bends) { data.bends[at] = bends; draw(g); return; }
          for (const i of pairs[at]) if (found.place.has(i)) boxes.get(String(i)).classList.add("more");
        });
        const xs = [], ys = [];
        for (const [i, { x, y }] of found.place) {
          xs.push(x - data.nodes[i].w / 2, x + data.nodes[i].w / 2);
          ys.push(y - data.nodes[i].h / 2, y + data.nodes[i].h / 2);
        }
        for (const bends of found.bends.values()) for (const [x] of bends) xs.push(x);
        const left = Math.min(...xs) - 24, top = Math.min(...ys) - 24;
        home = { x: left, y: top, w: Math.max(...xs) + 24 - left, h: Math.max(...ys) + 24 - top };
        svg.setAttribute("viewBox", `${home.x} ${home.y} ${home.w} ${home.h}`);
        svg.style.setProperty("--most", `${home.h * 15 / 13}px`);
        svg.style.setProperty("--least", `${Math.min(home.w * 11 / 13, 1116)}px`);
        showMiddle();
        text.textContent = `The drawing shows the ${found.place.size} of ${data.nodes.length} variables that are nearest to ${data.nodes[centre].name}. Dashed boxes have more neighbours.`;
      };
      const label = document.createElement("label"), select = document.createElement("select");
      label.append("Show the neighbourhood of ", select);
      select.id = "centre";
      const order = data.nodes.map((n, i) => i).sort((a, b) => data.nodes[a].name.localeCompare(data.nodes[b].name));
      for (const i of order) select.add(new Option(data.nodes[i].name, i));
      select.value = String(data.nearby.centre);
      select.onchange = () => showNeighbourhood(Number(select.value));
      document.querySelector(".bar").append(label);
    }

    const fingers = new Map();
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      svg.setPointerCapture(event.pointerId);
      const node = event.target.closest(".node");
      held = { node: node && node.dataset.i, at: point(event), far: spread(), edge: event.target.closest(".edge"), from: event };
    });
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return b ? Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) : 0;
    };
    svg.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId) || !held) return;
      fingers.set(event.pointerId, event);
      const now = point(event);
      if (fingers.size > 1) { const far = spread(); if (held.far) zoom(held.far / far, now); held.far = far; return; }
      if (held.node) {
        move(held.node, now.x - held.at.x, now.y - held.at.y);
        held.at = now;
      } else { view.x -= now.x - held.at.x; view.y -= now.y - held.at.y; }
    });
    const release = (event) => {
      fingers.delete(event.pointerId);
      if (fingers.size || !held) return;
      const moved = Math.hypot(event.clientX - held.from.clientX, event.clientY - held.from.clientY);
      if (held.edge && moved < 6) showTip(held.edge, event.clientX, event.clientY); // a tap
      held = null;
    };
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", release);

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
      g.addEventListener("pointerenter", (event) => showTip(g, event.clientX, event.clientY));
      g.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hideTip(); }); // a finger always leaves
    }
    for (const g of [...edges, ...boxes.values()]) {
      g.addEventListener("focus", () => {
        if (!g.matches(":focus-visible")) return;
        const box = g.getBoundingClientRect();
        showTip(g, box.x + box.width / 2, box.y + box.height / 2);
      });
      g.addEventListener("blur", () => { if (described === g) hideTip(); }); // keep the text of an edge that was tapped next
    }
    const arrows = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
    for (const [i, g] of boxes) {
      g.addEventListener("keydown", (event) => {
        if (!arrows[event.key]) return;
        event.preventDefault();
        hideTip();
        move(i, ...arrows[event.key]);
      });
    }
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
    document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".edge")) hideTip(); });

    // Always print the complete drawing, not only the visible part.
    let shown = null;
    addEventListener("beforeprint", () => { shown = { x: view.x, y: view.y, w: view.width, h: view.height }; setView(home); });
    addEventListener("afterprint", () => { if (shown) setView(shown); });
  }

  // Sort a table by a column: by number if the cells have one, otherwise as text.
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, column) => {
      head.querySelector("button").onclick = () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (row) => { const cell = row.cells[column]; return cell.dataset.n === undefined ? cell.textContent : Number(cell.dataset.n); };
        const rows = [...body.rows].sort((a, b) => {
          const x = key(a), y = key(b);
          return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        });
        body.append(...(up ? rows : rows.reverse()));
      };
    });
  }
})();
