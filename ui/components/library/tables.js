// The tables of a document as tables, to look at and to take away.

import { answered, get, save } from "../shared/api.js";
import { h, icon } from "../shared/dom.js";

export class TablesView {
  constructor(read, _item, { page }) {
    this.read = read;
    this.page = page;
    this.said = h("p", { class: "none", role: "alert", hidden: true });
    this.list = h("ul", { class: "els gw-scroll", "aria-label": "Tables" });
    this.element = h("div", { class: "listed" }, h("div", { class: "pgnav" }, h("span", { class: "muted" }, "Export all as"), this.file("Excel", "", "xlsx", "All tables as an Excel file"), this.file("CSV", "", "csv", "All tables as a CSV file")), this.said, this.list);
  }

  // A button that saves all tables, or the one with the number in ``which``.
  file(words, which, kind, label) {
    const take = async () => {
      this.said.hidden = true;
      const { refused } = await answered(() => save(`/documents/${this.read.id}/tables${which}.${kind}`, `tables.${kind}`));
      if (refused) this.say(refused);
    };
    return h("button", { type: "button", class: "gw-btn sm", "aria-label": label, onclick: take }, icon("download", "s16"), words);
  }

  say(error) {
    this.said.textContent = `${error.message} ${error.hint ?? ""}`;
    this.said.hidden = false;
  }

  async show() {
    if (this.shown) return;
    this.shown = true;
    const tables = await answered(() => get(`/documents/${this.read.id}/tables`));
    this.shown = !tables.refused;
    if (tables.refused) return this.say(tables.refused);
    this.element.firstChild.hidden = !tables.length;
    this.list.replaceChildren(...(tables.length ? tables.map((table) => this.line(table)) : [h("li", { class: "none" }, "This document has no tables.")]));
  }

  line({ number, title, page, place, rows, columns }) {
    const name = `Table ${number}`;
    const body = h("div", { class: "grid gw-scroll", tabindex: "0", role: "group", "aria-label": title || name });
    const go = h("button", { type: "button", class: "gw-linkish", onclick: () => this.page(page) }, `Show on ${place}`);
    const whole = h("div", { class: "whole", hidden: true }, h("div", { class: "row" }, go, h("span", { class: "sp" }), this.file("Excel", `/${number}`, "xlsx", `${name} as an Excel file`), this.file("CSV", `/${number}`, "csv", `${name} as a CSV file`)), body);
    const open = h("button", { type: "button", "aria-expanded": "false" }, h("span", { class: "kd tb" }, icon("table", "s14"), name), h("span", { class: "tx" }, title || "no title"), h("span", { class: "mt num" }, `${place} · ${rows} × ${columns}`));
    open.onclick = async () => {
      whole.hidden = !whole.hidden;
      open.setAttribute("aria-expanded", String(!whole.hidden));
      if (whole.hidden || body.firstChild) return;
      const { cells, refused } = await answered(() => get(`/documents/${this.read.id}/tables/${number}`));
      if (refused) this.say(refused);
      else body.replaceChildren(grid(cells, title || name));
    };
    return h("li", { class: "table" }, open, whole);
  }
}

// The table as it was understood: merged cells, headers, one row per row.
export function grid(cells, name = "") {
  const rows = new Map();
  for (const cell of cells) {
    const [row, , rowSpan, colSpan] = cell.at;
    if (!rows.has(row)) rows.set(row, []);
    const scope = cell.header ? (colSpan > 1 ? "colgroup" : "col") : null;
    rows.get(row).push({ cell, node: h(cell.header ? "th" : "td", { rowspan: rowSpan > 1 ? rowSpan : null, colspan: colSpan > 1 ? colSpan : null, scope, class: number(cell) ? "r num" : null }, cell.text) });
  }
  const columns = Math.max(...cells.map(({ at }) => at[1] + at[3]));
  const free = []; // per column, the first row that no cell from above reaches
  const lines = [...rows.keys()].sort((a, b) => a - b).map((row) => {
    const nodes = [];
    const starts = new Map(rows.get(row).map((item) => [item.cell.at[1], item]));
    for (let col = 0; col < columns; ) {
      const item = starts.get(col);
      if (item) {
        const [, , rowSpan, colSpan] = item.cell.at;
        for (let c = col; c < col + colSpan; c++) free[c] = row + rowSpan;
        nodes.push(item.node);
        col += colSpan;
      } else {
        if (!(free[col] > row)) nodes.push(h("td"));
        col++;
      }
    }
    return h("tr", {}, nodes);
  });
  return h("table", {}, name ? h("caption", { class: "gw-unseen" }, name) : null, h("tbody", {}, lines));
}

const number = (cell) => !cell.header && /^[($€£¥+−–\s-]*\d[\d.,\s]*[)%\s]*$/.test(cell.text);
