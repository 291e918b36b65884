// What a draft is checked against, the draft itself, pasted or as a file, and the checks so far.

import { configure } from "../shared/api.js";
import { Documents } from "../shared/documents.js";
import { button, h, icon, plural } from "../shared/dom.js";
import { base64, holdsFiles } from "../shared/files.js";
import { JobsPage } from "../shared/jobs_page.js";
import { unsaved } from "../shared/kept.js";

const DRAFT = "draft"; // what is typed survives a reload
const KEY = [
  ["c", "cash was $7.4 million", "confirmed"],
  ["x", "matures in June 2028", "the documents say otherwise"],
  ["p", "in dollars, euros and kroner", "partly covered"],
  ["n", "intends to renew", "not in the documents"],
  ["", "we see little risk", "no claim, no mark"],
];

export function mount({ parentElement, data, tell }) {
  configure(data);
  const page = (parentElement.gwChecks ??= new Checks(parentElement.querySelector(".gw-checks")));
  page.open = (id) => tell("opened", id);
  page.documents.offer(data.documents, (id, only) => id !== data.sample || only);
  page.load();
  return () => page.close();
}

class Checks extends JobsPage {
  loses = "marks and notes";
  outcome = outcome;

  constructor(root) {
    super(root, { kind: "checks", mark: "d", before: "Checked before", sample: "Try it: a draft with three errors" });
    this.documents = new Documents(() => {}, "pages", ["No document is ready. ", h("a", { href: "library" }, "Add one in the Library"), ", or try the sample."]);
    this.text = h("textarea", { id: "gw-draft", placeholder: "Paste the text here, or drop a Word, PDF, Markdown, text or Excel file", oninput: () => this.typed() });
    this.text.value = unsaved.get(DRAFT) ?? "";
    this.file = h("input", { type: "file", id: "gw-draft-file", class: "gw-unseen", accept: ".docx,.pdf,.md,.markdown,.txt,.xlsx", onchange: () => this.take(this.file.files[0]) });
    this.taken = h("p", { class: "file", hidden: true });
    this.begin = h("button", { type: "submit", class: "gw-btn primary" }, icon("fact_check", "s16"), "Check");
    this.paste = h(
      "form",
      { class: "paste", "aria-label": "Draft", onsubmit: (event) => (event.preventDefault(), this.start()), onkeydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && (event.preventDefault(), this.start()) },
      h("label", { class: "gw-unseen", for: "gw-draft" }, "Draft"),
      this.text,
      this.taken,
      h("div", { class: "row" }, h("label", { class: "gw-btn", for: "gw-draft-file" }, icon("upload_file", "s16"), "Choose a file"), this.file, h("span", { class: "sp" }), h("span", { class: "muted keys" }, "Ctrl Enter"), this.begin),
    );
    root.append(
      h("h1", {}, "Check a draft against your documents"),
      h("p", { class: "lead" }, "Groundwork reads each claim, looks for it in the documents in scope and shows the words that confirm or contradict it. Nothing in the draft changes unless you say so."),
      this.trouble,
      this.paste,
      h("p", { class: "try" }, this.sample, this.trying),
      h(
        "div",
        { class: "opt" },
        h("section", { class: "card" }, h("h2", { id: "gw-against" }, "Check against", h("span", { class: "sp" }), this.documents.all, this.documents.count), h("div", { role: "group", "aria-labelledby": "gw-against" }, this.documents.list)),
        h("section", { class: "card" }, h("h2", {}, "How it marks"), h("ul", { class: "key" }, KEY.map(([mark, words, means]) => h("li", {}, h("span", { class: `s ${mark}` }, words), h("small", {}, means))))),
      ),
      this.list,
    );
    this.events = { dragover: (event) => this.over(event), dragleave: (event) => event.relatedTarget || this.lit(false), drop: (event) => this.drop(event) };
    for (const [name, act] of Object.entries(this.events)) document.addEventListener(name, act);
    this.typed();
  }

  close() {
    super.close();
    for (const [name, act] of Object.entries(this.events)) document.removeEventListener(name, act);
  }

  // The draft

  typed() {
    unsaved.set(DRAFT, this.text.value);
    this.ready();
  }

  ready() {
    this.begin.disabled = Boolean(this.starting) || !(this.given || this.text.value.trim());
  }

  take(file) {
    this.file.value = "";
    this.given = file ?? null;
    this.text.hidden = Boolean(file);
    this.taken.hidden = !file;
    this.say(null);
    this.ready();
    if (!file) return this.text.focus();
    const size = file.size < 1_000_000 ? `${Math.max(1, Math.round(file.size / 1000))} KB` : `${(file.size / 1_000_000).toFixed(1)} MB`;
    this.taken.replaceChildren(icon("description"), h("b", {}, file.name), h("span", { class: "muted num" }, size), button("Take another", "close", () => this.take(null)));
    this.begin.focus();
  }

  lit(on) {
    this.paste.classList.toggle("over", on);
  }

  over(event) {
    if (!holdsFiles(event)) return;
    event.preventDefault(); // else the browser would open the file in place of the app
    this.lit(true);
  }

  drop(event) {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    this.lit(false);
    const [file] = event.dataTransfer.files;
    if (file) this.take(file);
  }

  async start() {
    if (this.begin.disabled) return;
    this.starting = true;
    this.ready();
    const { docs } = this.documents;
    const draft = this.given ? await this.opened(this.given, async (file) => ({ name: file.name, file: await base64(file) })) : { text: this.text.value };
    const made = draft && (await this.act("/new", { ...draft, docs }));
    this.starting = false;
    this.ready();
    if (!made) return;
    if (!this.given) unsaved.delete(DRAFT);
    this.open(made.id);
  }
}

function outcome({ state, counts, done, total, error }) {
  const said = (tone, words, sign) => h("span", { class: `gw-st num ${tone}` }, sign && icon(sign, "s16"), words);
  if (state === "waiting") return said("off", "waiting");
  if (state === "stopped") return said("off", `${error ? "failed" : "stopped"} at ${done} of ${total}`);
  if (state !== "done") return h("span", { class: "gw-st num run" }, h("span", { class: "gw-spin" }), `${done} of ${total}`);
  for (const [status, tone, words] of [["contradicted", "bad", "contradicted"], ["partly", "weak", "partly"], ["elsewhere", "weak", "found elsewhere"], ["not_found", "off", "not found"]]) if (counts[status]) return said(tone, `${counts[status]} ${words}`);
  return counts.confirmed ? said("ok", `${counts.confirmed} confirmed`, "check_circle") : said("off", plural(total, "sentence"));
}
