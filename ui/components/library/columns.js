// The columns of the table: their heads, and the order that a press on one gives.

import { h, icon } from "../shared/dom.js";

// Name, class, and the value that rows are ordered by.
const COLUMNS = [
  ["Title", "ti", (item) => item.title.toLowerCase()],
  ["Pages", "r pg", (item) => item.pages],
  ["Tables", "r tb", (item) => item.tables],
  ["Status", "sta", (item) => (item.job ? 0 : item.error ? 1 : item.status !== "ready" ? 2 : 3)],
  ["Size", "r by", (item) => item.bytes],
  ["Tags", "tg", null],
  ["Added", "ad", (item) => item.created],
];

export const NEWEST = { column: "Added", down: true };

// Below 0 where `a` stands before `b`; the newer of two that are alike comes first.
export function compare({ column, down }, a, b) {
  const value = COLUMNS.find(([name]) => name === column)[2];
  const [x, y] = [value(a), value(b)];
  const by = x < y ? -1 : x > y ? 1 : 0;
  return (down ? -by : by) || b.created - a.created;
}

// The order after a press on `column`: turned round where it was in force, words from A and numbers from the largest.
export function pressed(sort, column) {
  if (sort.column === column) return { column, down: !sort.down };
  return { column, down: column !== "Title" && column !== "Status" };
}

export function head(sort, { sortBy, chooseAll }) {
  const all = h("input", { type: "checkbox", "aria-label": "Select all", onclick: (event) => chooseAll(event.target.checked) });
  const cell = ([name, kind, value]) => {
    if (!value) return h("th", { class: kind, scope: "col" }, name);
    const here = sort.column === name;
    const sign = here ? icon(sort.down ? "keyboard_arrow_down" : "keyboard_arrow_up", "s14") : null;
    return h("th", { class: kind, scope: "col", "aria-sort": here ? (sort.down ? "descending" : "ascending") : null }, h("button", { type: "button", "data-column": name, onclick: () => sortBy(name) }, name, sign));
  };
  return h("thead", {}, h("tr", {}, h("th", { class: "ck" }, all), COLUMNS.map(cell), h("th", { class: "mo" }, h("span", { class: "gw-unseen" }, "Remove"))));
}
