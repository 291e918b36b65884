// A and B side by side on one scale, and what they give differently.

import { h, plural } from "../shared/dom.js";
import { Plot } from "./plot.js";

const WHERE = { a: "only in A", b: "only in B", both: "in both" };
const SIDES = ["a", "b"];

export class Comparison {
  // `events` are those of a `Plot`.
  constructor(events) {
    const each = (make) => Object.fromEntries(SIDES.map((side) => [side, make(side)]));
    this.halves = each(() => h("div", { class: "half" }));
    this.captions = each(() => h("div", { class: "ct" }));
    this.totals = each(() => h("p", { class: "ms num" }));
    this.plots = each((side) => new Plot(this.halves[side], events));
    this.versus = h("span", { class: "muted num" });
    this.changes = h("div", {});
    const half = (side) => h("div", { class: "cmp" }, this.captions[side], h("div", { role: "img", class: "plot", "aria-label": `Plot of ${side.toUpperCase()}` }, this.halves[side]), this.totals[side]);
    this.root = h("section", { class: "two", "aria-label": "A and B", hidden: true }, h("div", { class: "ph" }, h("h2", {}, "A and B"), this.versus), h("div", { class: "gr2" }, SIDES.map(half)), this.changes);
  }

  close() {
    for (const side of SIDES) this.plots[side].close();
  }

  // `marked` is the row of the open chunk; `open(row, focus)` opens one.
  async show(given, marked, several, open) {
    this.root.hidden = false;
    this.versus.textContent = `${plural(given.both, "chunk")} in both, ${given.only_a || "none"} only in A, ${given.only_b || "none"} only in B`;
    for (const side of SIDES) {
      const { stats, named } = given[side];
      this.captions[side].replaceChildren(h("b", {}, side.toUpperCase()), h("span", { class: "muted num" }, named));
      this.totals[side].replaceChildren(...[[stats.segments, "segment"], [stats.given, "chunk"], [stats.sources, "source"]].map(([count, noun]) => h("span", {}, h("b", {}, count.toLocaleString("en")), ` ${noun}${count === 1 ? "" : "s"}${noun === "chunk" ? " for the writer" : ""}`)));
      await this.plots[side].draw(given[side].figure, marked);
    }
    const left = given.left && h("p", { class: "muted" }, `${given.left} more differences not listed.`);
    const alike = given.a.named === given.b.named && !given.lines.length;
    const told = alike ? h("p", { class: "muted" }, "A and B have the same settings. Choose B beside “Setting” and change one.") : differences(given.lines, several, open);
    this.changes.replaceChildren(told, ...(left ? [left] : []));
  }

  mark(row) {
    if (!this.root.hidden) for (const side of SIDES) this.plots[side].mark(row);
  }
}

function differences(lines, several, open) {
  if (!lines.length) return h("p", { class: "muted" }, "The writer gets the same chunks from both, at the same ranks.");
  const entries = lines.map((line) =>
    h(
      "tr",
      { "data-row": line.row, "data-where": line.where, onclick: (event) => event.target.closest("a") || open(line.row, false) },
      h("td", {}, h("span", { class: `wh ${line.where}` }, WHERE[line.where])),
      h("td", {}, h("a", { href: `#chunk-${line.id}`, onclick: (event) => (event.preventDefault(), open(line.row, event.shiftKey)), "aria-label": `Chunk ${line.chunk}, page ${line.page}, ${WHERE[line.where]}` }, line.chunk)),
      h("td", { class: "what" }, h("span", { class: "of" }, several ? `${line.title}, p. ${line.page}` : `p. ${line.page}`), h("span", { class: "tx" }, line.text)),
      h("td", { class: "n" }, moved(line)),
    ),
  );
  const head = ["In", "Chunk", "Place", "Rank in A, in B"].map((name) => h("th", { scope: "col" }, name));
  return h("table", { class: "xt num" }, h("caption", { class: "gw-unseen" }, "Differences between A and B"), h("thead", {}, h("tr", {}, head)), h("tbody", {}, entries));
}

function moved({ a, b }) {
  const said = (rank) => (rank ? String(rank) : "–");
  const move = a && b ? (b < a ? ` ▲ ${a - b}` : b > a ? ` ▼ ${b - a}` : "") : "";
  return `${said(a)} → ${said(b)}${move}`;
}
