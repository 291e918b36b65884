// What an empty conversation begins with: the newest documents at first sight, five quoted lines each, and questions
// that they answer, each tried before it is offered.

import { answered, get, post } from "../shared/api.js";
import { composer, h, icon, plural, prose, typing } from "../shared/dom.js";
import { singleKeys } from "../shared/keys.js";
import { oneLine, quoted } from "../shared/quoted.js";
import { errorCard } from "./turn.js";

const CARDS = 2; // documents that have a card; the others stand by name
const AGAIN = 900; // ms between two looks at documents that are being read
const LATELY = 6000; // ms for which it holds that nothing has been read yet
const NEXT = 600; // ms between two looks at questions that are being tried
const FEWEST = 1; // line of a card that is shown however low the window is
const WIDE = 700; // CSS pixels from which on cards stand side by side, and so do questions (start.css)
const QUESTIONS = 140; // CSS pixels that the questions take up when all are there
export const START = "start"; // names the citations of the cards, as a turn's id names those of its answer

export class Start {
  // `ask(question)` begins a conversation, `read(id)` opens a document; `grown()` is told when more is shown, `known()`
  // when it is known anew what can be asked.
  constructor({ ask, read, grown, known }) {
    Object.assign(this, { ask, read, grown, known });
    this.head = h("h1", {});
    this.lead = h("p", { class: "lead" });
    this.cards = h("div", { class: "cards" });
    this.rest = h("p", { class: "rest", hidden: true });
    this.questions = h("section", { class: "gw-sug", "aria-label": "Suggested questions", hidden: true });
    this.element = h("div", { class: "gw-start" }, this.head, this.lead, this.cards, this.rest, this.questions);
    this.views = new Map(); // id of a document → its overview, or the error that took its place
    this.first = []; // ids of those that were chosen to have a card
    this.offered = [];
    this.keys = (event) => this.key(event);
    this.watch = new ResizeObserver(() => this.fit());
  }

  // The documents of `scope` would be asked; `stamp` changes when the library has.
  show(scope, stamp) {
    if (!this.shown) {
      addEventListener("keydown", this.keys);
      this.flow = this.element.closest(".gw-flow");
      this.watch.observe(this.flow);
    }
    this.shown = true;
    const of = JSON.stringify([scope, stamp]);
    if (of === this.of) return;
    this.of = of;
    this.scope = scope;
    this.looked = performance.now();
    this.look();
  }

  hide() {
    this.shown = false;
    this.of = undefined;
    clearTimeout(this.later);
    clearTimeout(this.soon);
    removeEventListener("keydown", this.keys);
    this.watch.disconnect();
  }

  // Whether none of the documents that would be asked has been read, as far as was looked up lately: not even known yet,
  // at first.
  get unread() {
    if (!this.shown || performance.now() - this.looked > LATELY) return false;
    return !this.documents || (this.documents.length > 0 && this.documents.every(({ ready }) => !ready));
  }

  // Whether nothing of them can be asked, either.
  get unreadable() {
    return this.unread && !this.documents?.some(({ askable }) => askable);
  }

  // As a turn: what the citations on the cards are.
  get data() {
    const citations = this.ids.flatMap((id) => this.cited(id));
    return { id: START, citations, claims: [] };
  }

  get ids() {
    return this.documents?.filter(({ id, ready }) => ready && this.onCard.has(id)).map(({ id }) => id).reverse() ?? [];
  }

  cited(id) {
    const view = this.views.get(id);
    return view?.lines ? (view.lines.length && !view.outlined ? view.lines : view.chapters) : [];
  }

  async look() {
    clearTimeout(this.later);
    const of = this.of;
    const found = await answered(() => post("/start", { scope: this.scope }));
    if (of !== this.of) return;
    if (found.refused) return this.cards.replaceChildren(errorCard(found.refused, () => this.look()));
    this.looked = performance.now();
    Object.assign(this, found);
    this.draw();
    this.known();
    if (this.documents.some(({ ready }) => !ready)) this.later = setTimeout(() => this.look(), AGAIN);
    // In the order in which they came; of whole documents, so none for a section.
    const tried = this.scope.sections.length ? [] : this.documents.filter((one) => one.ready).map(({ id }) => id).reverse();
    if (String(tried) !== this.asked) {
      this.asked = String(tried);
      this.offered = [];
      this.try(tried);
    }
  }

