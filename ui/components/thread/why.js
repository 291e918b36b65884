// Why an answer has its sources: what was searched for and where, what each step of the search took, and every passage
// it found with the scores and ranks that put it there. Fetched when it is first opened.

import { get, url } from "../shared/api.js";
import { openCitation } from "../shared/bus.js";
import { h, icon, plural, prose } from "../shared/dom.js";

const FIRST_LINES = 160; // px
const FIRST = 8; // passages shown until all are asked for

export function whySources(turn, conversation) {
  const body = h("div", { class: "body" });
  const details = h("details", { class: "gw-sources gw-why" }, h("summary", {}, icon("chevron_right", "s16"), "Why these sources", h("span", { class: "muted num" }, turn.found)), body);
  details.addEventListener("toggle", () => {
    if (details.open && !body.querySelector(".facts")) fill(body, turn, conversation);
  });
  // Opened, the panel has the link among its own.
  return h("div", { class: "gw-why-row" }, details, explored(turn, conversation, "Relevance plot"));
}

async function fill(body, turn, conversation) {
  let found;
  try {
    found = await get(`/conversations/${conversation}/questions/${turn.id}/why`);
  } catch (error) {
    body.replaceChildren(h("p", { class: "gw-hint", role: "alert" }, prose(`${error.message} ${error.hint}`)));
    return;
  }
  body.replaceChildren(facts(found), explored(turn, conversation), passages(found), times(found), legend(found));
  if (body.parentElement.open) bringIntoView(body);
}

// Opened at the lower edge, the panel's first lines come up above the input; its heading stays in sight.
function bringIntoView(body) {
  const flow = body.closest(".gw-flow");
  const bottom = flow.getBoundingClientRect().bottom;
  const wanted = body.getBoundingClientRect().top + Math.min(FIRST_LINES, body.offsetHeight) - bottom;
  const room = body.parentElement.getBoundingClientRect().top - flow.getBoundingClientRect().top;
  if (wanted > 0) flow.scrollBy({ top: Math.min(wanted, Math.max(room, 0)), behavior: "instant" });
}

// What was searched for and where

