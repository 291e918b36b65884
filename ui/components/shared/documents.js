// Documents that are ticked: what a draft is checked against, what the rows of a grid are.

import { h } from "./dom.js";
import { apart, titled } from "./titles.js";

export class Documents {
  // `changed()` hears of each change; `pages` names the number of pages that is shown, `none` is said where there are none.
  constructor(changed = () => {}, pages = "pages", none = []) {
    Object.assign(this, { changed, pages, none, documents: [], chosen: new Map() });
    this.list = h("div", { class: "docs gw-scroll" });
    this.count = h("span", { class: "muted num" });
    this.all = h("button", { type: "button", class: "gw-linkish", onclick: () => this.tickAll() });
  }

  // The documents there are; of new ones `first(id, only)` says whether they are ticked.
  offer(documents, first) {
    const known = new Set(documents.map((one) => one.id));
    for (const id of this.chosen.keys()) if (!known.has(id)) this.chosen.delete(id);
    for (const { id } of documents) if (!this.chosen.has(id)) this.chosen.set(id, first(id, documents.length === 1));
    const same = JSON.stringify(this.documents) === JSON.stringify(documents);
    this.documents = documents;
    if (this.marks && same) this.tally(); // a press that is under way finds its box
    else this.draw();
  }

  // Whether all are ticked, also those that come.
  get whole() {
    return false;
  }

  get docs() {
    return [...this.chosen].filter(([, on]) => on).map(([id]) => id);
  }

  // What had the focus has it again, or else `instead`.
  draw(instead = null) {
    const held = this.list.contains(document.activeElement) && document.activeElement.dataset.at;
    this.marks = [];
    const cuts = apart(this.documents.map(({ title }) => title));
    this.list.replaceChildren(...(this.documents.length ? this.documents.map((one, n) => this.line(one, cuts[n])) : [h("p", {}, this.none)]));
    this.tally();
    if (held) (this.list.querySelector(`[data-at="${held}"]`) ?? instead)?.focus();
  }

  line({ id, title, [this.pages]: pages }, at) {
    const box = h("input", { type: "checkbox", "data-at": id, onchange: () => (this.chosen.set(id, box.checked), this.tally()) });
    this.marks.push(() => Object.assign(box, { disabled: this.whole, checked: this.whole || this.chosen.get(id) }));
    return h("label", { class: "ck" }, box, titled(title, at, { class: "t", title }), h("span", { class: "n num" }, pages ? String(pages) : "", h("span", { class: "gw-unseen" }, pages === 1 ? " page" : " pages")));
  }

  tickAll() {
    const on = !this.docs.length;
    for (const id of this.chosen.keys()) this.chosen.set(id, on);
    this.tally();
  }

  tally() {
    const inside = this.whole ? this.chosen.size : this.docs.length;
    for (const mark of this.marks) mark();
    this.all.hidden = this.whole || this.chosen.size < 4;
    this.all.textContent = inside ? "None" : "All";
    this.count.textContent = this.chosen.size ? `${inside} of ${this.chosen.size}` : "";
    this.changed();
  }
}