  draw() {
    const chosen = this.first.filter((id) => this.documents.some((one) => one.id === id));
    const ready = this.documents.filter((one) => one.ready);
    // A card with quotes stays while others are read; then the newest have theirs.
    const stood = ready.length < this.documents.length ? ready.filter(({ id }) => this.onCard?.has(id)) : [];
    const ids = [...new Set([...chosen, ...[...stood, ...ready, ...this.documents].map(({ id }) => id)])].slice(0, CARDS);
    this.onCard = new Set(ids);
    const on = this.documents.filter(({ id }) => this.onCard.has(id)).reverse(); // as they stand in the scope
    this.head.textContent = heading(this.documents);
    this.lead.replaceChildren(...lead(this.documents, this.failed));
    this.cards.classList.toggle("one", on.length === 1);
    let n = 0;
    const cards = on.map((one) => {
      const citations = one.ready ? this.cited(one.id) : [];
      for (const item of citations) item.n = ++n;
      return this.card(one);
    });
    this.cards.replaceChildren(...cards);
    const others = this.documents.filter(({ id }) => !this.onCard.has(id));
    this.rest.hidden = !others.length;
    const name = (one) => h("button", { type: "button", class: "gw-linkish", title: one.title, onclick: () => this.bring(one.id) }, one.title);
    this.rest.replaceChildren(h("span", {}, "Also here:"), ...others.slice(0, 12).map(name), ...(others.length > 12 ? [h("span", {}, `and ${others.length - 12} more`)] : []));
    for (const one of on) if (one.ready && !this.views.has(one.id)) this.fetch(one.id);
    this.fit();
    this.grown();
  }

  // In a low window a card shows as many lines as leave the questions in sight; the others are a click away.
  fit() {
    if (!this.shown) return;
    const cards = [...this.cards.children];
    for (const hidden of this.cards.querySelectorAll("li[hidden]")) hidden.hidden = false;
    for (const more of this.cards.querySelectorAll(".more")) more.hidden = true;
    const questions = this.questions.hidden ? 0 : Math.max(0, QUESTIONS - this.questions.offsetHeight);
    const over = this.element.getBoundingClientRect().bottom - this.flow.getBoundingClientRect().top + this.flow.scrollTop + questions - this.flow.clientHeight;
    if (over <= 0 || this.element.clientWidth <= WIDE) return;
    const room = this.cards.offsetHeight - over;
    for (const card of cards) {
      const lines = [...card.querySelectorAll("li")];
      if (card.offsetHeight <= room || lines.length <= FEWEST || this.views.get(card.dataset.doc)?.whole) continue;
      const more = card.querySelector(".more");
      more.hidden = false;
      let shown = lines.length;
      while (shown > FEWEST && card.offsetHeight > room) lines[--shown].hidden = true;
      more.textContent = `${lines.length - shown} more`;
    }
  }

  whole(id) {
    const card = this.cards.querySelector(`[data-doc="${id}"]`);
    const first = card.querySelector("li[hidden] .gw-cite");
    this.views.get(id).whole = true;
    this.fit();
    first?.focus();
  }

  // One that stood by name takes the first card.
  bring(id) {
    this.first = [id, ...this.first.filter((other) => other !== id)].slice(0, CARDS - 1);
    this.draw();
    this.cards.querySelector(`[data-doc="${id}"] .gw-linkish`)?.focus();
  }

  async fetch(id) {
    this.views.set(id, {});
    this.views.set(id, await answered(() => get(`/documents/${id}/overview`)));
    if (this.shown && this.documents.some((one) => one.id === id)) this.draw();
  }

  card(one) {
    const view = this.views.get(one.id) ?? {};
    const facts = [one.pages ? plural(one.pages, "page") : "", one.ready ? plural(one.tables, "table") : ""].filter(Boolean).join(" · ");
    const turns = view.lines?.length > 0 && view.chapters.length > 0;
    const turn = turns && h("button", { type: "button", class: "gw-linkish", "aria-pressed": String(Boolean(view.outlined)), onclick: () => this.turn(one.id) }, "Outline");
    const header = h("header", {}, icon("description"), h("h2", {}, one.ready ? h("button", { type: "button", title: `Read ${one.title}`, onclick: () => this.read(one.id) }, one.title) : one.title), h("span", { class: "muted num" }, facts), turn);
    return h("section", { class: "gw-ov", "data-doc": one.id, "aria-label": one.title }, header, this.body(one, view));
  }

  turn(id) {
    const view = this.views.get(id);
    view.outlined = !view.outlined;
    this.draw();
    this.cards.querySelector(`[data-doc="${id}"] .gw-linkish`)?.focus();
  }

  body(one, view) {
    if (!one.ready) return working(one);
    if (view.refused) return h("p", { class: "none", role: "alert" }, prose(`${view.refused.message} ${view.refused.hint}`));
    if (!view.lines) return h("p", { class: "none" }, h("span", { class: "gw-spin" }));
    const more = h("button", { type: "button", class: "gw-linkish more", hidden: true, onclick: () => this.whole(one.id) });
    if (view.lines.length && !view.outlined) return [h("ol", {}, view.lines.map(line)), more];
    if (view.chapters.length) return [h("ul", { class: "heads" }, view.chapters.map((item) => h("li", {}, h("span", {}, oneLine(item.quote)), chip(item)))), more];
    return h("p", { class: "none" }, "No sentence to quote. You can ask about its tables.");
  }

  // Questions come while others are tried.
  async try(docs) {
    clearTimeout(this.soon);
    const asked = this.asked;
    if (!docs.length) return this.offer({ questions: [], done: true });
    let found = await answered(() => post("/start/questions", { docs }));
    if (found.refused) found = { questions: [], done: true, trouble: `${found.refused.message} ${found.refused.hint}` };
    if (asked !== this.asked || !this.shown) return;
    this.offer(found);
    if (!found.done) this.soon = setTimeout(() => this.try(docs), NEXT);
  }

