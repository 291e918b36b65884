// The form of a new run: which questions, under which settings, asked of which documents.

import { h, icon, plural } from "../shared/dom.js";
import { base64 } from "../shared/files.js";

const OWN = "own";

export class NewRun {
  // `add(name, data)` stores a file's questions and gives their set; `run(body)` starts a run.
  constructor({ add, run }) {
    this.add = add;
    this.run = run;
    this.file = h("input", { type: "file", id: "gw-questions", class: "gw-unseen", accept: ".csv,.tsv,.xlsx,.json,.jsonl", onchange: () => this.upload() });
    this.sets = h("select", { class: "gw-field", "aria-label": "Questions", onchange: () => (this.set = this.sets.value) });
    this.configurations = h("select", { class: "gw-field", "aria-label": "Settings", onchange: () => this.chosen() });
    this.own = h("input", { class: "gw-field", "aria-label": "Changed settings", placeholder: "retrieve.alpha=0.6, rerank.weight=0", hidden: true });
    this.within = h("input", { type: "checkbox" });
    this.search = h("input", { type: "checkbox" });
    this.begin = h("button", { type: "submit", class: "gw-btn primary" }, "Run");
    this.element = h(
      "form",
      { class: "new", hidden: true, "aria-label": "New run", onsubmit: (event) => (event.preventDefault(), this.submit()), onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), this.close()) },
      h("div", { class: "ln" }, h("span", {}, "Questions"), this.sets, h("label", { class: "gw-btn sm", for: "gw-questions" }, icon("upload_file", "s16"), "Upload"), this.file),
      h("p", { class: "muted" }, "CSV or XLSX with the columns question, answer, document, page and answerable; or the files of FinanceBench, MMLongBench-Doc, KITE, MuSiQue, HotpotQA, SciFact and RAGChecker."),
      h("div", { class: "ln" }, h("span", {}, "Settings"), this.configurations, this.own),
      h("label", { class: "ln ck" }, this.within, "Ask each question of its own documents only"),
      h("label", { class: "ln ck" }, this.search, "Search only: no answers are written"),
      h("div", { class: "ln" }, this.begin, h("button", { type: "button", class: "gw-btn quiet", onclick: () => this.close() }, "Cancel")),
    );
  }

  offer({ sets, configurations }, set) {
    this.set ??= set ?? sets[0]?.set_id;
    const key = JSON.stringify([sets, this.set]);
    if (key !== this.drawn) {
      this.drawn = key;
      this.sets.replaceChildren(...sets.map((one) => h("option", { value: one.set_id, selected: one.set_id === this.set }, `${one.name} · ${plural(one.cases, "question")}`)));
      this.sets.hidden = !sets.length;
      this.begin.disabled = !sets.length;
    }
    if (this.configurations.options.length) return;
    this.configurations.replaceChildren(...configurations.map(({ value, title }) => h("option", { value }, title)), h("option", { value: OWN }, "Other settings…"));
  }

  open(set) {
    if (set) this.sets.value = this.set = set;
    this.within.checked ||= Boolean(set); // as its questions were asked
    this.element.hidden = false;
    this.element.querySelector("select:not([hidden]), label").focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.element.hidden = true;
  }

  chosen() {
    this.own.hidden = this.configurations.value !== OWN;
    if (!this.own.hidden) this.own.focus();
  }

  async upload() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    const added = await this.add(file.name, await base64(file));
    if (!added) return;
    this.set = this.drawn = null;
    this.set = added.set;
    this.sets.value = added.set;
  }

  submit() {
    const configuration = this.configurations.value === OWN ? this.own.value.trim() : this.configurations.value;
    this.run({ set: this.set, configuration, within: this.within.checked, search: this.search.checked });
  }
}
