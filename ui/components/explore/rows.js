// The points of the plot as a table, most relevant first, and the differences between A and B as another.

import { h, plural } from "../shared/dom.js";

const FIRST = 40;

// `open(row, focus)` opens a chunk; `chosen` are the rows of a selection, null for all.
export function table(root, { rows, more, chosen, several, open, clear }) {
  const listed = chosen ? rows.filter((line) => chosen.has(line.row)) : rows;
  const body = h("tbody", {});
  const fill = (count) => body.replaceChildren(...listed.slice(0, count).map((line) => entry(line, several, open)));
  fill(FIRST);
  const rest = listed.length > FIRST && h("button", { type: "button", class: "gw-linkish", onclick: () => (fill(listed.length), rest.remove()) }, `Show all ${listed.length.toLocaleString("en")}`);
  const unfound = chosen ? chosen.size - listed.length : 0;
  root.replaceChildren(
    h(
      "div",
      { class: "ph" },
      h("h2", {}, chosen ? plural(chosen.size, "chunk") + " selected" : "Chunks, most relevant first"),
      chosen && h("button", { type: "button", class: "gw-linkish", onclick: clear }, "Clear the selection"),
    ),
    h(
      "table",
      { class: "xt num" },
      h("caption", { class: "gw-unseen" }, "Chunks that were found or chosen, most relevant first"),
      h("thead", {}, h("tr", {}, ["Chunk", "Place", "Relevance", "Found by", "Outcome"].map((name) => h("th", { scope: "col" }, name)))),
      body,
    ),
    h("p", { class: "muted foot" }, rest || null, !listed.length && (chosen ? "Nothing in the selection was found by a search." : "No search found anything."), unfound > 0 && listed.length > 0 && `${plural(unfound, "other")} in the selection not found. `, more > 0 && !chosen && ` ${plural(more, "more chunk")} not listed.`),
  );
}

function entry(line, several, open) {
  const link = h("a", { href: `#chunk-${line.id}`, onclick: (event) => (event.preventDefault(), open(line.row, event.shiftKey)), "aria-label": `Chunk ${line.chunk}${several ? ` of ${line.title}` : ""}, page ${line.page}, relevance ${line.relevance}` }, line.chunk);
  return h(
    "tr",
    { "data-row": line.row, "data-step": line.step, "data-given": String(line.given), onclick: (event) => event.target.closest("a") || open(line.row, false) },
    h("td", {}, h("i", { class: `dot ${line.step}${line.given ? " in" : ""}`, "aria-hidden": "true" }), link),
    h("td", { class: "what" }, h("span", { class: "of" }, several ? `${line.title}, p. ${line.page}` : `p. ${line.page}${line.section ? ` · ${line.section}` : ""}`), h("span", { class: "tx" }, line.text)),
    h("td", { class: "n" }, h("b", {}, line.relevance)),
    h("td", {}, line.by),
    h("td", {}, h("span", { class: line.given ? "gv" : "muted" }, line.fate)),
  );
}

export function differences(given, several, open) {
  const said = `${plural(given.both, "chunk")} in both, ${given.only_a || "none"} only in A, ${given.only_b || "none"} only in B`;
  const lines = given.lines.map((line) =>
    h(
      "tr",
      { "data-row": line.row, "data-where": line.where, onclick: (event) => event.target.closest("a") || open(line.row, false) },
      h("td", {}, h("span", { class: `wh ${line.where}` }, { a: "only in A", b: "only in B", both: "in both" }[line.where])),
      h("td", {}, h("a", { href: `#chunk-${line.id}`, onclick: (event) => (event.preventDefault(), open(line.row, event.shiftKey)), "aria-label": `Chunk ${line.chunk}, page ${line.page}, ${{ a: "only in A", b: "only in B", both: "in both" }[line.where]}` }, line.chunk)),
      h("td", { class: "what" }, h("span", { class: "of" }, several ? `${line.title}, p. ${line.page}` : `p. ${line.page}`), h("span", { class: "tx" }, line.text)),
      h("td", { class: "n" }, moved(line)),
    ),
  );
  const list = lines.length
    ? h("table", { class: "xt num" }, h("caption", { class: "gw-unseen" }, "What A and B give differently"), h("thead", {}, h("tr", {}, ["In", "Chunk", "Place", "Rank in A, in B"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, lines))
    : h("p", { class: "muted" }, "The writer gets the same chunks from both, at the same ranks.");
  return { said, list, left: given.left ? h("p", { class: "muted" }, `${given.left} more differences not listed.`) : null };
}

function moved({ a, b }) {
  const said = (rank) => (rank ? String(rank) : "–");
  const move = a && b ? (b < a ? ` ▲ ${a - b}` : b > a ? ` ▼ ${b - a}` : "") : "";
  return `${said(a)} → ${said(b)}${move}`;
}
