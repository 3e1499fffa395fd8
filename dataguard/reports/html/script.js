"use strict";
// Sorts and filters tables, and opens what is folded for printing. Nothing else on the page moves.
const value = (cell) => cell.textContent.trim();
const amount = (shown) => (/^[<]?-?[\d,]*\.?\d+(e[+-]?\d+)?\s*%?$/.test(shown) ? parseFloat(shown.replace(/[<,%\s]/g, "")) : NaN);

function compare(one, other) {
  const first = amount(one), second = amount(other);
  if (!isNaN(first) && !isNaN(second)) return first - second;
  if (isNaN(first) !== isNaN(second)) return isNaN(first) ? 1 : -1;
  return one.localeCompare(other, "en", { numeric: true });
}

function sort(table, place, head) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const lines = [...table.tBodies[0].rows].map((row) => [value(row.cells[place]), row]);
  lines.sort(([one], [other]) => (down ? -1 : 1) * compare(one, other));
  table.tBodies[0].append(...lines.map(([, row]) => row));
}

function filter(table, tools) {
  const words = tools.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = tools.querySelector("select")?.value ?? "";
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const said = row.textContent.toLowerCase();
    row.hidden = !(words.every((word) => said.includes(word)) && (!chosen || value(row.cells[0]) === chosen));
    shown += !row.hidden;
  }
  tools.querySelector("output").textContent = `${shown} of ${table.tBodies[0].rows.length} shown`;
}

for (const table of document.querySelectorAll("table")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    head.querySelector("button")?.addEventListener("click", () => sort(table, place, head));
  });
  const tools = table.closest(".table").querySelector(".tools");
  if (!tools) continue;
  tools.hidden = false;
  for (const kind of ["input", "change"]) tools.addEventListener(kind, () => filter(table, tools));
  filter(table, tools);
}

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const each of folded) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of folded) each.open = false;
});
