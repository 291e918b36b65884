// A grid: documents or sections by questions, filled in the background, each cell with its place on the page beside it. What is open
// stands in the address.

import { configure, get, inLibrary, post } from "../shared/api.js";
import { closeCitation, openCitation } from "../shared/bus.js";
import { copy } from "../shared/clipboard.js";
import { h, icon, plural } from "../shared/dom.js";
import { free, keyed, undoes } from "../shared/keys.js";
import { oneLine, where } from "../shared/quoted.js";
import { WorkPage } from "../shared/work_page.js";
import { Card } from "./card.js";
import { Menus } from "./columns.js";
import { Head } from "./head.js";
import { Table } from "./table.js";
import { View } from "./view.js";
import { day, valued } from "./words.js";

const BUSY_MS = 700;
const ARRIVING_MS = 2000;
const SUMMED_MS = 5000; // between two summaries while cells come
const SHARE = 4; // of the time is not spent on asking what is new

export function mount({ parentElement, data, tell }) {
  configure(data);
  const page = (parentElement.gwGrid ??= new GridPage(parentElement.querySelector(".gw-grid")));
  Object.assign(page, { documents: data.documents, most: data.most });
  page.leave = (gone = false) => tell("left", { grid: data.grid, gone });
  page.show(data.grid);
  return () => page.close();
}

class GridPage extends WorkPage {
  constructor(root) {
    super(root, "grids", [
      ["focus", () => this.poll()],
      ["keydown", (event) => this.anywhere(event), true], // before the page viewer, which has keys of its own
    ]);
    this.menus = new Menus(this);
    this.table = new Table(this);
    this.head = new Head(this);
    this.card = new Card(this);
    this.empty = h("div", { class: "gw-empty", hidden: true });
    root.append(this.head.element, this.trouble, this.empty, this.table.element, this.said);
    this.table.element.addEventListener("keydown", (event) => this.key(event));
  }

  close() {
    super.close();
    this.table.close();
    this.card.close();
  }

  show(id) {
    if (this.id === id) return void this.poll(); // documents may have come
    this.head.wait();
    Object.assign(this, { id, data: null, rows: [], columns: [], cells: new Map(), summaries: {}, summed: "", summedAt: -Infinity, open: null, cell: null, periods: null, refused: null, decided: [], view: new View(id) });
    this.card.hide();
    closeCitation();
    this.poll();
  }

  // What there is

  // What changed since.
  poll() {
    const { data, summed } = this;
    const began = performance.now();
    const known = data ? { since: data.at, shape: data.shape, summed, ...(began - this.summedAt > SUMMED_MS && { late: "" }) } : {};
    const pause = () => Math.max(this.data?.state === "arriving" ? ARRIVING_MS : BUSY_MS, SHARE * (performance.now() - began));
    return this.news(known, (found) => this.take(found), pause);
  }

  take(found) {
    const { rows, columns, cells, summaries, ...head } = found;
    const fresh = !this.data;
    this.data = { ...this.data, ...head };
    if (rows) Object.assign(this, { rows, columns, cells: new Map(), longest: new Map(columns.map((one) => [one.id, 0])) });
    const kinds = new Map(this.columns.map((one) => [one.id, one]));
    for (const [row, column, cell] of cells ?? []) {
      if (cell) this.cells.set(`${row} ${column}`, cell);
      else this.cells.delete(`${row} ${column}`);
      if (cell) this.longest.set(column, Math.max(this.longest.get(column), valued(cell, kinds.get(column)).join(" ").length));
    }
    if (summaries) Object.assign(this, { summaries, summed: found.at, summedAt: performance.now() });
    if (rows) this.view.fit(this.columns);
    this.complain(head.error ?? this.refused);
    this.draw();
    if (this.view.pivot && (fresh || cells?.length)) this.fetchPeriods();
    if (fresh) this.restore();
    else if (this.open && (rows || cells?.some(([row, column]) => row === this.open.row && column === this.open.column))) this.load();
  }

