// One document: what it is, what can be done with it, and what its pages were taken apart into.

import { getDocument } from "../shared/api.js";
import { button, h, icon, plural } from "../shared/dom.js";
import { editName } from "../shared/rename.js";
import { ChunksView, NoiseView } from "./lists.js";
import { FolderPanel, TagPanel } from "./marks.js";
import { PageView } from "./page_view.js";
import { TablesView } from "./tables.js";
import { duration } from "./words.js";

const TABS = [
  ["Elements", "elements", PageView],
  ["Tables", "tables", TablesView],
  ["Noise", "noise", NoiseView],
  ["Chunks", "chunks", ChunksView],
];

// "4 noise (2 page headers, 1 logo, 1 repeated)"
const named = (reason, count) => `${count.toLocaleString("en")} ${reason.replaceAll("_", " ")}${count > 1 && /(header|footer|logo|watermark)$/.test(reason) ? "s" : ""}`;
function noiseOf(item) {
  const reasons = Object.entries(item.noise_by_reason ?? {}).map(([reason, count]) => named(reason, count));
  return `${item.noise} noise${reasons.length ? ` (${reasons.join(", ")})` : ""}`;
}

export class Drawer {
  constructor(actions) {
    this.actions = actions;
    this.id = null;
    this.title = h("h2");
    this.pen = button("Rename", "edit", () => this.rename());
    this.facts = h("p", { class: "facts num" });
    this.marks = h("p", { class: "marks-of" });
    const ids = () => [this.id];
    this.ask = h("button", { type: "button", class: "gw-btn primary sm", onclick: () => this.actions.ask(this.id) }, "Ask about it");
    this.tagPanel = new TagPanel({ ids, all: actions.all, change: (add, remove) => actions.change([this.id], "tags", { add, remove }) });
    this.folderPanel = new FolderPanel({ ids, all: actions.all, change: (folder) => actions.change([this.id], "folder", { folder }) });
    this.again = h("button", { type: "button", class: "gw-btn sm", hidden: true, onclick: () => actions.change([this.id], "read", {}) }, icon("replay", "s16"), "Bring up to date");
    this.tabs = TABS.map(([name, of], i) =>
      h("button", { type: "button", role: "tab", id: `gw-tab-${of}`, "aria-controls": "gw-tabpanel", "aria-selected": "false", tabindex: "-1", onclick: () => this.turn(i) }, name, h("span", { class: "num" })),
    );
    this.panel = h("div", { class: "tabpanel", id: "gw-tabpanel", role: "tabpanel" });
    this.element = h(
      "aside",
      { class: "gw-doc", hidden: true, "aria-label": "Document" },
      h(
        "div",
        { class: "top" },
        h("div", { class: "tt" }, this.title, this.pen, button("Close", "close", () => this.close())),
        this.facts,
        this.marks,
        h("div", { class: "acts" }, this.ask, this.tagPanel.element, this.folderPanel.element, this.again, button("Remove this document", "delete", () => this.actions.remove(this.id))),
      ),
      h("div", { class: "tabs", role: "tablist", "aria-label": "What it was taken apart into", onkeydown: (event) => this.key(event) }, this.tabs),
      this.panel,
    );
  }

  async open(item) {
    const other = this.id !== item.id;
    this.id = item.id;
    this.element.hidden = false;
    document.documentElement.dataset.gwSide = "open";
    this.refresh(item);
    if (!other) return;
    let read;
    try {
      read = await getDocument(item.id);
    } catch (error) {
      if (this.id === item.id) this.panel.replaceChildren(h("p", { class: "none", role: "alert" }, `${error.message} ${error.hint ?? ""}`));
      return;
    }
    if (this.id !== item.id) return;
    const wide = () => this.element.classList.toggle("wide");
    const page = (number) => {
      this.turn(0, true);
      this.views[0].go(number);
    };
    this.views = TABS.map(([, , View]) => new View(read, item, { wide, page }));
    this.turn(0);
  }

  // What is known of the document by now; a panel that is open stays as it is.
  refresh(item) {
    this.item = item;
    if (!this.title.querySelector("input")) this.title.textContent = item.title;
    this.facts.textContent = [plural(item.pages, "page"), plural(item.elements, "element"), plural(item.tables, "table"), noiseOf(item), plural(item.chunks, "chunk"), item.ocr ? `${plural(item.ocr, "page")} read by OCR, mean confidence ${item.confidence}%` : "", `read in ${duration(Math.max(1, Math.round(item.seconds)))}`].filter(Boolean).join(" · ");
    this.marks.replaceChildren(...(item.folder ? [h("span", { class: "fo" }, icon("folder_open", "s14"), item.folder)] : []), ...item.tags.map((tag) => h("span", { class: "gw-tagged" }, tag)));
    this.marks.hidden = !item.folder && !item.tags.length;
    this.ask.disabled = !(item.status === "ready" && item.indexed);
    this.again.hidden = !item.stale || Boolean(item.job);
    const counts = [item.elements, item.tables, item.noise, item.chunks];
    this.tabs.forEach((tab, i) => (tab.lastChild.textContent = counts[i].toLocaleString("en")));
  }

  // Without a name it gets back the one that was read.
  rename() {
    const { id, title } = this.item;
    const ended = (back) => {
      this.title.textContent = this.item.title;
      if (back) this.pen.focus();
    };
    editName(this.title, title, (name) => this.actions.rename(id, name), ended);
  }

  turn(chosen, focus = false) {
    this.tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
    });
    this.panel.setAttribute("aria-labelledby", this.tabs[chosen].id);
    this.panel.dataset.of = TABS[chosen][1];
    this.panel.replaceChildren(this.views[chosen].element);
    this.views[chosen].show?.();
    if (focus) this.tabs[chosen].focus();
  }

  key(event) {
    const at = this.tabs.findIndex((tab) => tab.tabIndex === 0);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.turn((to + TABS.length) % TABS.length, true);
  }

  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.element.classList.remove("wide");
    this.id = null;
    delete document.documentElement.dataset.gwSide;
    this.actions.closed();
  }
}
