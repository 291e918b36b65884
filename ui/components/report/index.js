// A report: its outline at the left, the section that is open in the middle, what that cites above the page. It asks the
// server by itself, often while something is being written; what is done goes straight to its route.

import { configure } from "../shared/api.js";
import { closeCitation, lookAtCitation, openCitation } from "../shared/bus.js";
import { h } from "../shared/dom.js";
import { WorkPage } from "../shared/work_page.js";
import { Cards } from "../thread/card.js";
import { Evidence } from "./evidence.js";
import { takeUp } from "./forms.js";
import { head } from "./head.js";
import { Outline } from "./outline.js";
import { PassageButton } from "./passage.js";
import { drawLive, drawSection } from "./section.js";
import { drawSetup } from "./setup.js";

const BUSY_MS = 350;
const IDLE_MS = 5000;

export function mount({ parentElement, data, tell }) {
  configure(data);
  const report = (parentElement.gwReport ??= new Report(parentElement.querySelector(".gw-report")));
  report.leave = (gone = false) => tell("left", { report: data.report, gone });
  report.show(data.report);
  return () => report.close();
}

class Report extends WorkPage {
  constructor(root) {
    super(root, "reports", [
      ["focus", () => this.poll()],
      ["gw:evidence", () => this.evidence.draw()],
    ]);
    this.bar = h("div", { class: "rh", role: "group", "aria-label": "Report" });
    this.nav = h("nav", { class: "out gw-scroll", "aria-label": "Sections" });
    this.column = h("div", { class: "col" });
    this.flow = h("div", { class: "ed gw-scroll", tabindex: "0", role: "group", "aria-label": "Section" }, this.trouble, this.column);
    root.append(this.bar, h("div", { class: "two" }, this.nav, this.flow), this.said);
    this.outline = new Outline(this.nav, this);
    this.evidence = new Evidence(this);
    this.passage = new PassageButton(this);
    this.cards = new Cards(this.flow, (turn, n) => this.find(turn, n));
    this.flow.addEventListener("click", (event) => this.clicked(event));
  }

  close() {
    super.close();
    this.cards.close();
    this.passage.close();
    this.evidence.close();
  }

  show(id) {
    if (this.id === id) return;
    this.id = id;
    this.data = null;
    this.poll();
  }

  // What there is

  poll() {
    const pause = () => (!this.lost && (this.data.live || this.data.sections.some((one) => one.state === "waiting")) ? BUSY_MS : IDLE_MS);
    return this.news(this.data ? { since: this.data.revision } : {}, (found) => (found.same ? this.follow(found.live) : this.take(found)), pause);
  }

  take(data) {
    const first = !this.data;
    const at = this.data?.sections.findIndex((one) => one.id === this.current) ?? 0;
    this.data = data;
    if (first) {
      this.setup = data.fresh;
      const kept = sessionStorage.getItem(`gw.section.${this.id}`);
      const filled = data.sections.filter((one) => one.filled);
      this.current = (data.sections.find((one) => one.id === kept) ?? filled[0] ?? data.sections[0]).id;
    }
    if (!this.section) this.current = data.sections[Math.min(Math.max(at, 0), data.sections.length - 1)].id; // the one that took its place
    if (this.setup && this.unasked && !data.fresh) this.setup = false; // it is being filled without having been asked
    head(this.bar, this);
    this.outline.draw();
    if (this.setup) this.ask();
    else if (!this.editing) this.draw();
  }

  // Whom it is about, from which documents and of which period; drawn once, since it is being filled in.
  ask() {
    if (this.asking) return;
    this.asking = true;
    this.unasked = this.data.fresh;
    this.editing = null;
    this.column.replaceChildren(h("p", { class: "muted", role: "status" }, "Looking through your documents…"));
    drawSetup(this.column, this);
    this.evidence.draw();
  }

  askAgain() {
    if (this.editing && !this.editing()) return;
    this.setup = true;
    this.asking = false;
    this.outline.draw();
    this.ask();
  }

  begin() {
    this.setup = this.asking = false;
    this.complain(null);
    head(this.bar, this);
    this.outline.draw();
    this.draw();
    this.flow.focus();
  }

  // Text of the section that is being written.
  follow(live) {
    this.data.live = live;
    if (!this.setup && live && live.section === this.current && !this.editing) drawLive(this.column, this.section, this);
  }

