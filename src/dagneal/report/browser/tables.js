// Sort a table by a column: by number if the cells have one, otherwise as text.
function startTables() {
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
}
