"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svg = document.getElementById("network"), tip = document.getElementById("tip");
  if (svg) {
    const view = svg.viewBox.baseVal, home = { x: view.x, y: view.y, w: view.width, h: view.height };
    const boxes = new Map([...svg.querySelectorAll(".node")].map((g) => [g.dataset.i, g]));
    const place = new Map(data.nodes.map((n, i) => [String(i), { x: n.x, y: n.y, w: n.w, h: n.h }]));
    const edges = [...svg.querySelectorAll(".edge")];

    // The point where the line from one box to another leaves it.
    const border = (box, other) => {
      const dx = other.x - box.x, dy = other.y - box.y;
      const t = Math.min(Math.abs(box.w / 2 / (dx || 1e-9)), Math.abs(box.h / 2 / (dy || 1e-9)), 1);
      return { x: box.x + dx * t, y: box.y + dy * t };
    };
    const draw = (g) => {
      const a = place.get(g.dataset.a), b = place.get(g.dataset.b), p = border(a, b), q = border(b, a);
      const bend = Math.abs(a.y - b.y) > 150 ? 40 : 0;
      const c = { x: (p.x + q.x) / 2 + bend, y: (p.y + q.y) / 2 };
      const line = `M${p.x} ${p.y}Q${c.x} ${c.y} ${q.x} ${q.y}`;
      g.querySelectorAll(".line, .hit").forEach((path) => path.setAttribute("d", line));
      const head = g.querySelector(".head");
      if (!head) return;
      const angle = Math.atan2(q.y - c.y, q.x - c.x), at = (turn, far) =>
        `${q.x - far * Math.cos(angle + turn)} ${q.y - far * Math.sin(angle + turn)}`;
      head.setAttribute("d", `M${q.x} ${q.y}L${at(0.4, 11)}L${at(-0.4, 11)}Z`);
    };
    const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const zoom = (factor, at) => {
      const x = at ? at.x : view.x + view.width / 2, y = at ? at.y : view.y + view.height / 2;
      const w = Math.min(Math.max(view.width * factor, home.w / 20), home.w * 4), k = w / view.width;
      view.x = x - (x - view.x) * k; view.y = y - (y - view.y) * k; view.width = w; view.height *= k;
    };
    svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, point(event)); }, { passive: false });
    document.getElementById("in").onclick = () => zoom(1 / 1.3);
    document.getElementById("out").onclick = () => zoom(1.3);
    document.getElementById("fit").onclick = () => { view.x = home.x; view.y = home.y; view.width = home.w; view.height = home.h; };

    const fingers = new Map();
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      svg.setPointerCapture(event.pointerId);
      const node = event.target.closest(".node");
      held = { node: node && node.dataset.i, at: point(event), far: spread() };
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
        const box = place.get(held.node);
        box.x += now.x - held.at.x; box.y += now.y - held.at.y; held.at = now;
        boxes.get(held.node).setAttribute("transform", `translate(${box.x} ${box.y})`);
        edges.filter((g) => g.dataset.a === held.node || g.dataset.b === held.node).forEach(draw);
      } else { view.x -= now.x - held.at.x; view.y -= now.y - held.at.y; }
    });
    const release = (event) => { fingers.delete(event.pointerId); if (!fingers.size) held = null; };
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", release);

    const tell = (g, x, y) => {
      tip.textContent = g.getAttribute("aria-label");
      tip.hidden = false;
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + scrollX}px`;
      tip.style.top = `${y + 14 + scrollY}px`;
    };
    for (const g of edges) {
      draw(g);
      g.addEventListener("pointerenter", (event) => tell(g, event.clientX, event.clientY));
      g.addEventListener("pointerleave", () => { tip.hidden = true; });
      g.addEventListener("click", (event) => tell(g, event.clientX, event.clientY));
      g.addEventListener("focus", () => { const box = g.getBoundingClientRect(); tell(g, box.x + box.width / 2, box.y + box.height / 2); });
      g.addEventListener("blur", () => { tip.hidden = true; });
    }
  }

  // Tables that can be sorted: by number where a cell has one, otherwise as text.
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
