// The table: head, first column and summary stay, and of rows and columns only those in sight are in the page. One cell
// has the focus, which the keys move as in a spreadsheet.

import { h } from "../shared/dom.js";
import { apart, titled } from "../shared/titles.js";
import { content } from "./cells.js";

const ROW = 52; // pixels
const FOOT_LINE = Infinity; // of the summary, below all others
const [HEAD, FOOT] = [48, 52];
const OVER = 6; // rows drawn beyond what is in sight
const SIDE = 240; // pixels beside it in which columns are drawn
const ADD = 44;
const [LETTER, SIGN, WIDEST] = [7, 36, 200]; // what the name in a head takes
const [DIGIT, MARK, MOST] = [8, 42, 280]; // what a value takes, which is shown whole
const WIDTHS = { value: 124, date: 120, name: 156, yes_no: 92, list: 220, quote: 260, text: 260 };

// What is the same already is not set: that would lay it out anew.
const set = (element, name, value) => element.getAttribute(name) === value || element.setAttribute(name, value);

export class Table {
  // `page` has the cells, and does what is pressed.
  constructor(page) {
    this.page = page;
    this.at = [0, 1]; // line and column with the focus: line -1 is the head, `FOOT_LINE` the summary, column 0 the rows
    this.drawn = new Map(); // lines in the page, by number
    this.lines = this.columns = [];
    this.head = h("div", { class: "hd", role: "row", "aria-rowindex": "1" });
    this.body = h("div", { class: "bd", role: "rowgroup" });
    this.foot = h("div", { class: "ft", role: "row" });
    this.size = h("div", { class: "size", role: "presentation" }, h("div", { class: "hds", role: "rowgroup" }, this.head), this.body, h("div", { class: "fts", role: "rowgroup" }, this.foot));
    this.element = h("div", { class: "tw gw-scroll", role: "grid", "aria-label": "Grid of answers" }, this.size);
    this.element.addEventListener("scroll", () => this.soon(), { passive: true });
    this.element.addEventListener("click", (event) => this.pressed(event));
    this.element.addEventListener("focusin", ({ target }) => this.took(target));
    this.resized = new ResizeObserver(() => this.lay());
    this.resized.observe(this.element);
  }

  close() {
    this.resized.disconnect();
  }

