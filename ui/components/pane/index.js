// The page viewer: toolbar, citations, keyboard. Pages themselves are in pages.js.

import { configure, getDocument } from "../shared/api.js";
import { takeWaiting } from "../shared/bus.js";
import { button, h, prose, typing } from "../shared/dom.js";
import { Pages } from "./pages.js";
import { Rail } from "./rail.js";

const ZOOMS = [0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4];

const short = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

export function mount({ parentElement, data }) {
  configure(data);
  const pane = (parentElement.gwPane ??= new Pane(parentElement.querySelector(".gw-pane")));
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
    this.build();
    this.pages = new Pages(this.desk, {
      moved: (page) => this.moved(page),
      zoomed: () => this.zoomed(),
      pick: (n) => this.open({ ...(this.cited ?? this.looked), n, peers: [] }),
    });
    this.rail = new Rail(this.railBox, (page) => this.go(page));
    this.listeners = [
      ["gw:open", (event) => (takeWaiting(), this.open(event.detail))],
      ["gw:look", (event) => (takeWaiting(), this.look(event.detail))],
      ["gw:more", (event) => this.more(event.detail)],
      ["gw:clear", () => ((this.browsed = false), this.clear())],
      ["keydown", (event) => this.key(event)],
    ];
    for (const [name, listener] of this.listeners) addEventListener(name, listener);
    const early = takeWaiting();
    if (early?.name === "gw:open") this.open(early.detail);
    else if (early) this.look(early.detail);
  }

  build() {
    this.chooser = h("select", { class: "dt", "aria-label": "Document", onchange: () => this.choose(this.chooser.value) });
    this.label = h("input", { class: "num", "aria-label": "Page", size: "3", onkeydown: (e) => e.key === "Enter" && this.toLabel(), onfocus: () => this.label.select() });
    this.count = h("span", { class: "muted num" });
    this.how = h("span", { class: "muted num" });
    this.percent = h("span", { class: "zm num" });
    this.fit = button("Fit width", "fit_width", () => this.pages.fitWidth(), { "aria-pressed": "true" });
    this.which = h("span", { class: "num" });
    this.citations = h(
      "span",
      { class: "cn", hidden: true },
      button("Previous citation", "keyboard_arrow_up", () => this.step(-1)),
      this.which,
      button("Next citation", "keyboard_arrow_down", () => this.step(1)),
    );
    this.bar = h(
      "div",
      { class: "tbar", role: "toolbar", "aria-label": "Page viewer" },
      button("Close page", "close", () => this.drawer(false), { class: "gw-btn quiet icon sm only-m" }),
      this.chooser,
      h("span", { class: "pgbox" }, this.label, this.count, this.how),
      h("span", { class: "div" }),
      button("Zoom out", "remove", () => this.zoom(-1), { class: "gw-btn quiet icon sm zb" }),
      this.percent,
      button("Zoom in", "add", () => this.zoom(1), { class: "gw-btn quiet icon sm zb" }),
      this.fit,
      h("span", { class: "sp" }),
      this.citations,
    );
    this.path = h("p", { class: "path", hidden: true });
    this.railBox = h("div", { class: "rail", role: "group", "aria-label": "Thumbnails" });
    this.desk = h("div", { class: "desk", tabindex: "0", role: "group", "aria-label": "Pages of the document", onwheel: () => (this.browsed = true) });
    this.peek = h("button", { type: "button", class: "gw-peek", hidden: true, onclick: () => this.drawer(true) });
    this.scrim = h("div", { class: "gw-scrim", onclick: () => this.drawer(false) });
    this.root.append(this.bar, this.path, this.railBox, this.desk);
    this.root.after(this.peek, this.scrim);
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "Page");
  }

  close() {
    for (const [name, listener] of this.listeners) removeEventListener(name, listener);
    this.pages.close();
    this.rail.close();
    delete document.documentElement.dataset.gwDrawer;
  }

  // Documents that may be looked at; the first in scope is shown until there is a citation to show.
  offer(documents, scope) {
    this.offered = documents;
    this.scope = scope;
    this.fillChooser();
    this.root.classList.toggle("is-empty", !documents.length && !this.document && !this.cited && !this.looked);
    if (!this.cited && !this.looked) this.stay();
  }

  // Keeps the document where it may be shown, and takes the first in scope otherwise.
  stay() {
    const inside = this.offered.filter((item) => !this.scope || this.scope.includes(item.id));
    const [first] = inside.length ? inside : this.offered;
    const kept = (this.browsed ? this.offered : inside).some((item) => item.id === this.document?.id);
    if (first && !kept) this.load(first.id).catch((error) => this.failed(error));
  }

  choose(id) {
    this.browsed = true;
    this.load(id).catch((error) => this.failed(error));
  }

  go(page) {
    this.browsed = true;
    this.pages.go(page);
  }

  fillChooser() {
    const listed = [...this.offered];
    if (this.document && !listed.some((item) => item.id === this.document.id)) listed.unshift(this.document);
    this.chooser.replaceChildren(...listed.map((item) => h("option", { value: item.id }, item.title)));
    if (!this.document) this.chooser.prepend(h("option", { value: "", disabled: true }, "No document"));
    this.chooser.value = this.document?.id ?? "";
    this.chooser.title = this.document?.title ?? "";
  }

  async load(id) {
    this.wanted = id;
    if (this.document?.id === id) return;
    const loaded = await getDocument(id);
    if (this.wanted !== id) return; // another was asked for meanwhile
    this.document = loaded;
    this.root.classList.remove("is-empty", "is-failed");
    this.pages.show(loaded);
    this.rail.show(loaded);
    this.fillChooser();
    this.light();
  }

  // Nothing of another document stays beside what is said. Of one that was removed, the quote is still known.
  failed(error, citation = null) {
    this.document = this.wanted = null;
    this.root.classList.remove("is-empty");
    this.root.classList.add("is-failed");
    this.rail.clear();
    this.fillChooser();
    if (error.code !== "removed" || !citation) this.pages.fail(h("p", {}, prose(`${error.message} ${error.hint}`)));
    else this.pages.fail(h("p", {}, h("em", {}, citation.title), " was removed from the library."), citation.quote && h("blockquote", {}, `“${citation.quote.replace(/\s+/g, " ").trim()}”`), citation.quote && h("p", { class: "muted" }, `Quoted from p. ${citation.label}`));
  }

  async open(detail) {
    const citation = detail.citations.find((item) => item.n === detail.n);
    if (!citation) return;
    this.cited = detail;
    this.looked = null;
    let failure = null;
    try {
      await this.load(citation.doc);
    } catch (error) {
      failure = error;
    }
    if (this.cited?.n !== detail.n || this.cited.turn !== detail.turn) return; // another was opened meanwhile
    if (failure) this.failed(failure, citation);
    this.light();
    this.pages.goTo(citation);
    if (matchMedia("(max-width: 900px)").matches) this.drawer(true);
    if (detail.focus) this.desk.focus();
    dispatchEvent(new CustomEvent("gw:opened", { detail: { turn: detail.turn, n: detail.n, passage: detail.passage } }));
  }

  // The page of an answer's first citation, lit as part of a claim: nothing has been opened yet.
  async look(detail) {
    const citation = detail.citations.find((item) => item.n === detail.n);
    if (detail.fresh) this.browsed = false;
    this.clear(detail);
    if (this.browsed) return;
    let failure = null;
    try {
      await this.load(citation.doc);
    } catch (error) {
      failure = error;
    }
    if (this.looked !== detail || this.browsed) return;
    if (failure) this.failed(failure, citation);
    this.light();
    this.pages.goTo(citation);
  }

  // The answer whose citation is open has grown.
  more({ turn, citations }) {
    if (this.cited?.turn !== turn) return;
    this.cited = { ...this.cited, citations };
    this.light();
  }

  clear(looked = null) {
    this.cited = null;
    this.looked = looked;
    if (!looked) this.stay();
    this.light();
    this.drawer(false);
    dispatchEvent(new CustomEvent("gw:opened", { detail: { turn: "", n: 0 } }));
  }

  light() {
    const cited = this.cited;
    const citation = cited?.citations.find((item) => item.n === cited.n);
    const answer = cited ?? this.looked;
    const here = answer?.citations.filter((item) => item.doc === this.document?.id) ?? [];
    this.pages.light(citation?.doc === this.document?.id ? citation : null, here, cited ? (cited.peers ?? []) : [answer?.n]);
    this.rail.mark(here, cited?.n);
    const known = cited?.turn ? cited.citations : [];
    this.citations.hidden = !known.length;
    const place = known.findIndex((item) => item.n === cited?.n) + 1;
    this.which.replaceChildren(h("b", {}, String(place)), ` of ${known.length}`);
    this.path.hidden = this.peek.hidden = !citation?.quote;
    if (citation?.quote) {
      const words = citation.cell || citation.section.at(-1) || citation.title;
      this.path.replaceChildren(words.replace(" · ", " › "), citation.cell ? ": " : "", citation.cell ? h("b", {}, short(citation.quote)) : "");
      const tag = citation.n ? [h("b", { class: "gw-tag on" }, String(citation.n))] : [];
      this.peek.replaceChildren(...tag, h("span", { class: "w" }, h("b", {}, `p. ${citation.label}`), ` · ${words}`), h("span", { class: "go" }, "Page"));
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

  moved(page) {
    const [, , label, ocr, degraded] = this.document.pages[page - 1];
    this.how.textContent = ocr != null ? `OCR ${ocr}%` : degraded ? "Read plainly" : "";
    this.how.title = degraded ?? (ocr != null ? `Read by OCR, mean confidence ${ocr}%` : "");
    if (document.activeElement !== this.label) this.label.value = label;
    this.label.title = label;
    this.count.textContent = `${page} of ${this.document.pages.length}`;
    this.rail.at(page);
  }

  toLabel() {
    const wanted = this.label.value.trim();
    let page = this.document.pages.findIndex(([, , label]) => label.toLowerCase() === wanted.toLowerCase()) + 1;
    if (!page && /^\d+$/.test(wanted)) page = Math.min(Math.max(1, Number(wanted)), this.document.pages.length);
    if (page) this.go(page);
    this.label.blur();
    this.moved(page || this.pages.page);
  }

  zoom(by) {
    const now = this.pages.z;
    const next = by > 0 ? ZOOMS.find((z) => z > now + 0.01) : ZOOMS.findLast((z) => z < now - 0.01);
    if (next) this.pages.zoomTo(next);
  }

  zoomed() {
    this.percent.textContent = `${Math.round(this.pages.z * 100)}%`;
    this.fit.setAttribute("aria-pressed", String(this.pages.fitted));
  }

  key(event) {
    if (typing(event) || !(this.document || this.cited)) return;
    const act = {
      n: () => this.step(1),
      p: () => this.step(-1),
      g: () => this.label.focus(),
      "+": () => this.zoom(1),
      "=": () => this.zoom(1),
      "-": () => this.zoom(-1),
      0: () => this.pages.fitWidth(),
      Escape: () => this.drawer(false),
    }[event.key];
    if (!act) return;
    if (event.key !== "Escape") event.preventDefault();
    act();
  }
}
