// What is known of the open cell, above its page: the value, how far it can be trusted, the other values of the document
// or its nearest passages, and what a person makes of it.

import { button, h, icon, prose } from "../shared/dom.js";
import { unsaved } from "../shared/kept.js";
import { oneLine, where } from "../shared/quoted.js";
import { NARROW } from "../shared/side.js";
import { hasChanged, markChips, sinceMark } from "../shared/since.js";
import { day, valued, written } from "./words.js";

const LONG = 90; // characters of a value that is set large
const PASSAGE = 240; // characters of a passage that are shown
const act = (words, sign, onclick, more = {}) => h("button", { type: "button", class: "gw-btn sm", onclick, ...more }, sign && icon(sign, "s16"), words);
const begun = (text) => (text.length > PASSAGE ? `${text.slice(0, text.lastIndexOf(" ", PASSAGE) + 1 || PASSAGE).trimEnd()}…` : text);

export class Card {
  constructor(page) {
    this.page = page;
    this.narrow = matchMedia(NARROW);
    this.element = h("section", { class: "fct", "aria-label": "Cell", onkeydown: (event) => event.key === "Escape" && !event.defaultPrevented && (event.stopPropagation(), this.page.closeCell()) });
    this.placed = () => this.place();
    addEventListener("gw:evidence", this.placed);
    this.narrow.addEventListener("change", this.placed);
  }

  close() {
    removeEventListener("gw:evidence", this.placed);
    this.narrow.removeEventListener("change", this.placed);
    this.element.remove();
  }

  // Above the page; where that is a drawer, under the table.
  place() {
    const host = this.narrow.matches ? this.page.root : document.querySelector(".gw-evidence:not(section)");
    if (!this.cell) this.element.remove();
    else if (host && this.element.parentElement !== host) {
      host.append(this.element);
      this.form?.focus();
    }
  }

  hide() {
    this.cell = this.form = null;
    this.place();
  }

  // `cell` with its places as the server tells it.
  show(cell, row, column) {
    const held = this.element.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    if (this.form && this.cell?.row === cell.row && this.cell.column === cell.column) return; // something is being typed
    Object.assign(this, { cell, row, column, form: null });
    const { status, reason, error } = cell;
    this.actions = h("div", { class: "act" });
    const stated = ["stated", "rival"].includes(status);
    this.element.replaceChildren(
      h("div", { class: "top" }, h("h2", {}, h("span", { title: [row.title, row.path].filter(Boolean).join(", ") }, row.label), " › ", h("b", {}, column.name)), h("span", { class: "sp" }), this.verdict(cell), button("Close the cell", "close", () => this.page.closeCell())),
      ...(stated ? this.value(cell) : []),
      ...(stated ? this.since(cell) : []),
      ...(status === "failed" ? [h("p", { class: "why" }, prose(`${error?.message ?? "It failed."} ${error?.hint ?? ""}`))] : []),
      ...(status === null ? [h("p", { class: "why" }, "This cell isn’t filled yet.")] : []),
      ...(status === "not_stated" && reason && !cell.decision ? [h("p", { class: "why" }, prose(reason))] : []),
      ...(cell.decision === "corrected" ? [h("p", { class: "why" }, cell.found ? `Groundwork found ${column.type === "date" ? day(cell.found) : cell.found}.` : "Groundwork found nothing certain.")] : []),
      this.actions,
      ...this.others(cell),
    );
    markChips(this.element, cell.value.citations);
    this.place();
    this.offer();
    if (unsaved.get(this.key) !== null) return this.correct();
    if (held) (this.element.querySelector(`[data-act="${held}"]`) ?? this.element.querySelector(".act button"))?.focus();
  }

  verdict(cell) {
    const { status, decision, supported, rivals, again } = cell;
    const said = (tone, sign, words) => h("span", { class: `gw-st ${tone}` }, sign && icon(sign, "s16"), words);
    if (decision === "corrected") return supported === false ? said("weak", "warning", `By hand, not found in the ${this.page.noun}`) : said("ok", "edit", supported ? "By hand, supported" : "By hand");
    if (again && status !== "failed") return said("off", "refresh", this.page.working ? "Being filled again" : "To be filled again");
    if (decision === "accepted") return said("ok", "check_circle", "Accepted");
    if (status === "failed") return said("bad", "error", "Failed");
    if (status === "not_stated") return said("off", "block", decision ? "Not stated, by hand" : this.likely ? "Not certain" : "Not stated");
    if (status === "rival") return said("bad", "warning", `${rivals.length + 1} values`);
    if (status === null) return said("off", "schedule", this.row.doc in this.page.data.lost ? "Not read" : "Waiting");
    const by = this.column.type === "text" || cell.model === "rules" ? "" : `, by ${cell.model}`;
    return supported === false ? said("weak", "warning", `Not supported${by}`) : said("ok", "check_circle", `Supported${by}`);
  }

