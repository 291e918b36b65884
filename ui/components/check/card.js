// What is known of the open sentence, and what can be done about it: write the document's words, or one's own, note
// something, or leave it.

import { h, icon, prose } from "../shared/dom.js";
import { unsaved } from "../shared/kept.js";
import { oneLine, quoted, where } from "../shared/quoted.js";
import { hasChanged, markChips, sinceMark } from "../shared/since.js";
import { cutter } from "./draft.js";

const MANY = 3; // corrections that are told
const LONG = 42; // characters of what a button writes
const TONES = { confirmed: ["ok", "Confirmed"], contradicted: ["bad", "Contradicted"], partly: ["weak", "Partly covered"], elsewhere: ["weak", "Found elsewhere"], not_found: ["off", "Not found"] };
const OWN = ["own", "The draft’s own figures"];

const short = (text, most = LONG) => (text.length > most ? `${text.slice(0, most).trimEnd()}…` : text);
const act = (words, onclick, more = "") => h("button", { type: "button", class: `gw-btn sm ${more}`, onclick }, words);
const words = (cls, text) => h("b", { class: text.length > LONG ? cls : `${cls} whole` }, text);
const key = (name, more = "") => h("kbd", { class: more, "aria-hidden": "true" }, name);

export class Card {
  // `check` has the sentences, and does what is pressed.
  constructor(check) {
    this.check = check;
    this.element = h("div", { class: "ccard", role: "group" });
  }

  // Of sentence `n`, and of the draft's own `faults` in it, whose other figures are lit in the draft; `cited` is the
  // number of its citation that is open.
  show(n, sentence, faults, cited) {
    Object.assign(this, { n, sentence, faults, form: null });
    const { status, decision } = sentence;
    const [tone, name] = (faults.length && status === "confirmed" ? null : TONES[status]) ?? OWN;
    this.element.className = `ccard ${tone}`;
    this.element.setAttribute("aria-label", name);
    this.evidence = h("div");
    this.actions = h("div", { class: "act" });
    this.element.replaceChildren(
      ...(decision.revised ? [h("p", { class: "was" }, "The draft said: ", h("s", {}, this.check.original(n)))] : []),
      ...faults.map(({ reason }) => h("p", { class: "say" }, prose(reason))),
      ...(TONES[status] ? this.said(sentence) : faults.length ? [] : [h("p", { class: "say" }, status ? "There is no claim to check." : "Not checked yet.")]),
      ...this.opinion(sentence),
      this.evidence,
      ...(decision.note ? [h("p", { class: "note" }, icon("notes", "s16"), h("span", { class: "gw-unseen" }, "Note: "), decision.note)] : []),
      this.actions,
    );
    this.cite(cited);
    this.offer();
    if (unsaved.get(this.unsavedAt("Your words")) !== null) this.edit();
    else if (unsaved.get(this.unsavedAt("Note")) !== null) this.note();
  }

  said({ status, reason, citations, corrections, missing, text }) {
    const title = citations[0]?.title ?? "";
    const says = title && title.length <= LONG ? title : "The document";
    const known = corrections.filter((one) => one.said && one.found).slice(0, MANY);
    if (known.length && status !== "confirmed") return known.map((one) => h("p", { class: "say" }, "The draft says ", words("d", one.said), `. ${says} says `, words("lit-t", oneLine(one.found)), "."));
    const cut = cutter(text);
    const lacks = status === "partly" && missing.map(([start, end]) => quoted(oneLine(cut(start, end)))).join(", ");
    if (status === "confirmed") return [h("p", { class: "say" }, icon("check_circle", "s16"), " ", h("b", {}, "Confirmed"), ` by ${citations.length > 1 ? `${citations.length} passages` : says.startsWith("The ") ? "the document" : says}.`)];
    return [h("p", { class: "say" }, prose(reason || "The documents don’t say this.")), ...(lacks ? [h("p", { class: "lacks" }, "Not covered: ", lacks)] : [])];
  }

  // What a model takes it for, and why, unless that is said already; and what it was by rules.
  opinion({ status, reason, corrections, opinion }) {
    if (!opinion) return [];
    const named = (one) => (TONES[one]?.[1] ?? "No claim").toLowerCase();
    const why = opinion.reason === reason && !corrections.length ? "" : `: ${opinion.reason.replace(/\.$/, "")}`;
    const taken = opinion.status === status ? " has read it" : ` takes it for ${named(opinion.status)}`;
    const rules = opinion.before === status ? "" : ` By rules: ${named(opinion.before)}.`;
    return [h("p", { class: "lacks" }, icon("forum", "s14"), " ", prose(`${opinion.model}${taken}${why}.${rules}`))];
  }

  // The quotation of the citation that is open, and the way to the others.
  cite(n) {
    const { citations = [], corrections, status } = this.sentence;
    const open = citations.find((one) => one.n === n) ?? citations[0];
    if (!open) return this.evidence.replaceChildren();
    const chip = (one) => h("a", { class: "gw-cite", href: `#cite-${one.n}`, "data-n": String(one.n), "aria-current": one === open && "true", "aria-label": `Citation ${one.n}, page ${one.label}`, onclick: (event) => (event.preventDefault(), this.check.openCitation(one.n, event.shiftKey)) }, String(one.n));
    const rest = citations.filter((one) => one !== open);
    const others = [...rest.filter((one) => one.doc === open.doc), ...rest.filter((one) => one.doc !== open.doc)];
    const named = (one, n) => (one.doc === (others[n - 1] ?? open).doc ? "" : `${short(one.title, 24)} `);
    const section = open.section.at(-1) !== open.title && open.section.at(-1);
    const since = hasChanged(open) && h("p", {}, sinceMark({ type: "button", onclick: () => this.check.openCitation(open.n, false) }, "button"));
    this.evidence.replaceChildren(
      ...(status === "not_found" ? [h("p", { class: "near" }, "The nearest passage:")] : []),
      h("blockquote", {}, open.cell && h("span", { class: "cell" }, `${open.cell}: `), marked(quoted(oneLine(open.quote)), corrections.map((one) => oneLine(one.found))), " ", chip(open)),
      h("p", { class: "at" }, h("span", { class: "where" }, [open.title, section].filter(Boolean).join(" › ")), h("span", { class: "num" }, where(open)), others.length > 0 && h("span", { class: "also" }, "also ", others.map((one, n) => h("span", { class: "num" }, `${named(one, n)}p. ${one.label} `, chip(one))))),
      since || "",
    );
    markChips(this.evidence, citations);
  }

