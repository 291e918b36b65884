// How a grid is looked at: order, filters, groups by tag or document, one column by period. It is kept for the tab.

import { rank } from "./words.js";

const KEPT = "gw.grid.view.";

export class View {
  constructor(id) {
    this.id = id;
    Object.assign(this, { sort: null, filters: {}, group: "", pivot: null, ...JSON.parse(sessionStorage.getItem(KEPT + id) ?? "{}") });
  }

  keep() {
    const { sort, filters, group, pivot } = this;
    sessionStorage.setItem(KEPT + this.id, JSON.stringify({ sort, filters, group, pivot }));
  }

  order(key, down) {
    this.sort = this.sort?.key === key && this.sort.down === down ? null : { key, down };
  }

  filter(key, kind) {
    if (kind) this.filters[key] = kind;
    else delete this.filters[key];
  }

  // What was removed is neither filtered nor sorted by.
  fit(columns) {
    const known = new Set(columns.map((one) => one.id));
    for (const key of Object.keys(this.filters)) if (!known.has(key)) delete this.filters[key];
    if (!known.has(this.pivot)) this.pivot = null;
    if (this.sort && this.sort.key !== "document" && !known.has(this.sort.key)) this.sort = null;
  }

  // The lines: rows, and with groups their names above theirs; a row stands under each tag of its document.
  lines({ rows, columns, cell }) {
    const filters = this.pivot ? [] : Object.entries(this.filters);
    const shown = rows.filter((row) => filters.every(([key, kind]) => passes(cell(row.id, key), kind)));
    if (this.sort) shown.sort(this.compare(columns, cell));
    const line = (row, tag = "") => ({ key: `${row.id} ${tag}`, row });
    if (!this.group) return shown.map((row) => line(row));
    const titles = new Map(shown.map((row) => [row.doc, row.title]));
    const [of, name] = this.group === "document" ? [(row) => [row.doc], (doc) => titles.get(doc)] : [(row) => row.tags, (tag) => tag];
    const tags = [...new Set(shown.flatMap(of))].sort((a, b) => name(a).localeCompare(name(b)));
    const groups = [...tags.map((tag) => [tag, name(tag), shown.filter((row) => of(row).includes(tag))]), ["", "No tag", shown.filter((row) => !of(row).length)]];
    return groups.flatMap(([id, tag, inside]) => (inside.length ? [{ key: `tag ${id} ${tag}`, tag, count: inside.length }, ...inside.map((row) => line(row, id))] : []));
  }

  compare(columns, cell) {
    const { key, down } = this.sort;
    const column = columns.find((one) => one.id === key);
    const of = column ? (row) => rank(cell(row.id, key), column) : (row) => row.label.toLowerCase();
    return (a, b) => {
      const [x, y] = [of(a), of(b)];
      if (x === null || y === null) return (x === null) - (y === null); // what has no value comes last either way
      const before = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: !column });
      return down ? -before : before;
    };
  }
}

function passes(cell, kind) {
  if (kind === "undecided") return Boolean(cell) && !cell.decision;
  if (kind === "likely") return Boolean(cell?.likely);
  if (kind === "stated") return ["stated", "rival"].includes(cell?.status);
  return cell?.status === kind;
}