  // The first of its places whose words are others by now, which opens with what they became.
  since({ value }) {
    const first = value.citations.find(hasChanged);
    return first ? [h("p", { class: "why" }, sinceMark({ type: "button", onclick: () => this.page.openPlace(first.n) }, "button"))] : [];
  }

  value({ value }) {
    const { column } = this;
    if (column.type === "list") {
      const items = value.text.split("\n");
      const own = value.citations.length === items.length;
      return [h("ol", { class: "items gw-scroll" }, items.map((text, n) => h("li", {}, own ? this.way(value.citations[n], h("span", { class: "x" }, text)) : text)))];
    }
    if (column.type === "text") return [h("div", { class: "prose gw-scroll" }, value.text.split("\n").filter((one) => one.trim()).map((one) => this.prose(one, value.citations)))];
    const [text, unit] = valued(value, column);
    const shownUnit = unit || (column.type === "value" && value.number !== null ? value.unit : "");
    const [place] = value.citations;
    const as = column.type === "value" && value.number !== null && value.text && oneLine(value.text) !== text ? `as “${oneLine(value.text)}”` : "";
    const more = [as, column.type === "value" && value.period && day(value.period), place && `${where(place)}${place.cell ? `, ${place.cell}` : ""}`].filter(Boolean).join(" · ");
    return [h("p", { class: text.length > LONG ? "big long" : "big" }, h("b", {}, shownUnit ? `${text} ${shownUnit}` : text), h("small", { class: "num" }, more)), value.citations.length > (this.narrow.matches ? 0 : 1) && h("p", { class: "also" }, value.citations.length > 1 ? "Places: " : "Place: ", value.citations.map((one) => this.chip(one)))].filter(Boolean);
  }

  // A line of a text: its bold words, its citations as chips.
  prose(text, citations) {
    const parts = text.replace(/^ *- /, "• ").split(/(\*\*[^*]+\*\*|\[\d+\])/);
    return h("p", {}, parts.map((part) => {
      if (part.startsWith("**")) return h("b", {}, part.slice(2, -2));
      const place = /^\[\d+\]$/.test(part) && citations[Number(part.slice(1, -1)) - 1];
      return place ? this.chip(place) : part;
    }));
  }

  chip(one) {
    return h("a", { class: "gw-cite", href: `#cite-${one.n}`, "data-n": String(one.n), "aria-label": `Place ${one.n}, page ${one.label}`, onclick: (event) => (event.preventDefault(), this.page.openPlace(one.n, event.shiftKey)) }, String(one.n));
  }

  // A line that opens its place.
  way(place, ...what) {
    return h("button", { type: "button", class: "way", "data-n": place ? String(place.n) : null, disabled: !place, onclick: (event) => this.page.openPlace(place.n, event.shiftKey) }, ...what, place && h("span", { class: "num pg" }, where(place)));
  }

  // What it may be where nothing is certain, the likeliest; nothing once somebody decided.
  get likely() {
    const { likely, rivals } = this.cell;
    return likely ? rivals[0] : undefined;
  }

  others({ rivals, nearest, status, likely }) {
    const own = (words, beside, rows) => [h("div", { class: "riv" }, h("h3", {}, words, h("span", {}, beside)), h("ul", { class: "gw-scroll" }, rows))];
    const out = [];
    if (rivals.length) {
      const { column } = this;
      const row = (one) => {
        const [text, unit] = valued(one, column);
        const [place] = one.citations;
        const words = [text, unit, column.type === "value" && one.period && `(${day(one.period)})`].filter(Boolean).join(" ");
        const quote = place ? [place.cell, oneLine(place.quote)].filter(Boolean).join(": ") : "";
        return h("li", {}, this.way(place, h("b", {}, words), h("span", { class: "x", title: quote }, quote)), act("Use", "", () => this.decide("corrected", written(one, column)), { "aria-label": `Use ${words}`, title: one === this.likely ? "Use (Space)" : null, class: "gw-btn sm quiet" }));
      };
      const [words, beside] = likely ? ["It may be", "none is certain"] : [`Other values in this ${this.page.noun}`, "not chosen"];
      out.push(...own(words, beside, rivals.map(row)));
    }
    if (nearest.length) out.push(...own("Nearest passages", status === "not_stated" ? "nothing certain" : "they don’t say it", nearest.map((one) => h("li", {}, this.way(one, h("span", { class: "x near", title: oneLine(one.quote) }, begun(oneLine(one.quote))))))));
    return out;
  }

