// A draft that is checked: its text with a mark at each claim, what the documents say of the open one below it, and the
// page of that beside it. What is open stands in the address.

import { configure, inLibrary } from "../shared/api.js";
import { closeCitation, openCitation } from "../shared/bus.js";
import { h } from "../shared/dom.js";
import { free, keyed, undoes } from "../shared/keys.js";
import { WorkPage } from "../shared/work_page.js";
import { Card } from "./card.js";
import { Draft, fits, stale } from "./draft.js";
import { Head } from "./head.js";

const BUSY_MS = 700;
const PROBLEMS = ["contradicted", "partly", "elsewhere", "not_found"];
const UNCHECKED = { status: null, text: "", decision: { kind: "", revised: "", note: "" } };

export function mount({ parentElement, data, tell }) {
  configure(data);
  const check = (parentElement.gwCheck ??= new Check(parentElement.querySelector(".gw-check")));
  check.documents = data.documents;
  check.leave = (gone = false) => tell("left", { check: data.check, gone });
  check.show(data.check);
  return () => check.close();
}

class Check extends WorkPage {
  constructor(root) {
    super(root, "checks", [
      ["focus", () => this.card.form || this.poll(0)],
      ["keydown", (event) => this.key(event), true], // before the page viewer, which has n and p too
    ]);
    this.head = new Head(this);
    this.card = new Card(this);
    this.memo = h("article", { class: "memo" });
    this.flow = h("div", { class: "dr gw-scroll", tabindex: "0", role: "group", "aria-label": "Draft, marked" }, this.trouble, this.memo);
    root.append(this.head.element, this.flow, this.said);
    this.draft = new Draft(this.memo, (key, event) => this.select(key, { focus: event.shiftKey, chosen: true }));
  }

  show(id) {
    if (this.id === id) return;
    this.head.wait();
    Object.assign(this, { id, data: null, sentences: [], current: null, cited: 0, filter: "", touched: false, refused: null, decided: [] });
    this.card.element.remove();
    closeCitation();
    this.poll(0);
  }

  // What there is

  // The sentences from `since` on; while it is checked, from the first that is not.
  poll(since = this.data?.asked ? 0 : this.unchecked()) {
    const known = this.data ? { from: since, done: since ? this.data.done : -1 } : {};
    return this.news(known, (found) => this.take(found, since), () => Math.max(BUSY_MS, this.data?.asked ? 2 * this.sentences.length : 0));
  }

  unchecked() {
    const first = this.sentences.findIndex((one) => one.status === null);
    return first < 0 ? this.sentences.length : first;
  }

  take(found, since) {
    const { sentences, ...head } = found;
    const fresh = !this.data;
    const own = JSON.stringify(head.faults ?? this.data?.faults);
    const recomputed = this.data && own !== JSON.stringify(this.data.faults);
    const behind = this.data && head.done < this.data.done && since; // it is checked anew in another window
    this.data = { ...this.data, ...head };
    if (fresh) this.lay();
    if (sentences) this.put(sentences, fresh ? 0 : since);
    if (recomputed) this.recompute();
    this.complain(head.error ?? this.refused);
    this.head.draw();
    if (behind) return void this.poll(0);
    if (fresh) this.restore();
    else if (!this.touched && this.current === null) this.first();
  }

  lay() {
    this.sentences = this.data.spans.map(() => UNCHECKED);
    this.draft.show(this.data);
    this.recompute();
  }

  recompute() {
    this.own = Map.groupBy((this.draft.faults = this.data.faults), (fault) => fault.n);
    this.mark();
    if (this.current !== null && !this.card.form) this.redraw();
  }

  mark() {
    this.sentences.forEach((one, n) => this.draft.mark(n, one, this.filter, this.faults(n)));
  }

  // Takes the verdicts from sentence `since` on: of those that are not there none is known.
  put(given, since) {
    const known = new Map(given.map((one) => [one.n, one]));
    for (let n = since; n < this.sentences.length; n += 1) this.set(n, known.get(n) ?? UNCHECKED);
  }

  set(n, sentence) {
    if (JSON.stringify(this.sentences[n]) === JSON.stringify(sentence)) return;
    this.sentences[n] = sentence;
    this.draft.mark(n, sentence, this.filter, this.faults(n));
    if (this.current === String(n)) this.redraw();
  }

  original(n) {
    return this.draft.cut(...this.data.spans[n]);
  }

  // The draft's own faults in sentence `n` as it is now.
  faults(n) {
    return this.own.get(n) ?? [];
  }

  // Whether there is something to say of sentence `n`.
  known(n) {
    const { status, decision, opinion } = this.sentences[n];
    return ["confirmed", ...PROBLEMS].includes(status) || this.faults(n).length > 0 || Boolean(decision.kind || opinion);
  }

  // What the arrows go through: the problems that nobody has decided on, or all of one kind.
  keys() {
    const { filter } = this;
    const chosen = (one, n) => {
      const { status, decision } = one;
      if (filter) return filter !== "no_claim" && fits(filter, one, this.faults(n));
      return (PROBLEMS.includes(status) || this.faults(n).length || stale(one)) && decision.kind !== "left" && !decision.note;
    };
    return this.sentences.flatMap((one, n) => (chosen(one, n) ? [String(n)] : []));
  }

  // What is open

  restore() {
    const asked = new URLSearchParams(location.search).get("s");
    if (asked && this.draft.link(asked)) this.select(asked, { scroll: true });
    else this.first();
  }

