// What the open section cites: each citation with its verdict, and whether its passage is pinned or excluded. It stands
// above the page; where the page is a drawer, under the text.

import { button, h, icon, plural } from "../shared/dom.js";
import { oneLine, verdict, where } from "../shared/quoted.js";
import { NARROW } from "../shared/side.js";
import { hasChanged, sinceMark } from "../shared/since.js";

export class Evidence {
  constructor(report) {
    this.report = report;
    this.own = h("section", { class: "gw-evidence", "aria-label": "Evidence" });
    this.narrow = matchMedia(NARROW);
    this.changed = () => this.draw();
    this.narrow.addEventListener("change", this.changed);
  }

  close() {
    this.narrow.removeEventListener("change", this.changed);
  }

  get root() {
    return this.narrow.matches ? this.own : document.querySelector(".gw-evidence:not(section)");
  }

  // Which of its buttons has the focus.
  get held() {
    return this.root?.contains(document.activeElement) ? document.activeElement.dataset.place : null;
  }

  // Where it stands; there is one of it.
  place() {
    const { column } = this.report;
    if (!this.narrow.matches) return this.own.remove();
    document.querySelector(".gw-evidence:not(section)")?.replaceChildren();
    if (!this.report.section.filled || this.report.editing) return this.own.remove();
    if (this.own.parentElement !== column) column.insertBefore(this.own, column.querySelector(".meta, .steps"));
  }

  draw(held = this.held) {
    const { root, report } = this;
    if (!root || !report.data) return;
    const { section } = report;
    this.place();
    const pages = new Set(section.citations.map((one) => `${one.doc} ${one.page}`)).size;
    root.replaceChildren(
      h("div", { class: "eh" }, h("b", {}, "Evidence"), h("span", { class: "muted num" }, section.citations.length ? `${plural(section.citations.length, "citation")} on ${plural(pages, "page")}` : "No citations yet")),
      section.citations.length ? h("ul", { class: "el gw-scroll", "aria-label": "Citations" }, section.citations.map((one) => this.row(section, one))) : "",
      this.places(section, "pinned", "Pinned: always used", "push_pin"),
      this.places(section, "excluded", "Excluded: never used", "block"),
    );
    report.mark();
    if (held) root.querySelector(`[data-place="${held}"]`)?.focus();
  }

  row(section, one) {
    const open = (event) => {
      event.preventDefault();
      this.report.openChip(section.turn, one.n);
    };
    // The worst verdict of the claims that cite it.
    const verdicts = [...this.report.column.querySelectorAll(`a.gw-cite[data-n="${one.n}"]`)].map((chip) => chip.closest(".gw-claim")?.dataset.status);
    const worst = ["unsupported", "weak", "supported"].find((status) => verdicts.includes(status));
    const [tone, sign, word] = verdict(worst, section.extractive);
    const words = oneLine(one.cell ? `${one.cell}: ${one.quote}` : `“${one.quote}”`);
    const link = h(
      "a",
      { href: `#cite-${section.turn}-${one.n}`, "data-turn": section.turn, "data-n": one.n, onclick: open },
      h("span", { class: "tag" }, String(one.n)),
      h("span", { class: "x", title: words }, words),
      h("span", { class: "num pg" }, where(one)),
      word && h("span", { class: `gw-st ${tone}` }, icon(sign, "s14"), h("span", { class: "gw-unseen" }, word)),
      hasChanged(one) && sinceMark(),
    );
    if (section.accepted) return h("li", {}, link);
    const held = (kind) => section[kind].find((place) => place.doc === one.doc && place.start < one.end && one.start < place.end);
    // Pressed again it is neither.
    const act = (kind, words, sign) => {
      const place = held(kind);
      const body = place ? { doc: place.doc, start: place.start, end: place.end, kind: "none" } : { doc: one.doc, start: one.start, end: one.end, around: true, kind };
      return button(`${words} the passage of citation ${one.n}`, sign, () => this.report.act(`/sections/${section.id}/places`, body), { "aria-pressed": String(Boolean(place)), "data-place": `${kind} ${one.n}` });
    };
    return h("li", {}, link, act("pinned", "Pin", "push_pin"), act("excluded", "Exclude", "block"));
  }

  places(section, kind, name, sign) {
    const all = section[kind];
    if (!all.length) return "";
    const free = (one) => this.report.act(`/sections/${section.id}/places`, { doc: one.doc, start: one.start, end: one.end, kind: "none" });
    const look = (one) => one.citation && this.report.look(one.citation);
    return h(
      "div",
      { class: "places" },
      h("h2", {}, icon(sign, "s14"), name),
      h("ul", {}, all.map((one) => h("li", {}, h("button", { type: "button", class: "gw-linkish", title: one.words, onclick: () => look(one) }, one.words), !section.accepted && button(kind === "pinned" ? "Unpin" : "Use again", "close", () => free(one))))),
    );
  }
}
