// The page viewer: what is shown, and how its parts hang together.

import { answered, configure, forgetDocument, getDocument, removedError } from "../shared/api.js";
import { listening, takeWaiting } from "../shared/bus.js";
import { composer, h, prose } from "../shared/dom.js";
import { showPane } from "../shared/layout.js";
import { oneLine, where } from "../shared/quoted.js";
import { NARROW } from "../shared/side.js";
import { Ahead } from "./ahead.js";
import { Contents } from "./contents.js";
import { Find } from "./find.js";
import { pressed } from "./keyboard.js";
import { Pages } from "./pages.js";
import { comeBack, keepPlace, spotOf, takePlace } from "./place.js";
import { configureTiles } from "./pictures.js";
import { Rail } from "./rail.js";
import { Selecting } from "./selection.js";
import { Side } from "./side.js";
import { Since } from "./since.js";
import { splitter } from "./splitter.js";
import { Toolbar } from "./toolbar.js";
import { keepTurn } from "./turns.js";

const reach = (citations, id) => Math.max(0, ...citations.filter(({ doc }) => doc === id).flatMap(({ page, boxes }) => [page, ...boxes.map(([on]) => on)]));
const short = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

export function mount({ parentElement, data, tell }) {
  configure(data);
  configureTiles(data.tiles);
  const pane = (parentElement.gwPane ??= new Pane(parentElement.querySelector(".gw-pane")));
  pane.tell = tell;
  pane.contents.asks = data.asks;
  pane.offer(data.documents, data.scope);
  return () => pane.close();
}

class Pane {
  constructor(root) {
    this.root = root;
    this.cited = null; // { turn, n, citations, peers }
    this.looked = null; // { turn, n, citations, fresh }: an answer of which nothing has been opened yet
    this.browsed = false; // the person has gone somewhere by hand
    this.scope = null; // ids of the documents in scope, null for all
    this.document = null;
    this.offered = [];
    this.place = takePlace(); // where one was before a reload, until something is opened
    this.alone = Boolean(root.closest(".st-key-gw_read")); // the page is all that is shown
    this.build();
    this.unlisten = listening([
      ["gw:open", (event) => (takeWaiting(), this.open(event.detail))],
      ["gw:look", (event) => (takeWaiting(), this.look(event.detail))],
      ["gw:read", (event) => (showPane(true), this.choose(event.detail.doc, event.detail.page))],
      ["gw:more", (event) => this.more(event.detail)],
      ["gw:clear", () => ((this.browsed = false), this.clear())],
      ["gw:removed", (event) => this.removed(event.detail)],
      ["keydown", (event) => (this.alone && this.findKey(event), pressed(this, event))],
      ["pagehide", () => this.leave()],
    ]);
    const early = takeWaiting();
    if (early?.name === "gw:open") this.open(early.detail);
    else if (early) this.look(early.detail);
  }

