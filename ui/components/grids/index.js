// What a grid begins with: its documents, its name, its first columns; and the grids so far.

import { configure } from "../shared/api.js";
import { h, icon, plural } from "../shared/dom.js";
import { base64 } from "../shared/files.js";
import { Rows } from "../shared/rows.js";
import { JobsPage } from "../shared/jobs_page.js";

const NAMED = 4; // columns of a template that are named

export function mount({ parentElement, data, tell }) {
  configure(data);
  const page = (parentElement.gwGrids ??= new Grids(parentElement.querySelector(".gw-grids")));
  page.open = (id) => tell("opened", id);
  page.rows.offer(data.documents, (id, only) => id !== data.sample || only, data.most);
  page.load();
  return () => page.close();
}

class Grids extends JobsPage {
  loses = "cells and decisions";
  outcome = outcome;

  constructor(root) {
    super(root, { kind: "grids", mark: "g", before: "Grids so far", sample: "Try it: five questions to a report" });
    this.from = ""; // where the columns come from: "" typed later, "file", or a template's name
    this.name = h("input", { id: "gw-grid-name", class: "gw-field", type: "text", maxlength: "200" });
    this.begin = h("button", { type: "submit", class: "gw-btn primary" }, icon("table", "s16"), "Make the grid");
    this.rows = new Rows(() => this.ready());
    this.file = h("input", { type: "file", id: "gw-grid-file", class: "gw-unseen", accept: ".json,.md,.markdown,.docx", onchange: () => this.take(this.file.files[0]) });
    this.ways = h("div", { class: "ways" });
    root.append(
      h("h1", {}, "Ask many documents the same questions"),
      h("p", { class: "lead" }, "Rows are your documents, or their sections, and columns are questions. Groundwork fills each cell and shows the words it rests on; what a document doesn’t say stays “not stated”."),
      this.trouble,
      h("p", { class: "try" }, this.sample, this.trying),
      h(
        "form",
        { "aria-label": "New grid", onsubmit: (event) => (event.preventDefault(), this.start()) },
        h("div", { class: "top" }, h("label", { for: "gw-grid-name" }, "Name"), this.name, this.begin),
        h(
          "div",
          { class: "opt" },
          h("section", { class: "card" }, h("h2", { id: "gw-rows" }, "Rows", h("span", { class: "sp" }), this.rows.all, this.rows.count), h("div", { role: "group", "aria-labelledby": "gw-rows" }, this.rows.element)),
          h("section", { class: "card" }, h("h2", { id: "gw-columns" }, "Columns"), this.ways),
        ),
      ),
      this.list,
    );
    this.drawWays([]);
  }

  ready() {
    const lacks = !this.rows.good ? "Choose documents first" : this.from === "file" && !this.given ? "Choose the file first" : "";
    this.begin.disabled = Boolean(this.starting || lacks);
    this.begin.title = lacks;
    this.name.placeholder = this.suggested();
  }

  // What a grid is called that nobody names.
  suggested() {
    if (this.from === "file" && this.given) return this.given.name.replace(/\.[^.]+$/, "");
    return this.templates?.find(({ name }) => name === this.from)?.title ?? "New grid";
  }

  // The columns

  drawWays(templates) {
    const way = (id, words, below) => {
      const radio = h("input", { type: "radio", name: "gw-from", value: id, checked: this.from === id, onchange: () => this.choose(id) });
      return h("label", { class: "way" }, radio, h("span", {}, h("b", {}, words), h("small", {}, below)));
    };
    const names = (columns) => (columns.length > NAMED ? `${columns.slice(0, NAMED).join(", ")} and ${columns.length - NAMED} more` : columns.join(", "));
    this.ways.replaceChildren(
      h(
        "div",
        { class: "gw-scroll list", role: "radiogroup", "aria-labelledby": "gw-columns" },
        way("", "I’ll type them", "each with its kind and unit"),
        way("file", this.given?.name ?? "From a file", this.given ? "its columns, or the sections of a template" : "columns as JSON, or a report template"),
        ...templates.map(({ name, title, columns }) => way(name, title, names(columns))),
      ),
      h("div", { class: "row", hidden: this.from !== "file" }, h("label", { class: "gw-btn sm", for: "gw-grid-file" }, icon("upload_file", "s16"), this.given ? "Choose another" : "Choose the file"), this.file),
    );
    this.templates = templates;
    this.ready();
  }

  choose(id) {
    this.from = id;
    this.ways.querySelector(".row").hidden = id !== "file";
    this.ready();
  }

  take(file) {
    this.given = file ?? null;
    this.drawWays(this.templates);
  }

  loaded({ templates }) {
    if (JSON.stringify(templates) !== JSON.stringify(this.templates)) this.drawWays(templates);
  }

  columns() {
    if (!this.from) return { columns: [] };
    if (this.from !== "file") return { template: this.from };
    return this.opened(this.given, async (file) => ({ file: await base64(file), filename: file.name }));
  }

  async start() {
    if (this.begin.disabled) return;
    this.starting = true;
    this.ready();
    const columns = await this.columns();
    const made = columns && (await this.act("/new", { name: this.name.value.trim() || this.suggested(), ...this.rows.value, ...columns }));
    this.starting = false;
    this.ready();
    if (made) this.open(made.id);
  }
}

function outcome({ state, done, total, sections, columns, lost, error }) {
  const said = (tone, ...words) => h("span", { class: `gw-st num ${tone}` }, ...words);
  if (state === "waiting") return said("off", "waiting");
  if (state === "stopped") return said("off", `${error ? "failed" : "stopped"} at ${done} of ${total}`);
  if (state === "arriving") return said("off", `${done} of ${total}, waits for documents`);
  if (state !== "done") return said("run", h("span", { class: "gw-spin" }), `${done} of ${total}`);
  const unread = Object.keys(lost).length;
  if (unread) return said("off", `${done} of ${total}, ${plural(unread, "document")} not read`);
  return said("off", `${plural(columns ? total / columns : 0, sections ? "section" : "document")} × ${plural(columns, "question")}`);
}