  get revised() {
    const { text, corrections = [], decision } = this.sentence;
    const [from] = this.check.data.spans[this.n];
    const own = this.faults.map(({ span: [start, end], write }) => ({ start: start - from, end: decision.revised ? Infinity : end - from, write }));
    const apart = (one, at, all) => one.write && !all.slice(0, at).some(({ start, end, write }) => write && start < one.end && one.start < end);
    const written = [...corrections, ...own].filter(apart).sort((a, b) => a.start - b.start);
    const cut = cutter(text || this.check.original(this.n));
    let at = 0;
    const parts = written.flatMap(({ start, end, write }) => {
      const before = [cut(at, start), write];
      at = end;
      return before;
    });
    return { said: written.map((one) => one.write).join(", "), text: written.length ? parts.join("") + cut(at, Infinity) : "" };
  }

  offer() {
    const { status, decision } = this.sentence;
    const { said, text } = this.revised;
    const problem = this.faults.length > 0 || (status !== "confirmed" && TONES[status]);
    this.write = text && problem && decision.kind !== "left" ? () => this.decide({ kind: "replaced", revised: text }) : null;
    this.leave = problem && !decision.revised && decision.kind !== "left" ? () => this.decide({ kind: "left" }) : null;
    const undo = decision.kind && act([icon("undo", "s16"), { left: "Undo", replaced: "Undo the edit", noted: "Remove the note" }[decision.kind]], () => this.undo(), "quiet");
    this.actions.replaceChildren(
      ...[
        this.write && act([icon("edit", "s16"), `Write ${short(said)}`], this.write, "primary"),
        act("Edit", () => this.edit()),
        act(decision.note ? "Change the note" : "Add a note", () => this.note()),
        this.leave && act("Leave as it is", this.leave, "quiet"),
        undo,
        h("span", { class: "sp" }),
        this.write && key("↵"),
        key("A"),
        this.leave && key("Esc", "leave"),
      ].filter(Boolean),
    );
  }

  unsavedAt(label) {
    return `check ${this.check.id} ${this.n} ${label}`;
  }

  // A decision beside what was decided before.
  decide(change) {
    const { kind, revised, note } = this.sentence.decision;
    return this.check.decide(this.n, { kind, revised, note, ...change });
  }

  undo() {
    const { kind, note } = this.sentence.decision;
    if (kind !== "noted") return this.decide({ kind: note ? "noted" : "", revised: "" });
    return this.decide({ kind: "", note: "" });
  }

  edit() {
    this.open("Your words", this.sentence.text || this.check.original(this.n), "Write it", (text) => (text.trim() ? this.decide({ kind: "replaced", revised: text.trim() }) : null));
  }

  note() {
    const { kind, note } = this.sentence.decision;
    this.open("Note", note, "Keep the note", (text) => this.decide({ kind: ["replaced", "left"].includes(kind) ? kind : text.trim() ? "noted" : "", note: text.trim() }));
  }

  // A field below what is known; what is typed into it stays until it is kept or cancelled.
  open(label, value, words, keep) {
    const id = this.unsavedAt(label);
    const field = h("textarea", { class: "gw-field", rows: "3", "aria-label": label });
    field.value = unsaved.get(id) ?? value;
    const close = () => {
      unsaved.delete(id);
      this.form = null;
      this.offer();
      this.check.focus();
    };
    const { n } = this;
    const send = async () => {
      unsaved.delete(id);
      if (await keep(field.value)) return;
      unsaved.set(id, field.value);
      if (this.n === n && !this.form) this.open(label, value, words, keep);
    };
    field.addEventListener("input", () => unsaved.set(id, field.value));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
      if (event.key === "Escape") {
        event.stopPropagation();
        close();
      }
    });
    this.form = id;
    this.write = this.leave = null;
    this.actions.replaceChildren(h("div", { class: "form" }, field, h("div", { class: "act" }, act(words, send, "primary"), act("Cancel", close, "quiet"), h("span", { class: "sp" }), h("kbd", { "aria-hidden": "true" }, "Ctrl ↵"))));
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  busy(words) {
    this.form = this.write = this.leave = null;
    this.actions.replaceChildren(h("span", { class: "muted" }, h("span", { class: "gw-spin" }), words));
  }
}

// A quotation with the words in it that differ from the draft's.
function marked(quote, found) {
  const words = found.filter((one) => one && quote.includes(one)).sort((a, b) => quote.indexOf(a) - quote.indexOf(b));
  let at = 0;
  const out = [];
  for (const one of words) {
    const here = quote.indexOf(one, at);
    if (here < 0) continue;
    out.push(quote.slice(at, here), h("mark", {}, one));
    at = here + one.length;
  }
  return [...out, quote.slice(at)];
}