  // The first problem opens by itself, so that one sees at once what there is.
  first() {
    const [key] = this.keys();
    if (key !== undefined) this.select(key, { quiet: true });
  }

  // `focus` gives the page the focus, `chosen`: a person did it.
  select(key, { focus = false, chosen = false, scroll = false, quiet = false } = {}) {
    this.touched ||= chosen;
    this.current = key;
    this.cited = 0;
    history.replaceState(history.state, "", `${location.pathname}${this.draft.href(key)}`);
    this.redraw();
    this.head.step();
    if (scroll || chosen) this.reveal();
    const sentence = this.sentences[Number(key)];
    if (sentence && (!this.narrow.matches || focus)) {
      const [first] = sentence.citations ?? [];
      if (first) this.openCitation(first.n, focus);
      else closeCitation();
    }
    if (!quiet) this.said.textContent = this.card.element.querySelector(".say")?.textContent ?? "";
  }

  redraw() {
    const key = this.current;
    const held = this.card.element.contains(document.activeElement);
    const n = Number(key);
    if (!this.known(n)) return this.unselect();
    this.card.show(n, this.sentences[n], this.faults(n), this.cited);
    this.draft.below(key, this.card.element);
    this.draft.current(key);
    if (this.card.form && (held || document.activeElement === document.body)) this.card.element.querySelector("textarea").focus();
    else if (held) this.focus();
  }

  unselect() {
    this.current = null;
    this.card.element.remove();
    this.draft.current("");
    this.head.step();
    history.replaceState(history.state, "", `${location.pathname}${inLibrary({ d: this.id })}`);
  }

  reveal() {
    const link = this.draft.link(this.current);
    if (!link) return;
    link.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" }); // a wide table moves too
    const [view, mark, card] = [this.flow, link, this.card.element].map((one) => one.getBoundingClientRect());
    if (mark.top >= view.top + 8 && card.bottom <= view.bottom - 8) return;
    this.flow.scrollBy({ top: mark.top - view.top - Math.max(24, (view.height - (card.bottom - mark.top)) / 3), behavior: "instant" });
  }

  focus() {
    this.draft.link(this.current)?.focus({ preventScroll: true });
  }

  step(by) {
    const keys = this.keys();
    if (!keys.length) return;
    const here = Number(this.current ?? -1);
    const at = keys.indexOf(this.current);
    const next = at >= 0 ? at + by : by > 0 ? keys.findIndex((key) => key > here) : keys.findLastIndex((key) => key < here);
    this.select(keys.at(next % keys.length), { chosen: true });
    this.focus();
  }

  only(status) {
    this.filter = this.filter === status ? "" : status;
    this.mark();
    this.head.draw();
    const keys = this.keys();
    if (this.filter && keys.length && !keys.includes(this.current)) this.select(keys[0], { chosen: true });
    else if (this.current !== null) this.redraw();
  }

  openCitation(n, focus = false) {
    const { citations } = this.sentences[Number(this.current)];
    openCitation({ turn: `${this.id}-${this.current}`, n, citations, peers: [], focus });
  }

  opened({ turn, n }) {
    if (this.current === null || turn !== `${this.id}-${this.current}` || this.card.form) return;
    this.cited = n;
    this.card.cite(n);
  }

  // What is done

  act(path, body) {
    if (path === "/again") this.touched = false;
    return super.act(path, body);
  }

  // A text that changes is checked at once.
  async decide(n, decision) {
    this.touched = true;
    const before = this.sentences[n].decision;
    this.card.busy(decision.revised === before.revised ? "Keeping it" : "Checking the new words");
    const done = await this.act("/decide", { n, ...decision });
    const found = this.sentences[n];
    if (this.current !== null && !this.card.form) {
      this.redraw();
      this.head.draw();
      this.focus();
      if (found.decision.revised !== before.revised && this.current === String(n) && found.citations?.length && !this.narrow.matches) this.openCitation(found.citations[0].n);
    }
    if (done) {
      this.decided = this.decided.filter((one) => one !== n);
      if (found.decision.kind) this.decided.push(n);
      this.said.textContent = told(before, found);
    }
    return done;
  }

  // Takes back what was decided last.
  undo() {
    this.select(String(this.decided.at(-1)), { chosen: true });
    if (this.current !== null && !this.card.form) this.card.undo();
  }

  key(event) {
    const back = undoes(event) && this.decided?.length > 0;
    if (!(back || free(event)) || !this.data || event.target.closest?.("dialog, .gw-popup") || (event.target.closest?.(".gw-pane") && !/^[np]$/i.test(event.key))) return;
    const { card, current } = this;
    const held = event.target === this.draft.link(current);
    const own = held || event.target === document.body || event.target === this.flow;
    const leave = (held || card.element.contains(event.target)) && card.leave;
    const done = back ? () => this.undo() : {
      n: () => this.step(1),
      p: () => this.step(-1),
      a: current !== null && !card.form && (() => card.note()),
      Enter: own && current !== null && card.write,
      Escape: current !== null && !("gwDrawer" in document.documentElement.dataset) && (leave || (() => this.unselect())),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    keyed(event, done);
  }
}

// What a decision on a sentence came to, in words.
function told(before, { status, decision: { kind, revised, note } }) {
  if (note !== before.note) return note ? "Note kept." : "Note removed.";
  const words = { left: "Left as it is.", replaced: "Words written." }[kind] ?? "Undone.";
  return revised === before.revised ? words : `${words} Checked again: ${status?.replace("_", " ") ?? "not yet"}.`;
}