  offer({ questions, done, trouble }) {
    this.questions.hidden = !questions.length && done && !trouble;
    const same = JSON.stringify([questions, done, trouble]);
    if (same === this.drawn && questions.length === this.offered.length) return;
    this.drawn = same;
    this.offered = questions;
    const items = questions.map((one, at) => h("li", {}, h("button", { type: "button", "aria-keyshortcuts": String(at + 1), title: `Ask it ( ${at + 1} )`, onclick: () => this.begin(at) }, h("span", { class: "what" }, one.question), h("small", { class: "num" }, ...place(one, this.documents)), icon("chevron_right", "s16"))));
    const wait = !done && h("p", { class: "wait", role: "status" }, h("span", { class: "gw-spin" }), questions.length ? "Trying more" : "Trying questions on your documents");
    const said = trouble && h("p", { class: "gw-hint" }, "No questions could be suggested: ", prose(trouble));
    const focused = [...this.questions.querySelectorAll("button")].indexOf(document.activeElement);
    this.questions.replaceChildren(h("h2", {}, "Try one of these"), h("ul", {}, items), ...[wait, said].filter(Boolean));
    this.questions.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
    this.fit();
    this.grown();
  }

  begin(at) {
    for (const button of this.questions.querySelectorAll("button")) button.disabled = true;
    this.ask(this.offered[at].question);
  }

  // 1 to 4 ask what is offered, while nothing is typed.
  key(event) {
    const at = Number(event.key) - 1;
    if (!(at in this.offered) || !singleKeys() || typing(event) || event.repeat || document.querySelector("dialog[open]")) return;
    if (composer()?.value) return;
    event.preventDefault();
    this.begin(at);
  }
}

function heading(documents) {
  const ready = documents.filter((one) => one.ready).length;
  if (!documents.length) return "Ask your documents";
  if (!ready) return documents.length === 1 ? "Your document is being read" : `${documents.length} documents are being read`;
  if (ready < documents.length) return `${ready} of ${documents.length} documents ${ready === 1 ? "is" : "are"} ready`;
  return ready === 1 ? "Your document is ready" : `${ready} documents are ready`;
}

function lead(documents, failed) {
  const ready = documents.filter((one) => one.ready).length;
  const from = ready > CARDS ? "two of them" : ready > 1 ? "each" : "it";
  const words = ready ? `Quotes from ${from}. Click a number to open the page.` : documents.length ? `Quotes appear here as soon as ${documents.length > 1 ? "each" : "it"} is read.` : "Drop files below, or choose documents in the sidebar.";
  const lost = failed && h("a", { href: "library" }, `${plural(failed, "document")} couldn’t be read.`);
  return lost ? [`${words} `, lost] : [words];
}

function working({ stage, done, total, askable }) {
  const share = stage === "read" && total ? done / total : stage === "queued" || stage === "read" ? 0 : 1;
  const words = { queued: "Queued", build: "Assembling the pages", describe: "Describing figures", embed: "Indexing" }[stage] ?? (total ? `Reading page ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "Opening");
  const open = askable > 0 && h("p", {}, `You can already ask about ${stage === "read" ? `pages 1–${askable.toLocaleString("en")}` : "it"}.`);
  return h("div", { class: "now num" }, h("span", { class: "gw-st run" }, h("span", { class: "gw-spin" }), words), open, h("div", { class: "gw-bar", role: "progressbar", "aria-label": words, "aria-valuenow": Math.round(share * 100), "aria-valuemin": "0", "aria-valuemax": "100" }, h("i", { style: `width:${share * 100}%` })));
}

// A sentence as it is printed, with the words that tell lit, and its number on one line with its last word.
function line(item) {
  const shown = quoted(item.text);
  const by = shown.length - item.text.length === 2 ? 1 : 0;
  const [from, to] = item.lit.map((at) => at + by);
  const end = Math.max(shown.lastIndexOf(" ") + 1, to);
  const last = h("span", { class: "gw-nb" }, shown.slice(end), chip(item));
  const text = h("p", { class: "q" }, shown.slice(0, from), from < to && h("b", {}, shown.slice(from, to)), shown.slice(to, end), last);
  const section = item.section.at(-1);
  return h("li", {}, text, h("p", { class: "at" }, section && h("span", {}, oneLine(section)), h("span", { class: "num" }, `p. ${item.label}`)));
}

const chip = (item) => h("a", { class: "gw-cite", href: `#cite-${START}-${item.n}`, "data-n": item.n, "data-turn": START, "aria-label": `Citation ${item.n}, ${item.title}, page ${item.label}` }, String(item.n));

// Where it is answered: the document by its short title, where there are several.
function place({ title, label, table }, documents) {
  return [documents.length > 1 && h("span", { class: "of" }, title), h("span", {}, `p. ${label}${table ? ", table" : ""}`)].filter(Boolean);
}
