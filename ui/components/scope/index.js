// The documents that the next question searches: a box each, a field that finds some of many, and one that puts those of
// a tag or folder into scope. A click shows at once; the script is told of all that were not heard yet.

import { h } from "../shared/dom.js";

export function mount({ parentElement, data, tell }) {
  const scope = (parentElement.gwScope ??= new ScopeList(parentElement.querySelector(".gw-scope")));
  scope.show(data, (ticked) => tell("ticked", ticked));
}

class ScopeList {
  constructor(root) {
    this.count = h("span", { class: "count", role: "status" });
    this.group = h("select", { class: "gw-field", "aria-label": "Only documents of a tag or folder", onchange: () => this.only() });
    this.field = h("input", { class: "gw-field", type: "search", placeholder: "Find a document", "aria-label": "Find a document", autocomplete: "off", oninput: () => this.draw() });
    this.every = h("input", { type: "checkbox", onchange: () => this.tick(this.found, this.every.checked) });
    this.everyName = h("span");
    this.list = h("div", { class: "rows", role: "group", "aria-label": "Documents in scope" });
    this.none = h("p", { class: "said", role: "status" });
    this.all = h("label", { class: "all" }, this.every, this.everyName);
    root.append(h("h2", {}, "In scope", this.count), this.group, this.field, this.all, this.list, this.none);
    this.rows = new Map(); // id → { title, row, box }
    this.changes = {}; // id → whether it was put in, as far as the script has not heard of it
  }

  show({ conversation, documents, inside, groups, many, heard, session }, tell) {
    if (conversation !== this.conversation || session !== this.session || heard >= this.told) this.changes = {};
    Object.assign(this, { conversation, session, groups, many, tell, inside: new Set(inside) });
    this.offer(documents);
    const names = Object.keys(groups);
    this.group.replaceChildren(...["Tag or folder", ...names].map((name, at) => h("option", { value: at ? name : "" }, name)));
    this.group.hidden = !names.length;
    this.draw();
  }

  // A row for each document; those that stay keep theirs, and so the focus.
  offer(documents) {
    const before = this.rows;
    this.rows = new Map();
    for (const { id, title } of documents) {
      const kept = before.get(id);
      if (kept?.title === title) this.rows.set(id, kept);
      else {
        const box = h("input", { type: "checkbox", onchange: () => this.tick([id], box.checked) });
        this.rows.set(id, { title, box, row: h("label", { title, "data-id": id }, box, h("span", {}, title)) });
      }
    }
    const wanted = [...this.rows.values()].map(({ row }) => row);
    if (wanted.length !== this.list.children.length || wanted.some((row, at) => row !== this.list.children[at])) this.list.replaceChildren(...wanted);
  }

  draw() {
    const ids = [...this.rows.keys()];
    const many = ids.length >= this.many;
    this.field.hidden = !many;
    const sought = many ? this.field.value.trim().toLowerCase() : "";
    this.found = ids.filter((id) => this.rows.get(id).title.toLowerCase().includes(sought));
    const shown = new Set(this.found);
    for (const [id, { row, box }] of this.rows) {
      row.hidden = !shown.has(id);
      box.checked = this.isIn(id);
    }
    const ticked = this.found.filter((id) => this.isIn(id)).length;
    this.every.checked = ticked > 0 && ticked === this.found.length;
    this.every.indeterminate = ticked > 0 && ticked < this.found.length;
    this.everyName.textContent = sought ? `All ${this.found.length} found` : "All documents";
    this.all.hidden = ids.length < 3 || !this.found.length;
    this.none.textContent = this.found.length ? "" : "No title has these words.";
    this.count.textContent = `${ids.filter((id) => this.isIn(id)).length} of ${ids.length}`;
  }

  isIn(id) {
    return this.changes[id] ?? this.inside.has(id);
  }

  tick(ids, on) {
    this.change(Object.fromEntries(ids.map((id) => [id, on])));
  }

  // The documents of the group that was chosen, and no others; what is in scope is told by the boxes.
  only() {
    const chosen = new Set(this.groups[this.group.value]);
    this.group.value = "";
    this.change(Object.fromEntries([...this.rows.keys()].map((id) => [id, chosen.has(id)])));
  }

  change(changes) {
    Object.assign(this.changes, changes);
    this.draw();
    this.told = this.tell({ conversation: this.conversation, inside: this.changes });
  }
}
