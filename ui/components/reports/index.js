// The list of reports, and what a new one begins from: a template of Groundwork's own, a file, or a pasted outline.

import { answered, configure, get, inLibrary, post } from "../shared/api.js";
import { h, icon, showTrouble, troubleBox } from "../shared/dom.js";
import { base64 } from "../shared/files.js";

const BLANK = JSON.stringify({ title: "Untitled report", sections: [{ heading: "First section" }] });

const when = (seconds) => new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

export function mount({ parentElement, data, tell }) {
  configure(data);
  const list = (parentElement.gwReports ??= new Reports(parentElement.querySelector(".gw-reports")));
  list.open = (id) => tell("opened", id);
  list.load();
}

class Reports {
  constructor(root) {
    this.root = root;
    this.trouble = troubleBox();
    this.body = h("div", { class: "body" });
    root.append(h("h1", {}, "Reports"), this.trouble, this.body);
  }

  async load() {
    const found = await answered(() => get("/reports"));
    if (found.refused) return this.complain(found.refused);
    this.draw(found);
    this.making = false;
    this.trouble.hidden = true;
  }

  complain(error) {
    showTrouble(this.trouble, error);
    this.trouble.scrollIntoView({ block: "nearest" });
  }

  draw({ reports, own, documents }) {
    const file = h("input", { type: "file", id: "gw-template", class: "gw-unseen", accept: ".json,.md,.markdown,.txt,.docx", onchange: () => this.upload(file) });
    const text = h("textarea", { class: "gw-field", rows: "5", "aria-label": "Outline or JSON", placeholder: "## Revenue {value: USD million}\nTotal revenue of the latest fiscal year." });
    const paste = h("button", { type: "button", class: "gw-btn", onclick: () => this.create({ text: text.value }) }, icon("add", "s16"), "Begin from this text");
    this.body.replaceChildren(
      reports.length ? h("ul", { class: "list", "aria-label": "Reports" }, reports.map((one) => this.row(one))) : h("p", { class: "none" }, "A report is filled section by section from your documents; every sentence opens its source, and gaps are named."),
      h("h2", {}, "New report"),
      h("div", { class: "cards" }, own.map((one) => this.card(one)), this.blank()),
      h(
        "div",
        { class: "other" },
        h("div", { class: "up" }, h("label", { class: "gw-btn", for: "gw-template" }, icon("upload_file", "s16"), "Upload a template"), file, h("span", { class: "muted" }, "JSON, a Markdown outline, or Word with headings and instructions")),
        h("details", {}, h("summary", {}, icon("chevron_right", "s16"), "Paste an outline"), text, paste),
        !documents && h("p", { class: "muted" }, "No document is ready to fill a report from. ", h("a", { href: "library" }, "See the Library"), "."),
      ),
    );
  }

  row(one) {
    const done = [`${one.filled} of ${one.sections} filled`, one.not_stated && `${one.not_stated} not stated`, one.accepted && `${one.accepted} accepted`, one.waiting && "being filled"].filter(Boolean).join(", ");
    const open = (event) => {
      event.preventDefault();
      this.open(one.id);
    };
    return h("li", {}, h("a", { href: inLibrary({ r: one.id }), onclick: open }, icon("article"), h("span", { class: "t" }, h("b", { title: one.title }, one.title), h("small", {}, [one.origin !== one.title && one.origin, one.from, when(one.updated), one.own ? one.shared && "shared" : "shared with you"].filter(Boolean).join(" · "))), h("span", { class: "num muted" }, done)));
  }

  card(one) {
    const shown = one.sections.slice(0, 5).join(", ");
    return h("button", { type: "button", class: "card", "data-template": one.name, onclick: () => this.create({ own: one.name }) }, h("b", {}, one.title), h("span", {}, one.sections.length > 5 ? `${shown} and ${one.sections.length - 5} more` : shown));
  }

  blank() {
    return h("button", { type: "button", class: "card", "data-template": "", onclick: () => this.create({ text: BLANK, name: "", blank: true }) }, h("b", {}, "Blank"), h("span", {}, "Headings and guidance of your own, kept as a template with “Export”"));
  }

  async upload(file) {
    const [given] = file.files;
    if (!given) return;
    await this.create({ file: await base64(given), name: given.name });
    file.value = "";
  }

  async create(template) {
    if (this.making) return; // a double click begins one report
    this.making = true;
    const made = await answered(() => post("/reports/new", template));
    if (!made.refused) return this.open(made.id); // and none is begun until the list is drawn again
    this.complain(made.refused);
    this.making = false;
  }
}
