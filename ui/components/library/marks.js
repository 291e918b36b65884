// Tags and folders of one or several documents, each in a panel below its button, and the filter by tag.

import { button, h, icon } from "../shared/dom.js";
import { Popup } from "../shared/popup.js";
import { folders, tags } from "./words.js";

// What is `given` to it says which documents there are, and does what is wished.
class Marks {
  constructor(given, label, sign, words, kind = "sm") {
    Object.assign(this, given);
    this.popup = new Popup(label, sign, (panel) => this.fill(panel));
    this.popup.button.className = `gw-btn ${kind}`;
    this.popup.button.removeAttribute("title");
    this.words = this.popup.button.appendChild(h("span", {}, words));
    this.element = this.popup.element;
  }
}

// Which tags the documents have: all of them, some, or none. A tick gives a tag to all, or takes it from all.
export class TagPanel extends Marks {
  constructor(given) {
    super(given, "Edit tags", "edit", "Tags");
  }

  fill(panel) {
    const chosen = new Set(this.ids());
    const all = this.all();
    const of = all.filter((item) => chosen.has(item.id));
    const has = new Map(tags(of));
    const field = h("input", { class: "gw-field", "aria-label": "New tag", placeholder: "New tag", maxlength: "40", autocomplete: "off" });
    const add = async (event) => {
      event.preventDefault();
      const named = field.value.split(",").map((text) => text.trim()).filter(Boolean);
      if (named.length && (await this.change(named, []))) this.fill(panel);
      panel.querySelector("form input")?.focus();
    };
    const rows = tags(all).map(([tag]) => {
      const box = h("input", { type: "checkbox", onchange: () => this.change(box.checked ? [tag] : [], box.checked ? [] : [tag]) });
      box.checked = has.get(tag) === of.length;
      box.indeterminate = has.has(tag) && !box.checked;
      return h("label", { class: "item" }, box, h("span", {}, tag));
    });
    panel.replaceChildren(h("form", { class: "row", onsubmit: add }, field, h("button", { type: "submit", class: "gw-btn sm" }, "Add")), h("div", { class: "gw-scroll marks" }, rows));
  }
}

export class FolderPanel extends Marks {
  constructor(given) {
    super(given, "Move to a folder", "folder_open", "Folder");
  }

  fill(panel) {
    const chosen = new Set(this.ids());
    const all = this.all();
    const here = [...new Set(all.filter((item) => chosen.has(item.id)).map((item) => item.folder))];
    const field = h("input", { class: "gw-field", "aria-label": "Folder", placeholder: "Folder, or folder/subfolder", maxlength: "200", autocomplete: "off" });
    field.value = here.length === 1 ? here[0] : "";
    const move = async (folder) => {
      if (await this.change(folder)) this.popup.close(true);
    };
    const item = (path, words) => h("button", { type: "button", class: "item", "aria-current": here.length === 1 && here[0] === path ? "true" : null, onclick: () => move(path) }, icon(path ? "folder_open" : "block", "s16"), h("span", {}, words));
    panel.replaceChildren(
      h("form", { class: "row", onsubmit: (event) => (event.preventDefault(), move(field.value)) }, field, h("button", { type: "submit", class: "gw-btn sm" }, "Move")),
      h("div", { class: "gw-scroll marks" }, folders(all).map(([path]) => item(path, path)), here.some(Boolean) ? item("", "No folder") : null),
    );
  }
}

// The filter: documents that have all the tags that are ticked. Each tag can be renamed, and taken from all documents.
export class TagFilter extends Marks {
  constructor(given) {
    super(given, "Filter by tag", "filter_list", "Tags", "");
    this.known = [];
  }

  draw(known) {
    const on = this.chosen();
    this.element.hidden = !known.length && !on.length;
    this.words.textContent = on.length ? `Tags (${on.length})` : "Tags";
    const changed = JSON.stringify(known) !== JSON.stringify(this.known);
    this.known = known;
    if (changed && this.popup.open && !this.popup.panel.contains(document.activeElement)) this.fill(this.popup.panel);
  }

  fill(panel) {
    const on = new Set(this.chosen());
    panel.replaceChildren(h("div", { class: "gw-scroll marks" }, this.known.map(([tag, count]) => this.line(panel, tag, count, on))));
  }

  line(panel, tag, count, on) {
    const box = h("input", { type: "checkbox", onchange: () => (box.checked ? on.add(tag) : on.delete(tag), this.set([...on])) });
    box.checked = on.has(tag);
    const label = h("label", { class: "item" }, box, h("span", {}, tag), h("small", { class: "num" }, String(count)));
    const row = h("div", { class: "mark" }, label, button(`Rename ${tag}`, "edit", () => edit()), button(`Remove ${tag} from all documents`, "delete", () => drop()));
    const again = (chosen) => {
      this.set(chosen);
      this.fill(panel);
      panel.querySelector("input, button")?.focus();
    };
    const drop = async () => {
      if (await this.drop(tag)) again(this.chosen().filter((one) => one !== tag));
    };
    const edit = () => {
      const field = h("input", { class: "gw-field", "aria-label": `New name of ${tag}`, maxlength: "40" });
      field.value = tag;
      const send = async (event) => {
        event.preventDefault();
        const name = field.value.trim();
        if (name && (name === tag || (await this.rename(tag, name)))) again(this.chosen().map((one) => (one === tag ? name : one)));
      };
      row.replaceChildren(h("form", { class: "row", onsubmit: send }, field, h("button", { type: "submit", class: "gw-btn sm" }, "Rename")));
      field.select();
    };
    return row;
  }
}
