// Every setting in force with where it came from: found by its words, checked as it is typed.

import { h, icon, plural } from "../shared/dom.js";

const FIXED = "Your documents were read and indexed with these. Change them in config.toml and restart; documents are then updated.";
const SERVER = "The server was started with these. Change them in config.toml and restart.";
const ABOVE = "OCR has its own settings above, under Reading documents.";

export class All {
  constructor(page) {
    this.page = page;
    this.field = h("input", { class: "gw-field", type: "text", id: "gw-find-setting", placeholder: "Search settings", autocomplete: "off", oninput: () => this.filter() });
    this.only = h("input", { type: "checkbox", onchange: () => this.filter() });
    this.said = h("p", { class: "muted num", role: "status" });
    this.list = h("div", { class: "rows" });
    this.count = h("span", { class: "muted num" });
    this.element = h(
      "details",
      { id: "gw-all" },
      h("summary", {}, icon("chevron_right", "s16"), h("h2", {}, "Advanced"), this.count),
      h("p", { class: "lead" }, "Each setting, its value and where it comes from. Changes last for this visit until you save them."),
      h("div", { class: "find" }, h("label", { class: "gw-unseen", for: "gw-find-setting" }, "Search settings"), icon("search", "s16"), this.field, h("label", { class: "chk" }, this.only, "Only changed settings"), this.said),
      this.list,
    );
    this.rows = new Map(); // key → { data, element }
  }

  show(settings) {
    if (!this.rows.size) {
      const sections = new Map();
      for (const item of settings) {
        const section = item.key.split(".")[0];
        const box = sections.get(section) ?? sections.set(section, h("div", { class: "grp", role: "group", "aria-label": section }, h("h3", {}, section), item.fixed && h("p", { class: "fx" }, icon("lock", "s14"), item.reading ? `${ABOVE} ${FIXED}` : section === "auth" ? SERVER : FIXED))).get(section);
        const element = this.row(item);
        box.append(element);
        this.rows.set(item.key, { data: item, element });
      }
      this.list.replaceChildren(...sections.values());
    }
    for (const item of settings) {
      const shown = this.rows.get(item.key);
      if (JSON.stringify(shown.data) === JSON.stringify(item)) continue;
      const element = this.row(item);
      shown.element.replaceWith(element);
      Object.assign(shown, { data: item, element });
    }
    this.count.textContent = `All ${plural(settings.length, "setting")}`;
    this.filter();
  }

  row(item) {
    const name = item.key.slice(item.key.indexOf(".") + 1);
    const id = `gw-set-${item.key.replace(".", "-")}`;
    const undo = item.visit && h("button", { type: "button", class: "gw-linkish", "data-focus": `undo ${item.key}`, "aria-label": `${item.key}: back to ${item.kept}`, onclick: () => this.page.change({ [item.key]: null }) }, `back to ${item.kept}`);
    return h(
      "div",
      { class: `set${item.visit ? " is-own" : ""}`, "data-key": item.key },
      h("div", { class: "nm" }, h("label", { for: id }, name), h("p", {}, item.said)),
      h("div", { class: "vl" }, this.control(item, id), undo),
      h("span", { class: "or", title: item.where }, item.origin),
    );
  }

  control(item, id) {
    if (item.fixed || item.kind === "table") return h("output", { class: "ro", id }, item.kind === "flag" ? (item.value ? "on" : "off") : item.value || "—");
    if (item.kind === "choice" || item.kind === "flag") {
      const choices = item.kind === "flag" ? ["on", "off"] : item.choices;
      const now = item.kind === "flag" ? (item.value ? "on" : "off") : item.value;
      const select = h("select", { class: "gw-field", id, "data-focus": `set ${item.key}`, onchange: () => this.page.change({ [item.key]: select.value }) });
      select.append(...choices.map((each) => h("option", { value: each }, each)));
      select.value = now;
      return select;
    }
    return this.page.typed(item.key, item.value, { id, keep: (value) => this.page.change({ [item.key]: value }), allowed: item.allowed }).element;
  }

  filter() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { data, element } of this.rows.values()) {
      const text = `${data.key} ${data.said} ${data.value} ${data.origin}`.toLowerCase().replaceAll("_", " ");
      const hit = words.every((word) => text.includes(word.replaceAll("_", " "))) && (!this.only.checked || data.origin !== "default");
      element.hidden = !hit;
      found += hit;
    }
    for (const box of this.list.children) box.hidden = ![...box.querySelectorAll(".set")].some((row) => !row.hidden);
    this.said.textContent = words.length || this.only.checked ? `${plural(found, "setting")} found` : plural(this.rows.size, "setting");
  }
}
