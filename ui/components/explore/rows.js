// The points of the plot as a table, most relevant first: what a box does there, its keys do here.

import { h, plural } from "../shared/dom.js";

const FIRST = 40;
const KEYS = { ArrowDown: (at) => at + 1, ArrowUp: (at) => at - 1, Home: () => 0, End: (_, last) => last };

export class Rows {
  // `events`: open(row, focus) opens a chunk, pick(rows or null) selects, only(whether no others are listed)
  constructor(root, events) {
    this.events = events;
    this.chosen = null;
    this.from = null; // where a range of rows begins
    this.body = h("tbody", { onkeydown: (event) => this.key(event), onfocusin: (event) => this.focused(event.target.closest("tr")) });
    this.heading = h("h2", {});
    this.only = h("button", { type: "button", class: "gw-linkish", onclick: () => this.events.only(!this.alone) });
    this.clear = h("button", { type: "button", class: "gw-linkish", onclick: () => (this.events.pick(null), this.entries()[0]?.querySelector("a").focus()) }, "Clear the selection");
    this.said = h("span", { class: "gw-unseen", role: "status" });
    this.foot = h("p", { class: "muted foot" });
    const head = [h("span", { class: "gw-unseen" }, "Selected"), "Chunk", "Place", "Relevance", "Found by", "Outcome"];
    const classes = ["ck", "", "", "n", "by", "fa"];
    this.hint = h("p", { class: "muted keys", id: "gw-x-keys" }, h("kbd", {}, "↑"), " ", h("kbd", {}, "↓"), " move, ", h("kbd", {}, "Space"), " selects, with ", h("kbd", {}, "Shift"), " a range, ", h("kbd", {}, "Enter"), " opens the page");
    root.replaceChildren(
      h("div", { class: "ph" }, this.heading, this.only, this.clear, this.said, this.hint),
      (this.table = h(
        "table",
        { class: "xt num", "aria-describedby": "gw-x-keys" },
        h("caption", { class: "gw-unseen" }, "Chunks that were found or chosen, most relevant first"),
        h("thead", {}, h("tr", {}, head.map((name, at) => h("th", { scope: "col", class: classes[at] || null }, name)))),
        this.body,
      )),
      this.foot,
    );
  }

  // `chosen` are the rows of a selection, null for none; `alone`: no others are listed.
  show({ rows, more, chosen, alone, several, kinds }) {
    const held = this.held();
    this.table.classList.toggle("kinds", Boolean(kinds));
    this.from = null;
    this.chosen = chosen;
    this.alone = Boolean(chosen && alone);
    const listed = this.alone ? rows.filter((line) => chosen.has(line.row)) : rows;
    const whole = this.whole && listed.length > FIRST;
    this.body.replaceChildren(...(whole ? listed : listed.slice(0, FIRST)).map((line, at, all) => this.entry(line, several && line.doc !== all[at - 1]?.doc, several, kinds)));
    const rest = listed.length > FIRST && !whole && h("button", { type: "button", class: "gw-linkish", onclick: () => ((this.whole = true), this.show({ rows, more, chosen: this.chosen, alone: this.alone, several, kinds })) }, `Show all ${listed.length.toLocaleString("en")}`);
    const unfound = this.alone ? chosen.size - listed.length : 0;
    this.foot.replaceChildren(
      ...[
        rest || null,
        !listed.length && (this.alone ? "Nothing in the selection was found by a search." : "No search found anything."),
        unfound > 0 && listed.length > 0 && `${plural(unfound, "other")} in the selection not found. `,
        more > 0 && !this.alone && ` ${plural(more, "more chunk")} not listed.`,
      ].filter(Boolean),
    );
    this.counted();
    this.rove(this.entries().find((line) => line.dataset.row === held?.row) ?? this.entries()[0]);
    if (held) this.focus(Math.max(0, this.entries().findIndex((line) => line.dataset.row === held.row)), held.box);
  }

