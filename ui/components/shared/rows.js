// What the rows of a grid are: documents, or sections of them, ticked in their outlines.

import { answered, get } from "./api.js";
import { Documents } from "./documents.js";
import { h, icon, plural, prose } from "./dom.js";
import { titled } from "./titles.js";

const MANY = 40; // sections of a document; of more, those inside others are closed at first
let groups = 0;

export class Rows extends Documents {
  constructor(changed) {
    super(changed, "of", ["The library is empty. ", h("a", { href: "library" }, "Add documents"), ", or try the sample."]);
    groups += 1;
    Object.assign(this, { by: "document", ticked: new Set(), gone: [], open: new Set(), folded: new Set(), outlines: new Map(), asked: new Set() });
    const way = (by) => h("label", {}, h("input", { type: "radio", name: `gw-by-${groups}`, value: by, checked: by === this.by, onchange: () => this.choose(by) }), by);
    this.ways = h("div", { class: "by", role: "radiogroup", "aria-label": "One row for each" }, h("span", {}, "One row for each"), way("document"), way("section"));
    this.coming = h("input", { type: "checkbox", onchange: () => this.tally() });
    this.every = h("label", { class: "ck all" }, this.coming, h("span", { class: "t" }, "All documents, including new ones"));
    this.over = h("p", { class: "over", role: "status", hidden: true });
    this.element = h("div", { class: "rows" }, this.ways, this.every, this.list, this.over);
  }

  // At most `most` sections are rows; `coming` ticks the documents that come, too.
  offer(documents, first, most, coming = false) {
    const known = new Set(documents.map((one) => one.id));
    for (const kept of [this.outlines, this.open]) for (const id of kept.keys()) if (!known.has(id)) kept.delete(id);
    for (const id of this.ticked) if (!known.has(id.split("-")[0])) this.ticked.delete(id);
    this.most = most;
    if (coming) this.coming.checked = true;
    super.offer(documents, first);
  }

  get whole() {
    return this.coming.checked;
  }

  // The sections that are rows.
  tick(rows) {
    this.ticked = new Set(rows.map((one) => one.id));
    this.gone = rows.filter((one) => !one.begins);
    this.open = new Set(rows.map((one) => one.doc));
    this.choose("section");
  }

  // What a request says of them.
  get value() {
    if (this.by === "section") return { sections: [...this.ticked] };
    return { docs: this.whole ? null : this.docs };
  }

  // Whether a grid can be made of them.
  get good() {
    const { docs, sections } = this.value;
    return sections ? sections.length > 0 && sections.length <= this.most : docs === null || docs.length > 0;
  }

  choose(by) {
    const { docs } = this.value;
    const chosen = docs?.length ? docs : this.documents.map((one) => one.id);
    this.by = by;
    this.ways.querySelector(`[value="${by}"]`).checked = true;
    if (!this.open.size && chosen.length === 1) this.open.add(chosen[0]);
    this.draw();
  }

  draw() {
    this.every.hidden = this.by === "section";
    super.draw(this.ways.querySelector(":checked"));
  }

  line(one, at) {
    return this.by === "section" ? this.outline(one, at) : super.line(one, at);
  }

  tally() {
    const { ticked, most } = this;
    super.tally();
    this.over.hidden = this.by !== "section" || ticked.size <= most;
    this.over.textContent = `A grid has at most ${most} sections; these are ${ticked.size.toLocaleString("en")}.`;
    if (this.by !== "section") return;
    this.all.hidden = true;
    this.count.textContent = plural(ticked.size, "section");
  }

  // Sections

  outline({ id, title, pages }, at) {
    const shown = this.open.has(id);
    const count = h("span", { class: "n num" });
    const inside = h("div", { class: "in", "data-in": id, hidden: !shown });
    const toggle = () => {
      if (!this.open.delete(id)) this.open.add(id);
      this.draw();
    };
    const head = h("button", { type: "button", class: "fold", "data-at": id, "aria-expanded": String(shown), onclick: toggle }, icon(shown ? "keyboard_arrow_down" : "chevron_right", "s16"), titled(title, at, { class: "t", title }), count);
    this.marks.push(() => {
      const items = this.outlines.get(id) ?? [];
      count.textContent = items.length ? `${items.filter((one) => this.ticked.has(one.id)).length} of ${items.length}` : "";
    });
    if (shown && this.outlines.has(id)) inside.append(...this.sections(this.outlines.get(id)));
    else if (shown && pages) {
      inside.append(h("span", { class: "gw-spin" }));
      if (!this.asked.has(id)) this.fetch(id);
    } else inside.append(h("p", {}, "Its sections are known when it is read."));
    return h("div", { role: "group", "aria-label": title }, head, inside);
  }