function facts(found) {
  const rows = [["Searched for", queries(found.queries)], ["Searched", found.within]];
  if (found.routes.length) rows.push(["Preferred", routes(found)]);
  if (found.cache) rows.push(["Asked before", found.cache]);
  if (found.read) rows.push(["Read", found.read]);
  for (const note of found.notes) rows.push(["Not done", note]);
  rows.push(["Given to the writer", found.given + beside(found.others)]);
  return h("dl", { class: "facts" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

// The same question over every chunk, with the settings at hand.
function explored(turn, conversation, words = "See every chunk in Explore") {
  const root = url("").split("/gw?")[0];
  return h("p", { class: "go" }, h("a", { href: `${root}/explore?${new URLSearchParams({ c: conversation, turn: turn.id })}` }, words));
}

function queries(items) {
  const one = ({ text, how, reason }) => [`“${text}”`, h("span", { class: "muted" }, ` ${[how, reason].filter(Boolean).join(": ")}`)];
  if (items.length === 1) return one(items[0]);
  return h("ol", {}, items.map((item, i) => h("li", {}, h("b", { class: "num" }, `${i + 1} `), ...one(item))));
}

function routes({ routes: items, more_routes: more }) {
  const list = items.map(({ title, reason, prior }) => h("li", {}, title, h("span", { class: "muted num" }, ` ${reason} (${prior})`)));
  if (more) list.push(h("li", { class: "muted" }, `and ${plural(more, "other document")}`));
  return h("ul", {}, list);
}

function beside(others) {
  if (!others.length) return "";
  return `; ${others.length === 1 ? "one of them" : `${others.length} of them`} beside what was found: ${others.map((item) => `${item.number} (${item.place})`).join(", ")}`;
}

// The passages

function passages(found) {
  const names = [...found.columns.map(({ name }) => name), "Score"];
  const widths = `--columns:${names.length}`;
  const table = h("div", { class: "hits num", role: "table", "aria-label": "Passages found, best first", style: widths });
  const head = h("div", { class: "hit head", role: "row" }, h("span", { role: "columnheader", class: "what" }, "Passage"), names.map((name) => h("span", { role: "columnheader", class: "n" }, name)));
  table.append(head, ...found.hits.map((hit) => passage(hit, found.columns)));
  table.addEventListener("click", (event) => {
    const row = event.target.closest(".hit[data-passage]");
    if (!row || event.target.closest(".gw-cite")) return;
    event.preventDefault();
    show(found.hits.find((hit) => hit.id === row.dataset.passage), event.shiftKey);
  });
  const box = h("div", { class: "found" }, h("h3", {}, "Passages found"), table);
  if (!found.hits.length) table.replaceWith(h("p", { class: "muted" }, "None."));
  if (found.hits.length > FIRST) box.append(more(table, found.hits.length));
  return box;
}

function more(table, count) {
  const rows = () => [...table.querySelectorAll(".hit[data-passage]")].slice(FIRST);
  for (const row of rows()) row.hidden = true;
  const all = h("button", { type: "button", class: "gw-linkish" }, `Show all ${count}`);
  all.addEventListener("click", () => {
    const [first] = rows();
    for (const row of rows()) row.hidden = false;
    all.remove();
    first.querySelector("a").focus();
  });
  return all;
}

function passage(hit, columns) {
  const page = hit.last_label && hit.last_label !== hit.label ? `pp. ${hit.label}–${hit.last_label}` : `p. ${hit.label}`;
  const section = hit.section.at(-1) ?? "";
  const link = h("a", { href: `#passage-${hit.rank}`, "aria-label": `Passage ${hit.rank}: ${hit.title}, ${page}, ${section}` }, h("b", {}, page), section && ` ${section}`);
  const words = [hit.via, hit.queries.length && `query ${hit.queries.join(", ")}`].filter(Boolean).join("; ");
  const use = hit.source ? `source ${hit.source}${hit.cited.length ? `, cited as ${hit.cited.join(", ")}` : ""}` : "not given to the writer";
  return h(
    "div",
    { class: "hit", role: "row", "data-passage": hit.id },
    h(
      "span",
      { role: "cell", class: "what" },
      h("span", { class: "rank" }, String(hit.rank)),
      h("span", { class: "ti" }, link),
      h("span", { class: "of" }, hit.title),
      h("span", { class: "notes" }, words, h("span", { class: `use${hit.source ? "" : " off"}` }, use)),
    ),
    columns.map(({ step, name }) => number(name, hit.cells[step])),
    h("span", { role: "cell", class: "n sc", "data-name": "Score" }, h("b", {}, hit.score), h("span", { class: "gw-bar", "aria-hidden": "true" }, h("i", { style: `width:${hit.share * 100}%` }))),
  );
}

function number(name, cell) {
  if (!cell) return h("span", { role: "cell", class: "n", "data-name": name }, h("span", { class: "muted", title: "This step did not see it" }, "–"));
  return h("span", { role: "cell", class: "n", "data-name": name }, cell.score, cell.rank && h("small", { class: "muted" }, ordinal(cell.rank)));
}

function ordinal(n) {
  const last = n % 100 >= 11 && n % 100 <= 13 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th";
  return `${n.toLocaleString("en")}${last}`;
}

function show(hit, focus) {
  const place = { n: 0, doc: hit.doc, title: hit.title, page: hit.page, label: hit.label, boxes: hit.boxes, heads: [], quote: hit.quote, section: hit.section };
  openCitation({ turn: "", n: 0, citations: [place], peers: [], focus, passage: hit.id });
}

// The row whose passage the pane shows now.
export function markPassage(column, passage) {
  for (const row of column.querySelectorAll(".gw-why .hit[aria-current]")) row.removeAttribute("aria-current");
  if (!passage) return;
  for (const row of column.querySelectorAll(`.gw-why .hit[data-passage="${CSS.escape(passage)}"]`)) row.setAttribute("aria-current", "true");
}

// Time and the meaning of the numbers

function times(found) {
  const rows = found.steps.map(({ name, ms, share }) => [h("dt", {}, name), h("dd", {}, h("span", { class: "gw-bar", "aria-hidden": "true" }, h("i", { style: `width:${share * 100}%` })), h("span", { class: "num" }, ms))]);
  return h("div", { class: "times" }, h("h3", {}, "Time of each step"), h("dl", {}, rows.flat()));
}

function legend(found) {
  const terms = [...found.columns.map(({ name, means }) => [name, means]), ["Score", "what decided the order, 0 to 1; below a number stands its rank at that step"]];
  return h("div", { class: "legend" }, h("h3", {}, "What the numbers are"), h("dl", {}, terms.flatMap(([name, means]) => [h("dt", {}, name), h("dd", {}, means)])));
}