  // `titled`: the document is named, since the row above has another.
  entry(line, titled, several, kinds) {
    const name = `${line.chunk}${several ? ` of ${line.title}` : ""}`;
    const link = h("a", { href: `#chunk-${line.id}`, tabindex: "-1", onclick: (event) => (event.preventDefault(), this.events.open(line.row, event.shiftKey)), "aria-label": `Chunk ${name}, page ${line.page}, relevance ${line.relevance}` }, line.chunk);
    const box = h("input", { type: "checkbox", tabindex: "-1", checked: Boolean(this.chosen?.has(line.row)), "aria-label": `Select chunk ${name}`, onclick: (event) => this.ticked(event) });
    return h(
      "tr",
      { "data-row": line.row, "data-step": line.step, "data-given": String(line.given), "data-use": line.use, onclick: (event) => event.target.closest("a, label") || this.events.open(line.row, false) },
      h("td", { class: "ck" }, h("label", {}, box)),
      h("td", {}, h("i", { class: kinds ? `dot ${line.step}${line.given ? " in" : ""}` : `dot ${line.use || "unseen"}`, "aria-hidden": "true" }), link),
      h("td", { class: "what" }, h("span", { class: "of" }, titled && h("b", {}, line.title), h("span", {}, `p. ${line.page}${line.section ? ` · ${line.section}` : ""}`)), h("span", { class: "tx" }, line.text)),
      h("td", { class: "n" }, h("b", {}, line.relevance)),
      h("td", { class: "by" }, line.by),
      h("td", { class: "fa" }, h("span", { class: line.given ? "gv" : "muted" }, kinds ? line.fate : line.use)),
    );
  }

  counted() {
    const count = this.chosen?.size ?? 0;
    const words = count ? `${plural(count, "chunk")} selected` : "Chunks, most relevant first";
    if (this.heading.textContent !== words) this.said.textContent = count ? words : "";
    this.heading.textContent = words;
    this.only.hidden = this.clear.hidden = !count;
    this.only.textContent = this.alone ? "List all" : "List only these";
  }

  // Selecting

  ticked(event) {
    const at = this.entries().indexOf(event.target.closest("tr"));
    if (event.shiftKey && this.from !== null) this.take(this.from, at, event.target.checked);
    else this.take(at, at, event.target.checked);
    this.from = at;
  }

  // The rows of the table from one to another are selected, or no longer.
  take(first, last, on) {
    const chosen = new Set(this.chosen ?? []);
    for (const line of this.entries().slice(Math.min(first, last), Math.max(first, last) + 1)) {
      if (on) chosen.add(Number(line.dataset.row));
      else chosen.delete(Number(line.dataset.row));
    }
    this.mark(chosen.size ? chosen : null);
    this.events.pick(this.chosen);
  }

  mark(chosen) {
    this.chosen = chosen;
    for (const line of this.entries()) line.querySelector("input").checked = Boolean(chosen?.has(Number(line.dataset.row)));
    this.counted();
  }

  key(event) {
    const line = event.target.closest("tr");
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
    const lines = this.entries();
    const at = lines.indexOf(line);
    const box = event.target.tagName === "INPUT";
    if (event.key === " " && !box) {
      event.preventDefault();
      if (event.shiftKey && this.from !== null) this.take(this.from, at, true);
      else this.take(at, at, !this.chosen?.has(Number(line.dataset.row)));
      this.from = at;
    } else if (event.key === "Enter" && box) {
      event.preventDefault();
      this.events.open(Number(line.dataset.row), false);
    } else if (KEYS[event.key]) {
      event.preventDefault();
      const to = Math.min(Math.max(KEYS[event.key](at, lines.length - 1), 0), lines.length - 1);
      if (event.shiftKey) {
        this.from ??= at;
        this.take(this.from, to, true);
      } else this.from = to;
      this.focus(to, box);
    }
  }

  // Focus: one row at a time is in the order of the Tab key, so that what follows the table is near.

  entries() {
    return [...this.body.children];
  }

  focus(at, box) {
    this.entries()[at]?.querySelector(box ? "input" : "a").focus();
  }

  focused(line) {
    this.rove(line);
    this.from ??= this.entries().indexOf(line);
  }

  rove(line) {
    for (const stop of this.body.querySelectorAll('[tabindex="0"]')) stop.tabIndex = -1;
    for (const stop of line?.querySelectorAll("a, input") ?? []) stop.tabIndex = 0;
  }

  held() {
    const active = document.activeElement;
    return this.body.contains(active) ? { row: active.closest("tr").dataset.row, box: active.tagName === "INPUT" } : null;
  }
}