  draw() {
    const { view } = this;
    const cell = (row, column) => this.cells.get(`${row} ${column}`);
    const pivoted = this.columns.find((one) => one.id === view.pivot);
    const shown = pivoted ? this.ofPeriods(pivoted) : this.columns.map((column) => ({ ...column, key: column.id, longest: this.longest.get(column.id), head: this.menus.head(column), summary: this.summaryOf(column) }));
    this.table.show(view.lines({ rows: this.rows, columns: this.columns, cell }), shown, this.menus.rowHead(this.documentsSay()), pivoted ? null : this.menus.add);
    this.table.element.setAttribute("aria-busy", String(this.working));
    this.head.draw();
    const [sign, words, way] = !this.rows.length
      ? ["folder_open", "No rows", h("p", {}, "Choose some above, or ", h("a", { href: "library" }, "add documents in the Library"), ".")]
      : ["table", "No columns yet", h("button", { type: "button", class: "gw-btn primary", onclick: () => this.menus.form() }, icon("add", "s16"), "Add a column")];
    this.empty.hidden = this.rows.length > 0 && this.columns.length > 0;
    this.table.element.hidden = !this.empty.hidden;
    const key = `${this.rows.length > 0} ${this.columns.length > 0}`;
    if (key !== this.emptied) this.empty.replaceChildren(icon(sign), h("b", {}, words), way);
    this.emptied = key;
  }

  // What a row is.
  get noun() {
    return this.data.sections ? "section" : "document";
  }

  documentsSay() {
    const { unread, lost, reading } = this.data;
    const inside = new Set(this.rows.map((row) => row.doc).filter((doc) => this.readable(doc))).size;
    const going = unread.filter((doc) => reading[doc]?.[0]).length;
    const others = Object.keys(lost).length;
    const parts = [`${inside} read`, going && `${going} reading`, unread.length > going && `${unread.length - going} wait`, others && `${others} not read`];
    return unread.length || others ? parts.filter(Boolean).join(" · ") : plural(this.rows.length, "row");
  }

  summaryOf(column) {
    const { words = "", stated = 0, filled = 0 } = this.summaries[column.id] ?? {};
    const shown = column.type === "date" ? words.replace(/\d{4}-\d{2}-\d{2}/g, day) : column.unit ? words.replace(` ${column.unit}`, "") : words;
    const [first, median] = shown.split(", median "); // which has no room beside a range
    return [first, filled ? [median && `median ${median}`, `${stated} of ${filled}${median ? "" : " stated"}`].filter(Boolean).join(" · ") : ""];
  }

  // Whether its document is read.
  readable(doc) {
    return !this.data.unread.includes(doc) && !(doc in this.data.lost);
  }

  // What a column says beside the name of a row, and what an empty cell of the row waits for.
  rowSays(row) {
    const [done, total] = this.data.reading[row.doc] ?? [0, 0];
    if (!row.begins) return { words: `No longer in ${row.title}`, tone: "bad" };
    if (row.earlier) return { words: "Earlier version", tone: "weak" };
    if (this.readable(row.doc)) return { words: row.path ? `p. ${row.page} · ${row.title}` : plural(row.pages, "page"), tone: "" };
    if (row.doc in this.data.lost) return { words: this.data.lost[row.doc] === "failed" ? "Couldn’t be read" : "Reading cancelled", tone: "" };
    if (total) return { words: `Reading p. ${done} of ${total}`, tone: "run" };
    return { words: row.doc in this.data.reading ? "Waiting" : "Not read", tone: "" };
  }

  waits(row) {
    const { state, unread, lost } = this.data;
    if (this.view.pivot) return "";
    if (row.doc in lost) return "lost";
    if (unread.includes(row.doc)) return "read";
    if (!this.working) return "";
    this.filling ??= this.fillingNow();
    return state === "running" && this.filling === row.id ? "run" : "wait";
  }

  // Whether it is being filled, or will be.
  get working() {
    return ["running", "waiting"].includes(this.data.state);
  }

  // The row at work: the first of those that are read which has an empty cell, or one that is filled again.
  fillingNow() {
    queueMicrotask(() => (this.filling = null));
    const due = (cell) => !cell || cell.again;
    return this.rows.find((row) => this.readable(row.doc) && this.columns.some((column) => due(this.cells.get(`${row.id} ${column.id}`))))?.id ?? "";
  }

  // How it is looked at

  look(change) {
    change();
    this.view.keep();
    this.draw();
    this.table.go(this.table.at[0], this.table.at[1]);
  }

  // One column by period, or all columns again.
  async pivot(id) {
    this.view.pivot = id;
    this.view.keep();
    this.periods = null;
    this.closeCell(false);
    this.table.at = [0, 1];
    if (id) await this.fetchPeriods();
    else this.draw();
    this.table.go(0, 1);
  }