  // Which of its places is lit.
  lit(n) {
    for (const one of this.element.querySelectorAll("[data-n]")) one.ariaCurrent = Number(one.dataset.n) === n ? "true" : null;
  }

  get key() {
    return `grid ${this.page.id} ${this.cell.row} ${this.cell.column}`;
  }

  offer() {
    const { status, decision } = this.cell;
    const stated = ["stated", "rival"].includes(status);
    const { row, column } = this.cell;
    this.actions.replaceChildren(
      ...[
        stated && !decision && act("Accept", "check", () => this.decide("accepted"), { title: "Accept (Space)", "data-act": "accept" }),
        act("Correct", "edit", () => this.correct(), { title: "Correct (E)", "data-act": "correct", class: "gw-btn sm quiet" }),
        (status !== "not_stated" || this.likely) && act("Not stated", "block", () => this.decide("not_stated"), { "data-act": "none", class: "gw-btn sm quiet" }),
        status === "not_stated" && !decision && !this.likely && act("Accept", "check", () => this.decide("not_stated"), { title: "Accept (Space)", "data-act": "accept", class: "gw-btn sm quiet" }),
        decision && act("Undo", "undo", () => this.decide(""), { "data-act": "undo", class: "gw-btn sm quiet" }),
        !decision && status === "failed" && act("Retry", "refresh", () => this.page.fillAgain({ row, column }), { "data-act": "again" }),
        !decision && status !== null && status !== "failed" && button("Fill again", "refresh", () => this.page.fillAgain({ row, column }), { "data-act": "again" }),
      ].filter(Boolean),
    );
  }

  // Space on the cell: what it says is accepted, also what it may be.
  accept() {
    const { status, decision } = this.cell;
    if (decision || !status || status === "failed") return null;
    if (this.likely) return this.decide("corrected", written(this.likely, this.column));
    return this.decide(status === "not_stated" ? "not_stated" : "accepted");
  }

  async decide(kind, text = "") {
    const { key } = this;
    this.form = null;
    unsaved.delete(key);
    this.actions.replaceChildren(h("span", { class: "muted" }, h("span", { class: "gw-spin" }), kind === "corrected" ? `Checking it against the ${this.page.noun}` : "Keeping it"));
    const refused = await this.page.decide(this.cell, kind, text);
    if (!refused) return;
    if (kind === "corrected") unsaved.set(key, text);
    if (!this.cell || this.key !== key) return;
    if (kind !== "corrected") return this.offer();
    this.page.forgive(); // it is said at the field
    this.correct(`${refused.message} ${refused.hint ?? ""}`);
  }

  // With why what was typed is `refused`.
  correct(refused = "") {
    const { value } = this.cell;
    const label = this.column.type === "list" ? "The items" : "The value";
    const field = h(["quote", "text", "list"].includes(this.column.type) ? "textarea" : "input", { class: "gw-field", "aria-label": label, "aria-invalid": refused ? "true" : null, rows: "3" });
    const typed = unsaved.get(this.key);
    field.value = typed ?? (value.text ? written(value, this.column) : "");
    const end = () => {
      this.form = null;
      unsaved.delete(this.key);
      this.offer();
      this.page.focus();
    };
    const send = () => field.value.trim() && this.decide("corrected", field.value.trim());
    field.addEventListener("input", () => unsaved.set(this.key, field.value));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (field.tagName === "INPUT" || event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        send();
      }
      if (event.key !== "Escape") return;
      event.stopPropagation();
      end();
    });
    this.form = field;
    this.actions.replaceChildren(h("div", { class: "form" }, field, h("div", { class: "act" }, act("Keep it", "", send, { class: "gw-btn sm primary" }), act("Cancel", "", end, { class: "gw-btn sm quiet" }), refused ? h("span", { class: "no", role: "alert" }, prose(refused)) : h("span", { class: "muted" }, `It is looked for in the ${this.page.noun}.`))));
    field.focus();
    if (typed === null) field.select();
    else field.setSelectionRange(typed.length, typed.length);
  }
}
