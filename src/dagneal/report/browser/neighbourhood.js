// Layout of a part of a large network, around one variable. It is a simple version of layers.py and layout.py.
//
// layOutNeighbourhood(sizes, edges, centre, most, wide) returns {place, bends}:
//   sizes   list of {w, h}, the sizes of the boxes of all variables
//   edges   list of [parent, child], numbers of variables
//   centre  number of the variable in question
//   most    largest number of variables to place: those nearest to the centre
//   wide    preferred width of a row
//   place   Map from the number of each placed variable to {x, y}, the centre of its box
//   bends   Map from the index of each edge between placed variables to the points [x, y] where it bends
const layOutNeighbourhood = (() => {
  const ROW = 76, GAP = 26, LANE = 8, MARGIN = 13, BESIDE = 20, SWEEPS = 24;
  const sum = (values) => values.reduce((total, value) => total + value, 0);

  // The variables nearest to the centre: first by distance, then by number of edges.
  const nearest = (count, edges, centre, most) => {
    const near = Array.from({ length: count }, () => []);
    for (const [a, b] of edges) { near[a].push(b); near[b].push(a); }
    const chosen = new Set([centre]);
    let front = [centre];
    while (front.length && chosen.size < most) {
      const next = [...new Set(front.flatMap((i) => near[i]))].filter((i) => !chosen.has(i));
      next.sort((a, b) => near[b].length - near[a].length || a - b);
      front = next.slice(0, most - chosen.size);
      front.forEach((i) => chosen.add(i));
    }
    return [...chosen].sort((a, b) => a - b);
  };

  // The edges as pairs without cycles: an edge that closes a cycle is reversed.
  const breakCycles = (names, edges) => {
    const children = new Map(names.map((i) => [i, new Set()]));
    const reaches = (a, b) => a === b || [...children.get(a)].some((i) => reaches(i, b));
    for (const [a, b] of edges) {
      if (a !== b) { if (reaches(b, a)) children.get(b).add(a); else children.get(a).add(b); }
    }
    return children;
  };

  // Rows from the top: parents first. If the variables of a row do not fit, those without children follow on the next row.
  const fillRows = (names, children, parents, sizes, wide) => {
    const height = new Map(), heightOf = (i) => {
      if (!height.has(i)) height.set(i, 1 + Math.max(0, ...[...children.get(i)].map(heightOf)));
      return height.get(i);
    };
    const depth = new Map(), waiting = new Set(names);
    for (let row = 0; waiting.size; row += 1) {
      const due = [...waiting].filter((i) => [...parents.get(i)].every((p) => depth.has(p) && depth.get(p) < row));
      due.sort((a, b) => heightOf(b) - heightOf(a) || children.get(b).size - children.get(a).size || a - b);
      let used = 0;
      due.forEach((i, at) => {
        used += sizes[i].w + GAP;
        if (at === 0 || used <= wide) { depth.set(i, row); waiting.delete(i); }
      });
    }
    // Variables with more children than parents move down to their children.
    for (const i of [...names].sort((a, b) => depth.get(b) - depth.get(a))) {
      if (children.get(i).size > parents.get(i).size) {
        const low = Math.min(...[...children.get(i)].map((c) => depth.get(c))) - 1;
        const width = sum(names.filter((j) => j !== i && depth.get(j) === low).map((j) => sizes[j].w + GAP));
        if (low > depth.get(i) && width + sizes[i].w + GAP <= wide) depth.set(i, low);
      }
    }
    const used = [...new Set(depth.values())].sort((a, b) => a - b);
    return new Map(names.map((i) => [i, used.indexOf(depth.get(i))]));
  };

  const countCrossings = (rows, place) => {
    let total = 0;
    for (const row of rows) {
      const ends = row.flatMap((p) => p.below.map((q) => place.get(q)));
      const starts = row.flatMap((p, at) => p.below.map(() => at));
      for (let i = 0; i < ends.length; i += 1) {
        for (let j = i + 1; j < ends.length; j += 1) if (starts[i] < starts[j] && ends[i] > ends[j]) total += 1;
      }
    }
    return total;
  };

  // Sort each row by the mean place of the neighbours, down and up, and keep the order with the fewest crossings.
  const sortRows = (rows) => {
    const place = new Map(), note = (row) => row.forEach((p, at) => place.set(p, at));
    rows.forEach(note);
    let best = rows.map((row) => [...row]), fewest = countCrossings(rows, place);
    for (let sweep = 0; sweep < SWEEPS && fewest; sweep += 1) {
      const side = sweep % 2 ? "below" : "above";
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        const mean = new Map(row.map((p, at) => [p, p[side].length ? sum(p[side].map((q) => place.get(q))) / p[side].length : at]));
        if (sweep % 4 > 1) row.reverse();
        row.sort((p, q) => mean.get(p) - mean.get(q));
        note(row);
      }
      const count = countCrossings(rows, place);
      if (count < fewest) { fewest = count; best = rows.map((row) => [...row]); }
    }
    return best;
  };

  // Positions in a row near the wanted ones and not too close: the pool-adjacent-violators algorithm.
  const spread = (row) => {
    let room = 0;
    const pools = [], rooms = row.map((p, at) => {
      if (at) room += p.apart;
      let mean = p.wanted - room, total = 1, count = 1;
      while (pools.length && pools[pools.length - 1].mean > mean) {
        const last = pools.pop();
        mean = (last.mean * last.total + mean * total) / (last.total + total);
        total += last.total; count += last.count;
      }
      pools.push({ mean, total, count });
      return room;
    });
    const means = pools.flatMap(({ mean, count }) => Array(count).fill(mean));
    row.forEach((p, at) => { p.x = means[at] + rooms[at]; });
  };

  const placeRows = (rows) => {
    for (const row of rows) {
      let x = 0;
      row.forEach((p, at) => {
        const q = row[at - 1];
        p.apart = q ? (p.w + q.w) / 2 + (p.box && q.box ? GAP : MARGIN) : 0;
        x += p.apart; p.x = x;
      });
      row.forEach((p) => { p.x -= x / 2; });
    }
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
      for (const row of sweep % 2 ? [...rows].reverse() : rows) {
        for (const p of row) {
          const near = [...p.above, ...p.below], weights = near.map((q) => (p.box || q.box ? 1 : 4));
          p.wanted = near.length ? sum(near.map((q, at) => q.x * weights[at])) / sum(weights) : p.x;
        }
        spread(row);
      }
    }
  };

  // Remove the bends of an edge that are not necessary to pass between boxes.
  const straighten = (chain, rows) => {
    const clear = (a, b, p) => {
      const slope = (b.x - a.x) / (b.y - a.y), x = a.x + slope * (p.y - a.y), beside = Math.abs(slope) * BESIDE;
      return rows[p.row].every((q) => !q.box || (q.at < p.at ? x - beside >= q.x + q.w / 2 + MARGIN : x + beside <= q.x - q.w / 2 - MARGIN));
    };
    const kept = [0];
    while (kept[kept.length - 1] < chain.length - 1) {
      const from = kept[kept.length - 1];
      let to = chain.length - 1;
      while (to > from + 1 && !chain.slice(from + 1, to).every((p) => clear(chain[from], chain[to], p))) to -= 1;
      kept.push(to);
    }
    return kept.slice(1, -1).map((at) => [chain[at].x, chain[at].y]);
  };

  return (sizes, edges, centre, most, wide) => {
    const names = nearest(sizes.length, edges, centre, most), inside = new Set(names);
    const some = edges.map((edge, at) => [...edge, at]).filter(([a, b]) => inside.has(a) && inside.has(b) && a !== b);
    const children = breakCycles(names, some), parents = new Map(names.map((i) => [i, new Set()]));
    for (const [a, set] of children) for (const b of set) parents.get(b).add(a);
    const depth = fillRows(names, children, parents, sizes, wide);
    let rows = Array.from({ length: 1 + Math.max(...depth.values()) }, () => []);
    const point = (row, w, box) => {
      const p = { row, y: row * ROW, w, box, x: 0, above: [], below: [] };
      rows[row].push(p);
      return p;
    };
    const points = new Map(names.map((i) => [i, point(depth.get(i), sizes[i].w, true)]));
    const chains = new Map();
    for (const [a, set] of children) {
      for (const b of set) {
        const chain = [points.get(a)];
        for (let row = depth.get(a) + 1; row < depth.get(b); row += 1) chain.push(point(row, LANE, false));
        chain.push(points.get(b));
        chain.slice(1).forEach((p, at) => { chain[at].below.push(p); p.above.push(chain[at]); });
        chains.set(`${a} ${b}`, chain);
      }
    }
    rows = sortRows(rows);
    rows.forEach((row) => row.forEach((p, at) => { p.at = at; }));
    placeRows(rows);
    const bends = new Map();
    for (const [a, b, at] of some) {
      const down = chains.get(`${a} ${b}`);
      bends.set(at, down ? straighten(down, rows) : straighten(chains.get(`${b} ${a}`), rows).reverse());
    }
    return { place: new Map([...points].map(([i, { x, y }]) => [i, { x, y }])), bends };
  };
})();