  // Each outline is asked for once and drawn where it belongs.
  async fetch(id) {
    this.asked.add(id);
    const found = await answered(() => get("/grids/outline", { doc: id }));
    this.asked.delete(id);
    let drawn = () => [h("p", { role: "alert" }, prose(`${found.refused.message} ${found.refused.hint}`))];
    if (!found.refused) {
      const items = [...found.items, ...this.gone.filter((one) => one.doc === id).map((one) => ({ id: one.id, depth: 0, label: one.label, page: "", gone: true }))];
      items.forEach((one, n) => (one.below = under(items, n)));
      if (items.length > MANY) for (const one of items) if (one.depth && one.below.length) this.folded.add(one.id);
      this.outlines.set(id, items);
      drawn = () => this.sections(items);
    }
    const inside = this.list.querySelector(`[data-in="${id}"]`);
    if (!inside) return;
    inside.replaceChildren(...drawn());
    this.tally();
  }

  // All of one level at once, then each, and at a heading those directly below it.
  sections(items) {
    if (!items.length) return [h("p", {}, "This document has no headings.")];
    const levels = [...new Set(items.map((one) => one.depth))].sort((a, b) => a - b).map((depth) => items.filter((one) => one.depth === depth && !one.gone));
    const several = levels.filter((one) => one.length > 1);
    let deepest = Infinity;
    const lines = items.map((one) => {
      if (one.depth > deepest) return null;
      deepest = this.folded.has(one.id) ? one.depth : Infinity;
      return this.section(one);
    });
    return [several.length > 0 && h("div", { class: "lv" }, "All of level", several.map((one) => this.together(one, `${one[0].depth + 1}`, `All ${one.length} sections of level ${one[0].depth + 1}`, "gw-btn sm"))), ...lines].filter(Boolean);
  }

  section(one) {
    const { id, depth, label, page, below, gone } = one;
    const box = h("input", { type: "checkbox", "data-at": id, onchange: () => this.put([id], box.checked) });
    this.marks.push(() => (box.checked = this.ticked.has(id)));
    const shut = this.folded.has(id);
    const fold = () => {
      if (!this.folded.delete(id)) this.folded.add(id);
      this.draw();
    };
    return h(
      "div",
      { class: "sec", style: `--in:${Math.min(depth, 5)}` },
      below.length ? h("button", { type: "button", class: "tg", "data-at": `fold ${id}`, "aria-label": `Sections of ${label}`, "aria-expanded": String(!shut), onclick: fold }, icon(shut ? "chevron_right" : "keyboard_arrow_down", "s14")) : h("span", { class: "tg" }),
      h("label", { class: "ck" }, box, h("span", { class: "t", title: label }, label)),
      below.length > 1 && this.together(below, `all ${below.length}`, `All ${below.length} sections below ${label}`, "gw-linkish"),
      h("span", { class: "n num" }, gone ? "no longer there" : page),
    );
  }

  // A button that ticks all of `items`, or none where they are.
  together(items, words, label, style) {
    const ids = items.map((one) => one.id);
    const all = () => ids.every((id) => this.ticked.has(id));
    const made = h("button", { type: "button", class: style, "data-at": `${words} ${ids[0]}`, title: label, "aria-label": label, onclick: () => this.put(ids, !all()) }, words);
    this.marks.push(() => made.setAttribute("aria-pressed", String(all())));
    return made;
  }

  put(ids, on) {
    for (const id of ids) on ? this.ticked.add(id) : this.ticked.delete(id);
    this.tally();
  }
}

// The items directly below one.
function under(items, n) {
  const end = items.findIndex((one, m) => m > n && one.depth <= items[n].depth);
  const inside = items.slice(n + 1, end < 0 ? items.length : end);
  const first = Math.min(...inside.map((one) => one.depth));
  return inside.filter((one) => one.depth === first);
}