  async fetchPeriods() {
    const { pivot } = this.view;
    const found = await this.asked(() => get(this.path("/periods"), { column: pivot }));
    if (!found || pivot !== this.view.pivot) return;
    this.periods = found;
    this.draw();
  }

  ofPeriods(column) {
    const { periods = [] } = this.periods ?? {};
    return periods.map((period) => {
      const name = period ? day(period) : "No period";
      const said = h("button", { type: "button", class: "hb", onclick: () => this.look(() => {}) }, h("span", { class: "nm" }, h("b", {}, name)), h("span", { class: "ty" }, [column.name, column.unit].filter(Boolean).join(" · ")));
      const stated = Object.values(this.periods.values).filter((one) => one[period]).length;
      return { ...column, name, key: period, period, id: `${column.id} ${period}`, longest: this.longest.get(column.id), head: h("div", { role: "columnheader", class: "he ce" }, said), summary: ["", `${stated} stated`] };
    });
  }

  // A cell as the table shows it.
  shown(row, column) {
    if (column.period === undefined) return this.cells.get(`${row} ${column.id}`);
    const value = this.periods.values[row]?.[column.period];
    return value && { status: "stated", ...value, period: "" };
  }

  // What is open

  restore() {
    const asked = new URLSearchParams(location.search);
    const column = this.columns.find((one) => one.id === asked.get("c"));
    const line = this.table.lineOf(asked.get("r"));
    if (!column || line < 0 || this.view.pivot) return;
    this.table.go(line, this.columns.indexOf(column) + 1, false);
    this.openCell(asked.get("r"), this.table.columns[this.table.at[1] - 1]);
  }

  address() {
    const { open } = this;
    const query = open ? { g: this.id, r: open.row, c: open.column } : { g: this.id };
    history.replaceState(history.state, "", `${location.pathname}${inLibrary(query)}`);
  }

  // `nth`: which of its values is lit, the first by default.
  async openCell(row, column, { focus = false } = {}) {
    const value = column.period === undefined ? null : this.periods.values[row]?.[column.period];
    const id = column.period === undefined ? column.id : this.view.pivot;
    this.card.form = null;
    this.open = { row, column: id, key: column.id, nth: value?.nth ?? 0 };
    this.address();
    this.table.draw();
    if (await this.load()) this.light(focus);
  }

  async load() {
    const { open } = this;
    const cell = await this.asked(() => get(this.path("/cell"), { row: open.row, column: open.column }));
    if (cell?.gone) return this.leave(true);
    if (!cell || open !== this.open) return null;
    this.put(cell);
    return cell;
  }

  put(cell) {
    const row = this.rows.find((one) => one.id === cell.row);
    const column = this.columns.find((one) => one.id === cell.column);
    if (!row || !column) return this.closeCell(false);
    this.cell = cell;
    this.card.show(cell, row, column);
  }

  // The places that the open cell has, its value's first.
  get places() {
    const { value, rivals, nearest } = this.cell;
    return [...value.citations, ...rivals.flatMap((one) => one.citations), ...nearest];
  }

  // Lights its place; of a cell without one, shows its row.
  light(focus = false) {
    const { open, cell } = this;
    const nth = open.nth || (cell.likely ? 1 : 0);
    const own = nth ? cell.rivals[nth - 1]?.citations : cell.value.citations;
    if (own?.length && (!this.narrow.matches || focus)) return this.openPlace(own[0].n, focus);
    closeCitation();
    if (!this.narrow.matches) this.read(this.card.row);
  }

  read({ doc, path, begins }) {
    if (this.readable(doc)) dispatchEvent(new CustomEvent("gw:read", { detail: { doc, page: path ? begins : 0 } }));
  }

  openPlace(n, focus = false) {
    const peers = this.cell.value.citations.some((one) => one.n === n) ? this.cell.value.citations.map((one) => one.n) : [];
    openCitation({ turn: this.turn, n, citations: this.places, peers, focus });
  }

  get turn() {
    return `${this.id}-${this.open.row}-${this.open.column}`;
  }

  opened({ turn, n }) {
    if (this.open && this.cell && turn === this.turn) this.card.lit(n);
  }

  openRow(row) {
    this.closeCell(false);
    this.read(row);
  }

  closeCell(focus = true) {
    if (!this.open) return;
    this.open = this.cell = null;
    this.card.hide();
    this.address();
    closeCitation();
    this.table.draw();
    if (focus) this.focus();
  }

