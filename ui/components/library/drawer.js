// One document: what it is, what can be done with it, its contents and tables, and behind *Advanced* what was read.

import { answered, getDocument, save } from "../shared/api.js";
import { button, h, icon, plural } from "../shared/dom.js";
import { editName } from "../shared/rename.js";
import { AdvancedView } from "./advanced.js";
import { ContentsView } from "./contents.js";
import { FolderPanel, TagPanel } from "./marks.js";
import { TablesView } from "./tables.js";
import { Tabs } from "./tabs.js";
import { VersionsView } from "./versions.js";

// What the pages were made of.
const KINDS = { xlsx: "Excel", csv: "CSV", md: "Markdown", html: "HTML", txt: "Text", docx: "Word", doc: "Word", rtf: "RTF", odt: "OpenDocument text", pptx: "PowerPoint", ppt: "PowerPoint", odp: "OpenDocument slides", xls: "Excel", ods: "OpenDocument sheets", eml: "E-mail", msg: "Outlook e-mail", epub: "EPUB", png: "Picture", jpeg: "Picture", tiff: "Picture", webp: "Picture" };
const TABS = [
  ["Contents", "contents", ContentsView],
  ["Tables", "tables", TablesView],
  ["Advanced", "advanced", AdvancedView],
  ["Changes", "changes", VersionsView],
];
const CHANGES = 3;

export class Drawer {
  constructor(actions) {
    this.actions = actions;
    this.id = null;
    this.title = h("h2");
    this.pen = button("Rename", "edit", () => this.rename());
    this.said = h("span");
    this.original = h("button", { type: "button", class: "gw-linkish", onclick: () => this.saveOriginal() }, icon("download", "s14"), "Original");
    this.facts = h("p", { class: "facts num" }, this.said, this.original);
    this.marks = h("p", { class: "marks-of" });
    const ids = () => [this.id];
    this.ask = h("button", { type: "button", class: "gw-btn primary sm", onclick: () => this.actions.ask(this.id) }, "Ask about it");
    this.tagPanel = new TagPanel({ ids, all: actions.all, change: (add, remove) => actions.change([this.id], "tags", { add, remove }) });
    this.folderPanel = new FolderPanel({ ids, all: actions.all, change: (folder) => actions.change([this.id], "folder", { folder }) });
    this.again = h("button", { type: "button", class: "gw-btn sm", hidden: true, onclick: () => actions.change([this.id], "read", {}) }, icon("replay", "s16"), "Update");
    this.notes = h("p", { class: "facts", hidden: true });
    this.read = h("button", { type: "button", class: "gw-btn sm", onclick: () => this.actions.read(this.id) }, icon("article", "s16"), "Read");
    this.tabs = new Tabs("Document", "gw-tabpanel", TABS, (at) => this.views[at]);
    this.element = h(
      "aside",
      { class: "gw-doc", hidden: true, "aria-label": "Document" },
      h(
        "div",
        { class: "top" },
        h("div", { class: "tt" }, this.title, this.pen, button("Close", "close", () => this.close())),
        this.facts,
        this.notes,
        this.marks,
        h("div", { class: "acts" }, this.ask, this.read, this.tagPanel.element, this.folderPanel.element, this.again, button("Remove this document", "delete", () => this.actions.remove(this.id))),
      ),
      this.tabs.parts,
    );
  }

  async open(item) {
    const other = this.id !== item.id;
    this.id = item.id;
    this.element.hidden = false;
    document.documentElement.dataset.gwSide = "open";
    this.refresh(item);
    if (!other) return;
    this.views = [];
    this.tabs.turn(0);
    const read = await answered(() => getDocument(item.id, item.built_pages));
    if (this.id !== item.id) return;
    if (read.refused) return this.tabs.panel.replaceChildren(h("p", { class: "none", role: "alert" }, `${read.refused.message} ${read.refused.hint ?? ""}`));
    const wide = () => this.element.classList.toggle("wide");
    const open = (number) => this.actions.read(item.id, number);
    this.views = TABS.map(([, , View]) => new View(read, item, { wide, open, page: open, ask: this.actions.section, read: this.actions.read }));
    this.tabs.again(); // the one that was chosen meanwhile
  }

  // What is known of the document by now; a panel that is open stays as it is.
  refresh(item) {
    this.item = item;
    if (!this.title.querySelector("input")) this.title.textContent = item.title;
    this.said.textContent = [item.earlier && `Version ${item.earlier + 1} of ${item.earlier + 1}`, KINDS[item.kind], plural(item.pages, "page"), plural(item.tables, "table"), item.ocr ? `${plural(item.ocr, "page")} read by OCR, mean confidence ${item.confidence}%` : ""].filter(Boolean).join(" · ");
    const notes = item.gone ? ["No longer in the folder that is watched.", ...item.notes] : item.notes;
    this.notes.textContent = notes.join(" ");
    this.notes.hidden = !notes.length;
    this.marks.replaceChildren(...(item.folder ? [h("span", { class: "fo" }, icon("folder_open", "s14"), item.folder)] : []), ...item.tags.map((tag) => h("span", { class: "gw-tagged" }, tag)));
    this.marks.hidden = !item.folder && !item.tags.length;
    this.ask.disabled = !item.built_pages;
    this.again.hidden = !item.stale || Boolean(item.job);
    this.tabs.count(1, item.tables);
    this.tabs.tabs[CHANGES].hidden = !item.earlier;
  }

  saveOriginal() {
    save(`/documents/${this.id}/original`, this.item.name).catch((error) => this.actions.complain(error));
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

  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.element.classList.remove("wide");
    this.id = null;
    delete document.documentElement.dataset.gwSide;
    this.actions.closed();
  }
}