  build() {
    this.bar = new Toolbar(this);
    this.path = h("p", { class: "path", hidden: true });
    this.side = new Side(this.root, (name) => name === "contents" && this.contents.open(this.pages.page));
    this.desk = h("div", { class: "desk", tabindex: "0", role: "group", "aria-label": "Pages of the document", onwheel: () => (this.browsed = true) });
    this.peek = h("button", { type: "button", class: "gw-peek", hidden: true, onclick: () => this.drawer(true) });
    this.scrim = h("div", { class: "gw-scrim", onclick: () => this.drawer(false) });
    this.since = new Since(this.root, (place) => this.showVersion(place));
    this.root.append(this.bar.element, this.path, this.since.element, this.side.element, this.desk, splitter());
    this.root.after(this.peek, this.scrim);
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "Page");
    this.root.addEventListener("keydown", (event) => this.findKey(event));
    this.pages = new Pages(this.desk, {
      moved: (page) => this.moved(page),
      zoomed: () => this.bar.zoomed(this.pages),
      pick: (n) => this.open({ ...(this.cited ?? this.looked), n, peers: [] }),
      scrolled: () => this.scrolled(),
      keep: (page) => this.selecting.keeps(page),
      drawn: (page) => this.find.draw(page),
      filled: () => this.filled(),
    });
    this.ahead = new Ahead(this.pages);
    this.rail = new Rail(this.side.thumbs, (page) => this.go(page), () => this.pages.waiting);
    this.contents = new Contents(this.side.contents, (page, boxes) => this.toHeading(page, boxes), (section) => this.limit(section));
    this.find = new Find(this.pages, this.rail);
    this.selecting = new Selecting(this.root, this.pages, (text) => this.asking(text));
    this.root.append(this.find.element);
    this.side.restore(this.alone ? "contents" : "thumbs");
  }

  close() {
    this.unlisten();
    this.pages.close();
    this.ahead.close();
    this.rail.close();
    this.selecting.close();
    delete document.documentElement.dataset.gwDrawer;
  }

  // Documents that may be looked at; the first in scope is shown until there is a citation to show.
  offer(documents, scope) {
    this.offered = documents;
    this.scope = scope;
    this.fillChooser();
    this.root.classList.toggle("is-empty", !documents.length && !this.document && !this.cited && !this.looked);
    if (!this.cited && !this.looked) this.stay();
    // What is shown has grown.
    if (this.document && this.wanted === this.document.id) this.load(this.wanted).catch((error) => this.failed(error));
  }

  // Keeps the document where it may be shown, and takes the first in scope otherwise.
  stay() {
    const inside = this.offered.filter((item) => !this.scope || this.scope.includes(item.id));
    const [first] = inside.length ? inside : this.offered;
    const kept = (this.browsed ? this.offered : inside).some((item) => item.id === this.document?.id);
    if (first && !kept) this.load(first.id).catch((error) => this.failed(error));
  }

  choose(id, page = 0) {
    this.browsed = true;
    this.load(id).then(() => page && this.document?.id === id && this.go(page), (error) => this.failed(error));
  }

  go(page, top = 0) {
    this.browsed = true;
    this.pages.go(page, top);
    this.scrolled();
  }

  fillChooser() {
    const listed = [...this.offered];
    if (this.document && !listed.some((item) => item.id === this.document.id)) listed.unshift(this.document);
    this.bar.offer(listed, this.document);
  }

  // With `least` pages: a document that is being read grows, and stays where it is.
  async load(id, least = this.offered.find((item) => item.id === id)?.pages ?? 0) {
    this.wanted = id;
    if (this.document?.id === id && this.document.pages.length >= least) return;
    const loaded = await getDocument(id, least);
    if (this.wanted !== id || this.document === loaded) return; // another was asked for meanwhile, or there are no more
    const spot = this.document?.id === id && this.desk.clientHeight ? spotOf(this.pages) : null;
    this.document = loaded;
    this.root.classList.remove("is-empty", "is-failed");
    this.pages.show(loaded);
    if (spot) comeBack(this.pages, spot);
    this.rail.show(loaded);
    this.contents.show(loaded);
    this.find.show(loaded);
    if (this.side.chosen === "contents") this.contents.open(this.pages.page);
    this.fillChooser();
    this.light();
  }

  // Nothing of another document stays beside what is said. Of one that was removed, the quote is still known.
  failed(error, citation = null) {
    this.document = this.wanted = null;
    this.root.classList.remove("is-empty");
    this.root.classList.add("is-failed");
    this.rail.clear();
    this.contents.show(null);
    this.find.show(null);
    this.fillChooser();
    if (error.code !== "removed" || !citation) this.pages.fail(h("p", {}, prose(`${error.message} ${error.hint}`)));
    else this.pages.fail(h("p", {}, h("em", {}, citation.title), " was removed from the library."), citation.quote && h("blockquote", {}, `“${oneLine(citation.quote)}”`), citation.quote && h("p", { class: "muted" }, `Quoted from ${where(citation)}`));
  }

  // A picture was asked for of a document that is not there any more.
  removed(id) {
    forgetDocument(id);
    if (this.document?.id !== id) return;
    const answer = this.cited ?? this.looked;
    this.failed(removedError(), answer?.citations.find((item) => item.n === answer.n && item.doc === id));
  }

  async open(detail) {
    const citation = detail.citations.find((item) => item.n === detail.n);
    if (!citation) return;
    if (!this.place) showPane(true); // after a reload it is as it was
    this.cited = detail;
    this.looked = this.version = null;
    const { refused } = await answered(() => this.load(citation.doc, reach(detail.citations, citation.doc)));
    if (this.cited?.n !== detail.n || this.cited.turn !== detail.turn) return; // another was opened meanwhile
    if (refused) this.failed(refused, citation);
    this.light();
    this.pages.goTo(citation);
    const back = await this.return();
    if (matchMedia(NARROW).matches) this.drawer(back?.drawer ?? true);
    if (detail.focus) this.desk.focus();
    dispatchEvent(new CustomEvent("gw:opened", { detail: { turn: detail.turn, n: detail.n } }));
  }

  // The page of an answer's first citation, lit as part of a claim: nothing has been opened yet.
  async look(detail) {
    const citation = detail.citations.find((item) => item.n === detail.n);
    if (detail.fresh) this.browsed = false;
    this.clear(detail);
    if (this.browsed) return;
    const { refused } = await answered(() => this.load(citation.doc, reach(detail.citations, citation.doc)));
    if (this.looked !== detail || this.browsed) return;
    if (refused) this.failed(refused, citation);
    this.light();
    this.pages.goTo(citation);
    await this.return();
  }

  // After a reload: to where one was, once, which is told; null otherwise.
  async return() {
    const { place } = this;
    this.place = null;
    // Before the answer was there another document may have stood beside it, which nobody chose.
    if (place && this.document && !place.browsed && place.document !== this.document.id) return null;
    if (!place || !this.document || !this.offered.some((item) => item.id === place.document)) return null;
    this.browsed = place.browsed;
    const { refused } = await answered(() => this.load(place.document));
    if (refused) return this.failed(refused), null;
    if (place.spot && this.desk.clientHeight && this.document?.id === place.document) comeBack(this.pages, place.spot);
    return place;
  }

  leave() {
    keepPlace(this.pages, { browsed: this.browsed, drawer: "gwDrawer" in document.documentElement.dataset });
  }

  // The answer whose citation is open has grown.
  more({ turn, citations }) {
    if (this.cited?.turn !== turn) return;
    this.cited = { ...this.cited, citations };
    this.light();
  }

  clear(looked = null) {
    this.cited = this.version = null;
    this.looked = looked;
    if (!looked) this.stay();
    this.light();
    this.drawer(false);
    dispatchEvent(new CustomEvent("gw:opened", { detail: { turn: "", n: 0 } }));
  }

  // A place of another version than the cited one, or the cited one again.
  async showVersion(place) {
    const cited = this.cited;
    this.version = place.changed ? null : place;
    const { refused } = await answered(() => this.load(place.doc));
    if (refused) return this.failed(refused, place);
    if (this.cited !== cited || this.document?.id !== place.doc) return;
    this.light();
    this.pages.goTo(place);
  }

  light() {
    const cited = this.cited;
    const citation = cited?.citations.find((item) => item.n === cited.n);
    const answer = cited ?? this.looked;
    const lit = this.version ?? citation;
    const here = this.version ? [this.version] : (answer?.citations.filter((item) => item.doc === this.document?.id) ?? []);
    this.pages.light(lit?.doc === this.document?.id ? lit : null, here, cited ? (cited.peers ?? []) : [answer?.n]);
    this.since.draw(citation);
    this.rail.mark(here, cited?.n);
    this.ahead.want(answer?.citations ?? []);
    const known = cited?.turn ? cited.citations : [];
    this.bar.cited(known.findIndex((item) => item.n === cited?.n) + 1, known.length, citation?.place);
    this.path.hidden = this.peek.hidden = !citation?.quote;
    if (citation?.quote) {
      const words = citation.cell || citation.section.at(-1) || citation.title;
      this.path.replaceChildren(words.replace(" · ", " › "), citation.cell ? ": " : "", citation.cell ? h("b", {}, short(citation.quote)) : "", citation.place ? ` · ${citation.place}` : "");
      const tag = citation.n ? [h("b", { class: "gw-tag on" }, String(citation.n))] : [];
      this.peek.replaceChildren(...tag, h("span", { class: "w" }, h("b", {}, where(citation)), ` · ${words}`), h("span", { class: "go" }, "Page"));
      this.peek.setAttribute("aria-label", citation.n ? `Open page ${citation.label}, citation ${citation.n}` : `Open page ${citation.label}`);
    }
  }

  step(by) {
    const answer = this.cited ?? this.looked;
    const known = answer?.citations ?? [];
    if (!answer?.turn || !known.length) return;
    const at = known.findIndex((item) => item.n === answer.n);
    const next = this.cited ? known[(at + by + known.length) % known.length] : known[at];
    this.open({ ...answer, n: next.n, peers: [], focus: false });
  }

  drawer(open) {
    if (open) document.documentElement.dataset.gwDrawer = "open";
    else delete document.documentElement.dataset.gwDrawer;
    if (open) this.pages.settle();
  }

  // Pages of the whole file, of which some may not be read yet.
  total() {
    const { id, pages } = this.document;
    return Math.max(pages.length, this.offered.find((item) => item.id === id)?.of ?? 0);
  }

  moved(page) {
    this.bar.at(page);
    this.bar.zoomed(this.pages);
    this.rail.at(page);
    dispatchEvent(new CustomEvent("gw:paged", { detail: { doc: this.document.id, page } }));
  }

  // The pages in sight have their pictures: now what goes with them, and what may be opened next.
  filled() {
    this.rail.fill();
    this.ahead.next();
  }

  // The heading that is read is marked.
  scrolled() {
    if (this.side.chosen === "contents" && this.document) this.contents.at(...this.pages.reading());
    if (!this.selecting.bar.hidden) this.selecting.later();
  }

  toLabelBox() {
    showPane(true);
    this.bar.label.focus();
  }

  zoom(by) {
    this.bar.zoom(by);
  }

  rotate() {
    if (!this.document) return;
    const turn = (this.pages.turn + 1) % 4;
    keepTurn(this.document.id, turn);
    getSelection().removeAllRanges();
    this.pages.setTurn(turn);
    this.rail.redraw();
  }

  // A question about words of a page has been begun: it is asked of their document alone.
  asking(text) {
    this.tell("about", { document: this.document.id, text });
    this.drawer(false);
  }

  // To a heading, whose words are lit.
  toHeading(page, boxes) {
    this.pages.lightHeading(boxes);
    this.go(page, boxes[0]?.[2]);
    if (matchMedia(NARROW).matches) this.side.choose("thumbs"); // which lies over the pages there
  }

  // The next questions are asked of one section.
  limit(section) {
    this.tell("section", section);
    if (matchMedia(NARROW).matches) this.side.choose("thumbs");
    this.drawer(false);
    composer()?.focus();
  }

  findKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key !== "f" || !this.document || event.defaultPrevented) return;
    event.preventDefault();
    const { text } = this.selecting.chosen() ?? { text: "" };
    this.find.open(text.length < 200 ? text.replace(/\s+/g, " ") : "");
  }
}
