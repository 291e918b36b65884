// The library as a tree: groups of documents that are alike, each of which can be asked by itself, and the documents in
// them, each of which opens with its contents.

import { answered, get } from "../shared/api.js";
import { button, h, icon, plural, prose } from "../shared/dom.js";
import { keyed } from "../shared/keys.js";

export class Outline {
  // `ask(ids)` asks documents, `open(id)` opens one.
  constructor({ ask, open }) {
    this.ask = ask;
    this.open = open;
    this.closed = new Set(); // names of groups, with those around them
    this.element = h("div", { class: "outline", hidden: true, onkeydown: (event) => this.key(event), onfocusin: (event) => event.target.role === "treeitem" && this.settle(event.target) });
  }

  // Of `documents`, those whose ids are `shown`. The groups are fetched again when the documents are others.
  async draw(documents, shown) {
    const ready = documents.filter((item) => item.indexed);
    const key = JSON.stringify([ready.map((item) => item.id).sort(), [...shown].sort(), ready.map((item) => item.title)]);
    if (this.drawn === key) return;
    const of = JSON.stringify(ready.map((item) => [item.id, item.pages]).sort());
    this.drawn = key;
    if (this.of !== of) {
      if (!this.groups) this.element.replaceChildren(h("p", { class: "none", role: "status" }, h("span", { class: "gw-spin" }), " Grouping documents…"));
      const groups = await answered(() => get("/library/groups"));
      if (groups.refused) {
        this.drawn = null;
        this.element.replaceChildren(h("p", { class: "none", role: "alert" }, prose(`${groups.refused.message} ${groups.refused.hint}`)));
        return;
      }
      Object.assign(this, { groups, of });
    }
    if (this.drawn !== key) return; // others are shown by now
    this.items = new Map(documents.filter((item) => shown.has(item.id)).map((item) => [item.id, item]));
    const held = this.element.contains(document.activeElement) ? document.activeElement.closest("[role=treeitem]")?.dataset.key : null;
    const rows = this.rows(this.groups, [...this.items.keys()], "");
    this.element.replaceChildren(rows.length ? h("div", { role: "tree", "aria-label": "Outline of the library" }, rows) : "");
    this.settled = null;
    const row = this.element.querySelector(held ? `[data-key="${CSS.escape(held)}"]` : "[role=treeitem]");
    if (row) this.settle(row);
    if (held) row?.focus();
  }

  // Groups with some of the documents `ids`, then the documents in none.
  rows(groups, ids, above, level = 1) {
    const left = new Set(ids);
    const parts = [];
    for (const group of groups) {
      const own = group.docs.filter((id) => left.has(id));
      if (!own.length) continue;
      own.forEach((id) => left.delete(id));
      parts.push((place, all) => this.group(group, own, `${above}/${group.name}`, level, place, all));
    }
    const rest = [...left].map((id) => (place, all) => this.document(this.items.get(id), level, place, all));
    return [...parts, ...rest].map((made, at, every) => made(at + 1, every.length));
  }

  group({ name, groups }, ids, key, level, place, all) {
    const open = !this.closed.has(key);
    const ask = button(`Ask these ${ids.length}`, "forum", (event) => (event.stopPropagation(), this.ask(ids)), { class: "gw-btn quiet icon sm as", tabindex: "-1", "aria-label": `Ask ${plural(ids.length, "document")}: ${name}` });
    const line = h("div", { class: "ln", onclick: (event) => this.toggle(event.currentTarget.parentElement) }, h("span", { class: "fo" }, icon("keyboard_arrow_down", "s14")), h("b", {}, name || plural(ids.length, "document")), h("small", { class: "num" }, plural(ids.length, "document")), ask);
    return this.item(key, level, place, all, { class: "group", "aria-expanded": String(open), "aria-label": `${name}, ${plural(ids.length, "document")}` }, line, h("div", { role: "group", hidden: !open }, this.rows(groups, ids, key, level + 1)));
  }

  document(item, level, place, all) {
    const ask = item.built_pages > 0 && button("Ask about it", "forum", (event) => (event.stopPropagation(), this.ask([item.id])), { class: "gw-btn quiet icon sm as", tabindex: "-1", "aria-label": `Ask about ${item.title}` });
    const line = h("div", { class: "ln", onclick: () => this.open(item.id) }, h("span", { class: "fo" }), h("span", { class: "tx" }, item.title), h("small", { class: "num" }, plural(item.pages, "page")), ask);
    return this.item(item.id, level, place, all, { "aria-label": `${item.title}, ${plural(item.pages, "page")}` }, line);
  }

  row(id) {
    return this.element.querySelector(`[data-key="${CSS.escape(id)}"]`);
  }

  item(key, level, place, all, attributes, ...parts) {
    return h("div", { role: "treeitem", tabindex: "-1", "data-key": key, style: `--in:${level - 1}`, "aria-level": level, "aria-posinset": place, "aria-setsize": all, ...attributes }, parts);
  }

  toggle(row, open = row.getAttribute("aria-expanded") === "false") {
    if (open) this.closed.delete(row.dataset.key);
    else this.closed.add(row.dataset.key);
    row.setAttribute("aria-expanded", String(open));
    row.lastChild.hidden = !open;
    if (!open && row.contains(this.settled)) this.settle(row);
  }

  // The one row that Tab comes to, and then its button.
  settle(row) {
    for (const [one, index] of [[this.settled, -1], [row, 0]]) if (one) for (const part of [one, one.querySelector(":scope > .ln .as")]) if (part) part.tabIndex = index;
    this.settled = row;
  }

  key(event) {
    const row = event.target;
    if (row.role !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = [...this.element.querySelectorAll("[role=treeitem]")].filter((one) => one.offsetParent);
    const at = shown.indexOf(row);
    const expanded = row.getAttribute("aria-expanded");
    const lead = () => (expanded === null ? this.open(row.dataset.key) : this.toggle(row));
    const done = {
      ArrowDown: () => shown[at + 1]?.focus(),
      ArrowUp: () => shown[at - 1]?.focus(),
      ArrowRight: () => (expanded === "true" ? shown[at + 1]?.focus() : expanded && this.toggle(row)),
      ArrowLeft: () => (expanded === "true" ? this.toggle(row, false) : row.parentElement.closest("[role=treeitem]")?.focus()),
      Home: () => shown[0].focus(),
      End: () => shown.at(-1).focus(),
      Enter: lead,
      " ": lead,
    }[event.key];
    keyed(event, done);
  }
}
