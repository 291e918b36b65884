// The contents of the document: its sections as a tree, each of which leads to its heading and can be asked by itself; the
// one in force where one reads is marked.

import { answered, get } from "../shared/api.js";
import { button, h, icon, prose } from "../shared/dom.js";

const MANY = 40; // sections; of more, those inside others are closed at first
const TYPED = 700; // ms between two keys of one word

export class Contents {
  // `go(page, boxes)` leads to a heading; `ask({ document, start, end, path })` limits the next questions to a section.
  constructor(box, go, ask = null) {
    this.box = box;
    this.go = go;
    this.ask = ask;
    this.asks = ask !== null;
    this.typed = "";
    this.items = []; // [[depth, heading, page, start, end, boxes]]
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("focusin", (event) => event.target.role === "treeitem" && this.settle(this.rows.indexOf(event.target)));
  }

  // Of this document, null for none; fetched once the contents are looked at.
  show(document) {
    this.document = document;
    this.loaded = false;
    this.items = this.rows = [];
    this.now = this.settled = null;
    this.box.replaceChildren();
  }

  async open(page) {
    this.page = page;
    if (this.loaded || !this.document) return this.at(page);
    this.loaded = true;
    const { id } = this.document;
    const items = await answered(() => get(`/documents/${id}/sections`));
    if (items.refused) {
      this.loaded = false;
      this.box.replaceChildren(h("p", { class: "none", role: "alert" }, prose(`${items.refused.message} ${items.refused.hint}`)));
      return;
    }
    if (this.document?.id !== id) return; // another was opened meanwhile
    this.items = items;
    this.nest();
    this.closed = new Set(items.length > MANY ? [...items.keys()].filter((i) => items[i][0] && this.parent(i)) : []);
    this.rows = items.map((_, i) => this.row(i));
    const tree = h("div", { role: "tree", "aria-label": "Contents" }, this.rows);
    this.box.replaceChildren(items.length ? tree : h("p", { class: "none" }, "This document has no headings."));
    this.fold();
    this.at(this.page);
  }

  row(i) {
    const [depth, heading, at] = this.items[i];
    const label = this.document.pages[at - 1][2];
    return h(
      "div",
      {
        role: "treeitem",
        class: "hd",
        title: heading,
        tabindex: "-1",
        style: `--in:${Math.min(depth, 5)}`,
        "aria-label": `${heading}, page ${label}`,
        "aria-level": depth + 1,
        "aria-posinset": this.place[i],
        "aria-setsize": this.under.get(this.above[i]),
        onclick: () => this.lead(i),
      },
      h("span", { class: "fo", onclick: (event) => this.parent(i) && (event.stopPropagation(), this.toggle(i)) }, this.parent(i) && icon("keyboard_arrow_down", "s14")),
      h("span", { class: "tx" }, heading),
      h("small", { class: "num" }, label),
      this.asks && button("Ask this section", "forum", (event) => (event.stopPropagation(), this.limit(i)), { class: "gw-btn quiet icon sm as", tabindex: "-1", "aria-label": `Ask this section: ${heading}` }),
    );
  }

  parent(i) {
    return this.items[i + 1]?.[0] > this.items[i][0];
  }

  // `above` is the section around each, -1 for none; `place` its number there, from 1; `under` how many each has inside.
  nest() {
    const last = [-1]; // by depth, one further in
    this.under = new Map();
    this.place = [];
    this.above = this.items.map(([depth], i) => {
      last[depth + 1] = i;
      const above = last[depth];
      this.place.push((this.under.get(above) ?? 0) + 1);
      this.under.set(above, this.place[i]);
      return above;
    });
  }

  path(i) {
    return i < 0 ? [] : [...this.path(this.above[i]), this.items[i][1]];
  }

  shown() {
    return this.rows.filter((row) => !row.hidden);
  }

  fold() {
    let deepest = Infinity;
    for (const [i, row] of this.rows.entries()) {
      const [depth] = this.items[i];
      row.hidden = depth > deepest;
      if (row.hidden) continue;
      deepest = this.closed.has(i) ? depth : Infinity;
      if (this.parent(i)) row.setAttribute("aria-expanded", String(!this.closed.has(i)));
    }
  }

  toggle(i, close = !this.closed.has(i)) {
    if (close) this.closed.add(i);
    else this.closed.delete(i);
    this.fold();
    this.mark();
    if (!this.settled || this.settled.hidden) this.settle(i);
  }

  lead(i) {
    this.settle(i);
    const [, , at, , , boxes] = this.items[i];
    this.go(at, boxes);
  }

  limit(i) {
    const [, , , start, end] = this.items[i];
    this.ask({ document: this.document.id, start, end, path: this.path(i) });
  }

  // The one row that Tab comes to, and then its button.
  settle(i) {
    const settled = this.rows[i];
    if (settled === this.settled) return;
    for (const [row, index] of [[this.settled, -1], [settled, 0]]) for (const one of row ? [row, ...row.querySelectorAll(".as")] : []) one.tabIndex = index;
    this.settled = settled;
  }

  // `page` is the one in sight, and `below` how far down it is read, in points.
  at(page, below = Infinity) {
    this.page = page;
    if (!this.rows?.length) return;
    let now = 0;
    for (const [i, [, , at, , , boxes]] of this.items.entries()) if (at < page || (at === page && (boxes[0]?.[2] ?? 0) <= below)) now = i;
    if (this.now === now) return;
    this.now = now;
    this.mark();
    if (!this.box.contains(document.activeElement)) this.settle(this.rows.indexOf(this.current));
    const { offsetTop, offsetHeight } = this.current;
    const { scrollTop, clientHeight } = this.box;
    if (clientHeight && (offsetTop < scrollTop || offsetTop + offsetHeight > scrollTop + clientHeight)) this.box.scrollTop = offsetTop - clientHeight / 2;
  }

  // Marks the section that is read, or the closed one around it.
  mark() {
    if (this.now === null) return;
    let seen = this.now;
    while (this.rows[seen].hidden) seen = this.above[seen];
    this.current?.removeAttribute("aria-current");
    this.current = this.rows[seen];
    this.current.setAttribute("aria-current", "location");
  }

  key(event) {
    const i = this.rows?.indexOf(event.target) ?? -1;
    if (i < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = this.shown();
    const at = shown.indexOf(event.target);
    const open = this.parent(i) && !this.closed.has(i);
    const done = {
      ArrowDown: () => shown[at + 1]?.focus(),
      ArrowUp: () => shown[at - 1]?.focus(),
      ArrowRight: () => (open ? shown[at + 1].focus() : this.parent(i) && this.toggle(i, false)),
      ArrowLeft: () => (open ? this.toggle(i, true) : this.rows[this.above[i]]?.focus()),
      Home: () => shown[0].focus(),
      End: () => shown.at(-1).focus(),
      Enter: () => this.lead(i),
      " ": () => this.lead(i),
    }[event.key];
    if (!done && event.key.length > 1) return;
    event.preventDefault();
    event.stopPropagation();
    if (done) done();
    else this.type(event.key.toLowerCase(), shown, at);
  }

  // To the next heading that begins with what is typed.
  type(letter, shown, at) {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => (this.typed = ""), TYPED);
    this.typed += letter;
    const from = this.typed.length > 1 ? at : at + 1;
    const begins = (row) => row.title.toLowerCase().startsWith(this.typed);
    [...shown.slice(from), ...shown.slice(0, from)].find(begins)?.focus();
  }
}