  focus() {
    this.table.focused()?.focus({ preventScroll: true });
  }

  // What is done

  fillAgain({ row = "", column = "" }) {
    return this.act("/again", { row, column });
  }

  // A correction is checked against the document. Returns what was refused, null where it was done.
  async decide({ row, column }, kind, text = "") {
    const done = await this.asked(() => post(this.path("/decide"), { row, column, kind, text }));
    if (!done) return this.refused;
    this.decided = this.decided.filter((one) => one.row !== row || one.column !== column);
    if (kind) this.decided.push({ row, column });
    const here = this.open?.row === row && this.open.column === column;
    if (here) this.put(done.cell);
    await this.poll();
    if (here && kind === "corrected") this.light();
    this.said.textContent = { accepted: "Accepted.", corrected: `Corrected. ${done.cell.supported ? `Its words are in the ${this.noun}.` : `The ${this.noun} doesn’t support it.`}`, not_stated: "Held for not stated.", "": "Undone." }[kind];
    if (here && !this.root.contains(document.activeElement)) this.focus();
    return null;
  }

  // Takes back what was decided last.
  async undo() {
    const last = this.decided.at(-1);
    if (!last) return;
    const line = this.table.lineOf(last.row);
    if (line >= 0 && !this.view.pivot) this.table.go(line, this.columns.findIndex((one) => one.id === last.column) + 1);
    await this.decide(last, "");
  }

  forgive() {
    this.complain((this.refused = null));
  }

  // A cell with its places, opened or not.
  async whole({ row, column }) {
    if (this.cell?.row === row.id && this.cell.column === column.id) return this.cell;
    return this.asked(() => get(this.path("/cell"), { row: row.id, column: column.id }));
  }

  async copy({ row, column }) {
    const name = [row.title, row.path].filter(Boolean).join(", ");
    if (!column) return this.copied(name, "Copied.");
    const cell = await this.whole({ row, column: { id: column.period === undefined ? column.id : this.view.pivot } });
    if (!cell) return;
    const value = ["stated", "rival"].includes(cell.status) ? cell.value : null;
    const [text, unit] = value ? valued(value, { ...column, unit: "" }) : ["not stated", ""];
    const [place] = value?.citations ?? [];
    const source = place ? `${name}, ${where(place)}: “${oneLine(place.quote)}”` : name;
    return this.copied(`${[text, unit].filter(Boolean).join(" ")} (${source})`, "Copied with its source.");
  }

  async copied(text, words) {
    const done = await copy(text);
    this.said.textContent = done ? words : "";
    this.refused = done ? null : { message: "The browser blocked copying.", hint: "Allow this page to use the clipboard, then try again." };
    this.complain(this.refused);
  }

  // Keys

  // In the table, as in a spreadsheet.
  key(event) {
    if (event.target.closest(".gw-panel") || event.target.closest(".gw-popup [aria-expanded=true]")) return;
    const { table } = this;
    const { current } = table;
    const [line] = table.at;
    if ((event.ctrlKey || event.metaKey) && event.key === "c" && current && getSelection().isCollapsed) return keyed(event, () => this.copy(current));
    if (!event.altKey && table.move(event)) return keyed(event, () => {});
    if (line < 0 || !current || event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, column } = current;
    const at = { row, column };
    keyed(event, {
      Enter: () => (column ? this.openCell(row.id, column, { focus: event.shiftKey }) : this.openRow(row)),
      " ": () => column && this.on(at, (card) => card.accept()),
      e: column && free(event) && (() => this.on(at, (card) => card.correct())),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key]);
  }

  // Does something to a cell, which is opened for that.
  async on({ row, column }, act) {
    const id = column.period === undefined ? column.id : this.view.pivot;
    if (!this.cell || this.open?.row !== row.id || this.open.column !== id) await this.openCell(row.id, column);
    if (this.cell?.row === row.id && this.cell.column === id) await act(this.card);
  }

  anywhere(event) {
    if (event.target.closest?.("dialog, .gw-panel, .gw-pane") || !this.data) return;
    const done = undoes(event) ? () => this.undo() : {
      "+": free(event) && (() => this.menus.form()),
      Escape: this.open && !this.card.form && !("gwDrawer" in document.documentElement.dataset) && (() => this.closeCell()),
    }[event.key];
    keyed(event, done);
  }
}
