// The documents that the next question searches: a box each, a field that finds some of many, and one that puts those of
// a tag or folder into scope. A click shows at once; the script is told of all that were not heard yet.

import { answered, configure, forgetDocument, post } from "../shared/api.js";
import { button, h, prose } from "../shared/dom.js";
import { editName } from "../shared/rename.js";
import { apart, titled } from "../shared/titles.js";

export function mount({ parentElement, data, tell }) {
  const scope = (parentElement.gwScope ??= new ScopeList(parentElement.querySelector(".gw-scope")));
  configure(data);
  scope.renamed = (id) => tell("renamed", id);
  scope.show(data, (ticked) => tell("ticked", ticked));
}

class ScopeList {
  constructor(root) {
    this.count = h("span", { class: "count", role: "status" });
    this.group = h("select", { class: "gw-field", "aria-label": "Only documents with a tag or in a folder", onchange: () => this.only() });
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
    const cuts = apart(documents.map(({ title }) => title));
    for (const [n, { id, title }] of documents.entries()) {
      const [kept, at] = [before.get(id), cuts[n]];
      if (kept?.title === title && kept.at === at) this.rows.set(id, kept);
      else {
        const box = h("input", { type: "checkbox", onchange: () => this.tick([id], box.checked) });
        const pen = button(`Rename ${title}`, "edit", () => this.rename(id), { class: "gw-btn quiet icon sm pen" });
        const row = h("div", { class: "row", "data-id": id }, h("label", { title }, box, titled(title, at)), pen);
        this.rows.set(id, { title, at, box, row, pen });
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
    this.none.textContent = this.found.length ? "" : "No title matches.";
    const inside = ids.filter((id) => this.isIn(id)).length;
    this.count.textContent = `${inside} of ${ids.length}`;
    this.count.classList.toggle("some", inside < ids.length);
  }

  // Without a name it gets back the one that was read.
  rename(id) {
    const { row, title } = this.rows.get(id);
    const label = row.firstChild;
    const room = h("div", { class: "edit" });
    label.hidden = true;
    label.after(room);
    const ended = (back) => {
      room.remove();
      label.hidden = false;
      if (back) this.rows.get(id)?.pen.focus();
    };
    editName(room, title, (name) => this.keepName(id, name), ended);
  }

  async keepName(id, title) {
    this.none.textContent = "";
    const { refused } = await answered(() => post(`/documents/${id}/title`, { title }));
    if (refused) return this.none.replaceChildren(...prose(`${refused.message} ${refused.hint}`));
    forgetDocument(id);
    this.renamed(id);
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