  get section() {
    return this.data.sections.find((one) => one.id === this.current);
  }

  open(id) {
    if (this.editing && !this.editing()) return;
    this.setup = this.asking = false;
    head(this.bar, this);
    this.current = id;
    sessionStorage.setItem(`gw.section.${this.id}`, id);
    this.cited = this.beside = null;
    this.outline.draw();
    this.draw();
    this.flow.scrollTo({ top: 0, behavior: "instant" });
  }

  draw() {
    const act = this.column.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    const { held } = this.evidence;
    this.editing = null;
    this.cards.hide();
    this.column.classList.remove("is-live");
    this.column.replaceChildren(...drawSection(this.section, this));
    if (act) (this.column.querySelector(`[data-act="${act}"]`) ?? this.flow).focus();
    if (this.data.live?.section === this.current) drawLive(this.column, this.section, this);
    this.lookBeside();
    this.mark();
    this.evidence.draw(held);
    takeUp(this.section, this);
  }

  // What is done

  act(path, body) {
    this.say(""); // what was said of the version before
    this.complain(null);
    return super.act(path, body);
  }

  on(section, what, more = {}) {
    return this.act(`/sections/${section.id}/done`, { what, ...more });
  }

  say(words) {
    this.said.textContent = words;
  }

  // Citations

  find(turn, n) {
    const live = this.data.live;
    const found = live && turn === live.turn ? { citations: live.citations, claims: [] } : this.section;
    return { turn: found, citation: found.citations.find((one) => one.n === n) };
  }

  clicked(event) {
    const chip = event.target.closest("a.gw-cite");
    if (!chip) return;
    event.preventDefault();
    this.cards.hide();
    this.openChip(chip.dataset.turn, Number(chip.dataset.n), chip, event.shiftKey);
  }

  openChip(turn, n, chip = null, focus = false) {
    const found = this.find(turn, n);
    if (!found.citation) return;
    const claim = chip?.closest(".gw-claim")?.dataset.claim;
    const peers = claim === undefined ? [] : [...this.column.querySelectorAll(`.gw-claim[data-claim="${claim}"] a.gw-cite`)].map((a) => Number(a.dataset.n));
    openCitation({ turn, n, citations: found.turn.citations, peers, focus });
  }

  // Beside a section, or a version of it, of which nothing has been opened stands the page of its first citation, of a
  // gap that of the nearest passage; of one that cites again what was open, the page of that.
  lookBeside() {
    const { id, turn, citations } = this.section;
    if (this.beside?.id === id && this.beside.turn === turn) return;
    if (this.cited && this.cited.turn === this.data.live?.turn) return;
    const fresh = this.beside?.id !== id;
    const place = ({ doc, boxes }) => JSON.stringify([doc, boxes]);
    const open = this.cited?.citation && place(this.cited.citation);
    const first = citations.find((one) => place(one) === open) ?? citations[0];
    const near = this.section.gaps.flatMap((gap) => gap.nearest)[0];
    this.beside = { id, turn };
    this.cited = null;
    if (first) lookAtCitation({ turn, n: first.n, citations, fresh });
    else if (near) lookAtCitation({ turn: "", n: near.n, citations: [near], fresh });
    else closeCitation();
  }

  // A place that is no citation of the text: the nearest passage of a gap, one of two values, a pin.
  look(citation) {
    openCitation({ turn: "", n: citation.n, citations: [citation], peers: [], focus: false });
  }

  opened({ turn, n }) {
    this.cited = turn && this.data ? { turn, n, citation: this.find(turn, n).citation } : null;
    this.mark();
  }

  mark() {
    const all = [this.column, this.evidence.root].filter(Boolean);
    for (const root of all) {
      for (const old of root.querySelectorAll("[aria-current], .gw-claim.is-active")) {
        old.removeAttribute("aria-current");
        old.classList.remove("is-active");
      }
    }
    if (!this.cited) return;
    for (const root of all) for (const chip of root.querySelectorAll(`[data-turn="${this.cited.turn}"][data-n="${this.cited.n}"]`)) chip.setAttribute("aria-current", "true");
    for (const chip of this.column.querySelectorAll("a.gw-cite[aria-current]")) {
      const claim = chip.closest(".gw-claim");
      if (claim) for (const part of this.column.querySelectorAll(`.gw-claim[data-claim="${claim.dataset.claim}"]`)) part.classList.add("is-active");
    }
  }
}