  soon() {
    this.page.menus.close();
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  // What there is: `lines` of the view, and `columns` ({ id, name, type, head(), summary() }); `last` ends the head.
  show(lines, columns, first, last) {
    Object.assign(this, { lines, columns, firstHead: first, last });
    this.body.toggleAttribute("data-none", !lines.length);
    this.cuts = apart(lines.map(({ row }) => row?.label ?? ""));
    this.at = [this.lineNear(this.at[0]), Math.min(this.at[1], columns.length)];
    this.lay();
  }

  lay() {
    if (!this.firstHead) return; // nothing is known yet
    this.first = this.element.clientWidth < 620 ? 132 : this.page.data.sections ? 232 : 186;
    let left = 0;
    this.places = this.columns.map((column) => {
      const width = Math.max(WIDTHS[column.type], Math.min(WIDEST, column.name.length * LETTER + SIGN), column.type === "value" ? Math.min(MOST, Math.max(column.longest, column.summary[0].length) * DIGIT + MARK) : 0);
      left += width;
      return { left: left - width, width };
    });
    const width = Math.max(this.first + left + (this.last ? ADD : 0), this.element.clientWidth);
    this.size.style.cssText = `width:${width}px;--first:${this.first}px`;
    this.body.style.height = `${this.lines.length * ROW}px`;
    this.element.setAttribute("aria-rowcount", String(this.lines.length + 2));
    this.element.setAttribute("aria-colcount", String(this.columns.length + 1 + (this.last ? 1 : 0)));
    this.foot.setAttribute("aria-rowindex", String(this.lines.length + 2));
    this.draw();
  }

  // Columns in sight, and the one with the focus.
  inSight() {
    const [left, right] = [this.element.scrollLeft - SIDE, this.element.scrollLeft + this.element.clientWidth - this.first + SIDE];
    return this.places.flatMap((place, n) => ((place.left < right && place.left + place.width > left) || this.at[1] === n + 1 ? [n] : []));
  }

  draw() {
    if (!this.firstHead) return;
    const held = this.element.contains(document.activeElement) && !document.activeElement.closest(".gw-panel");
    const columns = this.inSight();
    const from = Math.max(0, Math.floor(this.element.scrollTop / ROW) - OVER);
    const to = Math.min(this.lines.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / ROW) + OVER);
    const wanted = new Set(Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n));
    if (this.at[0] >= 0 && this.at[0] < this.lines.length) wanted.add(this.at[0]);
    for (const [n, { element, key }] of this.drawn) {
      if (wanted.has(n) && key === this.lines[n].key) continue;
      element.remove();
      this.drawn.delete(n);
    }
    for (const n of [...wanted].sort((a, b) => a - b)) this.line(n, columns);
    this.heads(columns);
    this.summary(columns);
    if (held && !this.element.contains(document.activeElement)) this.focused()?.focus({ preventScroll: true });
  }

  line(n, columns) {
    const line = this.lines[n];
    let drawn = this.drawn.get(n);
    if (!drawn) {
      drawn = { key: line.key, cells: new Map(), element: h("div", { class: line.row ? "ln" : "ln tag", role: "row", "aria-rowindex": String(n + 2), style: `top:${n * ROW}px` }) };
      this.drawn.set(n, drawn);
      if (!line.row) drawn.element.append(h("div", { role: "gridcell", class: "gr", "aria-colindex": "1", "aria-colspan": String(this.columns.length + 1) }, h("b", {}, line.tag), h("span", { class: "num" }, String(line.count))));
      const after = [...this.drawn.keys()].filter((other) => other > n).sort((a, b) => a - b)[0];
      this.body.insertBefore(drawn.element, after === undefined ? null : this.drawn.get(after).element);
    }
    if (!line.row) return;
    const { row } = line;
    const open = this.page.open;
    drawn.element.classList.toggle("on", open?.row === row.id);
    this.put(drawn, 0, n, JSON.stringify([row.label, this.cuts[n], this.page.rowSays(row)]), "rowheader", () => [titled(row.label, this.cuts[n], { title: row.path || row.title }, "b"), this.rowLine(row)]);
    for (const [col, { element }] of drawn.cells) {
      if (col === 0 || columns.includes(col - 1)) continue;
      element.remove();
      drawn.cells.delete(col);
    }
    for (const at of columns) {
      const column = this.columns[at];
      const cell = this.page.shown(row.id, column);
      const state = cell && !cell.again ? "" : this.page.waits(row);
      const element = this.put(drawn, at + 1, n, JSON.stringify([cell, state, column.type, column.unit]), "gridcell", () => content(cell, column, state));
      const { left, width } = this.places[at];
      const chosen = open?.row === row.id && open.key === column.id;
      set(element, "style", `left:${this.first + left}px;width:${width}px`);
      set(element, "class", `ce ${cell ? (cell.again ? "old" : "") : "qu"} ${chosen ? "sel" : ""}`);
      set(element, "aria-selected", String(chosen));
    }
  }

  rowLine(row) {
    const { words, tone } = this.page.rowSays(row);
    return h("span", { class: `l2 num ${tone}`, title: words }, words);
  }

  // A cell of a drawn line, filled anew only where it says something else: what is drawn under a press gets no click.
  put(drawn, col, n, says, role, fill) {
    let cell = drawn.cells.get(col);
    if (!cell) {
      cell = { element: h("div", { role, class: "rh", "aria-colindex": String(col + 1) }) };
      drawn.cells.set(col, cell);
      const after = [...drawn.cells.keys()].filter((other) => other > col).sort((a, b) => a - b)[0];
      drawn.element.insertBefore(cell.element, after === undefined ? null : drawn.cells.get(after).element);
    }
    if (cell.says !== says) {
      cell.says = says;
      cell.element.replaceChildren(...fill());
    }
    set(cell.element, "tabindex", this.at[0] === n && this.at[1] === col ? "0" : "-1");
    return cell.element;
  }

  heads(columns) {
    const wanted = [this.firstHead, ...columns.map((n) => this.columns[n].head), ...(this.last ? [this.last] : [])];
    const now = [...this.head.children];
    if (wanted.length !== now.length || wanted.some((one, n) => one !== now[n])) this.head.replaceChildren(...wanted);
    const place = (element, col, style) => {
      set(element, "style", style);
      set(element, "aria-colindex", String(col + 1));
      set(element.querySelector("button"), "tabindex", this.at[0] === -1 && this.at[1] === col ? "0" : "-1");
      element.classList.toggle("on", col > 0 && this.page.open?.key === this.columns[col - 1]?.id);
    };
    place(this.firstHead, 0, "");
    for (const n of columns) place(this.columns[n].head, n + 1, `left:${this.first + this.places[n].left}px;width:${this.places[n].width}px`);
    const { left = 0, width = 0 } = this.places.at(-1) ?? {};
    if (this.last) place(this.last, this.columns.length + 1, `left:${this.first + left + width}px`);
  }

  summary(columns) {
    const key = JSON.stringify([columns, columns.map((n) => [this.places[n], this.columns[n].summary]), this.first]);
    const place = () => {
      for (const cell of this.foot.children) set(cell, "tabindex", this.at[0] === FOOT_LINE && Number(cell.getAttribute("aria-colindex")) - 1 === this.at[1] ? "0" : "-1");
    };
    if (key === this.summed) return place();
    this.summed = key;
    this.foot.replaceChildren(
      h("div", { role: "rowheader", class: "rh", "aria-colindex": "1" }, h("b", {}, "Summary"), h("span", { class: "l2" }, "of what is stated")),
      ...columns.map((n) => {
        const [words, below] = this.columns[n].summary;
        const { left, width } = this.places[n];
        return h("div", { role: "gridcell", class: "ce", "aria-colindex": String(n + 2), style: `left:${this.first + left}px;width:${width}px` }, h("span", { class: "l1" }, h("b", { title: words }, words)), h("span", { class: "l2 num" }, below));
      }),
    );
    place();
  }

  // The focus

  focused() {
    const [line, col] = this.at;
    if (line === FOOT_LINE) return this.foot.querySelector(`[aria-colindex="${col + 1}"]`);
    if (line >= 0) return this.drawn.get(line)?.cells.get(col)?.element;
    return (col === 0 ? this.firstHead : (this.columns[col - 1]?.head ?? this.last))?.querySelector("button");
  }

  // Where an element stands: line and column; null outside of the cells.
  placeOf(element) {
    const cell = element.closest?.("[aria-colindex]");
    if (!cell || !this.element.contains(cell)) return null;
    if (this.foot.contains(cell)) return [FOOT_LINE, Number(cell.getAttribute("aria-colindex")) - 1];
    return [Number(cell.parentElement.getAttribute("aria-rowindex")) - 2, Number(cell.getAttribute("aria-colindex")) - 1];
  }

  took(target) {
    const place = this.placeOf(target);
    if (!place || (place[0] === this.at[0] && place[1] === this.at[1])) return;
    this.focused()?.setAttribute("tabindex", "-1");
    this.at = place;
    this.focused()?.setAttribute("tabindex", "0");
  }

  // The line with this number, or the last.
  lineNear(line) {
    return line === FOOT_LINE ? line : Math.max(-1, Math.min(line, this.lines.length - 1));
  }

  // Moves the focus there, which is brought into sight.
  go(line, col, focus = true) {
    const most = this.columns.length + (line === -1 && this.last ? 1 : 0);
    this.at = [this.lineNear(line), Math.max(0, Math.min(col, most))];
    this.reveal();
    this.draw();
    if (focus) this.focused()?.focus({ preventScroll: true });
  }

  reveal() {
    const [line, col] = this.at;
    const { element } = this;
    const place = this.places[col - 1] ?? (col > 0 ? { left: this.places.at(-1)?.left ?? 0, width: ADD + (this.places.at(-1)?.width ?? 0) } : null);
    const tall = element.clientHeight - HEAD - FOOT;
    const wide = element.clientWidth - this.first;
    if (line >= 0 && line * ROW < element.scrollTop) element.scrollTop = line * ROW;
    else if (line !== FOOT_LINE && (line + 1) * ROW > element.scrollTop + tall) element.scrollTop = (line + 1) * ROW - tall;
    if (place && place.left < element.scrollLeft) element.scrollLeft = place.left;
    else if (place && place.left + place.width > element.scrollLeft + wide) element.scrollLeft = place.left + place.width - wide;
  }

  // Arrows, Home, End, page up and down. True where the key moved the focus.
  move(event) {
    const foot = this.lines.length;
    const col = this.at[1];
    const line = Math.min(this.at[0], foot);
    const page = Math.max(1, Math.floor((this.element.clientHeight - HEAD - FOOT) / ROW) - 1);
    const far = event.ctrlKey || event.metaKey;
    const last = this.lines.length - 1;
    const to = {
      ArrowUp: [far ? 0 : line - 1, col],
      ArrowDown: [far ? Math.max(line, last) : line + 1, col],
      ArrowLeft: [line, far ? 0 : col - 1],
      ArrowRight: [line, far ? this.columns.length : col + 1],
      Home: [far ? 0 : line, 0],
      End: [far ? last : line, this.columns.length],
      PageUp: [Math.max(0, line - page), col],
      PageDown: [Math.max(line, Math.min(line + page, last)), col],
    }[event.key];
    if (!to) return false;
    const down = to[0] < line ? -1 : 1;
    let next = Math.max(-1, Math.min(to[0], foot));
    while (next >= 0 && next < foot && !this.lines[next].row) next += down; // past the name of a group
    this.go(next === foot ? FOOT_LINE : next, to[1]);
    return true;
  }

  // What has the focus: its row and column, null for the head.
  get current() {
    const [line, col] = this.at;
    const row = this.lines[line]?.row;
    return row ? { row, column: this.columns[col - 1] ?? null } : null;
  }

  pressed({ target }) {
    const place = this.placeOf(target);
    if (!place || place[0] < 0 || !this.lines[place[0]]?.row) return;
    this.go(...place);
    const { row, column } = this.current;
    if (target.closest("[data-retry]")) this.page.fillAgain({ row: row.id, column: column.id });
    else if (column) this.page.openCell(row.id, column);
    else this.page.openRow(row);
  }

  // The line of a row, -1 if it is filtered out.
  lineOf(id) {
    return this.lines.findIndex((line) => line.row?.id === id);
  }
}
