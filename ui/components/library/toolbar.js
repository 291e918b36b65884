// Above the table: search and filters; while documents are selected, what can be done to them, in the same place.

import { h, icon, plural } from "../shared/dom.js";
import { FolderPanel, TagFilter, TagPanel } from "./marks.js";
import { folders, tags } from "./words.js";

export class Toolbar {
  constructor(library) {
    this.library = library;
    const { show } = library;
    this.search = h("input", { class: "gw-field", type: "search", placeholder: "Title, file, folder or tag", "aria-label": "Search documents", oninput: () => this.set({ search: this.search.value }) });
    this.search.value = show.search;
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.search.value) return;
      event.preventDefault();
      this.search.value = "";
      this.set({ search: "" });
    });
    this.folder = h("select", { class: "gw-field", "aria-label": "Folder", onchange: () => this.set({ folder: this.folder.value }) });
    this.tags = new TagFilter({
      chosen: () => library.show.tags,
      set: (chosen) => this.set({ tags: chosen }),
      rename: (tag, name) => library.change("tag", { tag, name }),
      drop: (tag) => library.change("tag", { tag }),
    });
    this.pressed = h("div", { class: "pressed" });
    this.tree = h("button", { type: "button", class: "gw-btn sm", title: "Documents that are alike, in groups", onclick: () => this.outline() }, icon("format_list_bulleted", "s16"), "Outline");
    this.filters = h("div", { class: "bar" }, h("label", { class: "find" }, icon("search", "s16"), this.search), this.folder, this.tags.element, this.pressed, h("span", { class: "sp" }), this.tree);
    this.said = h("b", { class: "num" });
    const ids = () => [...library.chosen];
    const act = (label, sign, onclick, kind = "") => h("button", { type: "button", class: `gw-btn sm ${kind}`, onclick }, icon(sign, "s16"), h("span", {}, label));
    this.tagPanel = new TagPanel({ ids, all: () => library.documents(), change: (add, remove) => library.change("tags", { docs: ids(), add, remove }) });
    this.folderPanel = new FolderPanel({ ids, all: () => library.documents(), change: (folder) => library.change("folder", { docs: ids(), folder }) });
    this.again = act("Resume reading", "replay", () => library.change("read", { docs: ids() }));
    this.bulk = h(
      "div",
      { class: "bar bulk", role: "group", "aria-label": "Selected documents", hidden: true },
      this.said,
      act("Ask about them", "forum", () => library.askOf(ids()), "primary"),
      this.tagPanel.element,
      this.folderPanel.element,
      this.again,
      act("Remove", "delete", () => library.remove(ids())),
      h("span", { class: "sp" }),
      h("button", { type: "button", class: "gw-linkish", onclick: () => library.chooseAll(false) }, "Clear selection"),
    );
    this.element = h("div", { class: "gw-shelfbar", hidden: true }, this.filters, this.bulk);
  }

  set(change) {
    Object.assign(this.library.show, change);
    this.library.changed();
  }

  // The tree in place of the table, or the table again; what is selected there is let go.
  outline() {
    this.library.chooseAll(false);
    this.set({ outline: !this.library.show.outline });
  }

  reset() {
    this.search.value = "";
    this.set({ search: "", tags: [], folder: "" });
    this.search.focus();
  }

  only(tag) {
    const { tags: on } = this.library.show;
    this.set({ tags: on.includes(tag) ? on.filter((one) => one !== tag) : [...on, tag] });
  }

  draw(documents, shown, chosen) {
    const some = chosen.size > 0;
    const held = this.filters.contains(document.activeElement) && some;
    this.filters.hidden = some;
    this.bulk.hidden = !some;
    if (held) this.bulk.querySelector("button").focus();
    const one = chosen.size === 1;
    const ask = this.bulk.querySelector(".primary span:last-child");
    if (some) {
      this.said.textContent = `${plural(chosen.size, "document")} selected`;
      ask.textContent = one ? "Ask about it" : "Ask about them";
      const of = documents.filter((item) => chosen.has(item.id));
      this.again.hidden = !of.some((item) => !item.job && (item.stale || item.status !== "ready" || !item.indexed || item.error));
      this.bulk.querySelector(".primary").disabled = !of.some((item) => item.built_pages);
    }
    this.drawFolders(documents);
    this.tree.setAttribute("aria-pressed", String(this.library.show.outline));
    this.tags.draw(tags(documents));
    const { tags: on } = this.library.show;
    const key = JSON.stringify([on, shown.length === documents.length, shown.length]);
    if (this.pressed.dataset.key === key) return;
    this.pressed.dataset.key = key;
    this.pressed.replaceChildren(
      ...on.map((tag) => h("button", { type: "button", class: "gw-tagged on", "aria-label": `Stop filtering by ${tag}`, onclick: () => this.only(tag) }, tag, icon("close", "s14"))),
      ...(shown.length < documents.length ? [h("span", { class: "muted num", role: "status" }, `${shown.length} of ${documents.length}`)] : []),
    );
  }

  drawFolders(documents) {
    const found = folders(documents);
    const loose = documents.filter((item) => !item.folder).length;
    const { show } = this.library;
    if (show.folder && show.folder !== "/" && !found.some(([path]) => path === show.folder)) show.folder = "";
    this.folder.hidden = !found.length;
    const key = JSON.stringify([found, loose, show.folder]);
    if (this.folder.dataset.key === key) return;
    this.folder.dataset.key = key;
    const option = (value, words) => h("option", { value }, words);
    this.folder.replaceChildren(option("", "All folders"), ...found.map(([path, count]) => option(path, `${"\u00a0\u00a0".repeat(path.split("/").length - 1)}${path.split("/").at(-1)} (${count})`)), ...(loose ? [option("/", `No folder (${loose})`)] : []));
    this.folder.value = show.folder;
  }
}
