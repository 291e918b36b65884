// The page's parts, without what is in them: bar, settings, plot, comparison, table, the open chunk.

import { h, icon, plural } from "../shared/dom.js";
import { NUMBERS, VIEWS } from "./address.js";

const LEGEND = [
  ["both", "both searches", true],
  ["vector", "meaning only", true],
  ["bm25", "words only", true],
  ["fused", "both together", true],
  ["segment", "filled in by a segment", true],
  ["table", "row of a table", true],
  ["neighbour", "beside a passage", true],
  ["vector", "hollow: found, not given", false],
  ["unseen", "not found", false],
];

// `two` is the comparison of A and B; `events`: ask(question), change(part of the state), drag("zoom" or "select"),
// whole()
export function sheet(root, question, two, events) {
  const parts = { root };
  parts.question = h("input", { class: "gw-field q", type: "search", "aria-label": "Question", placeholder: "A question, to see what finds its answer", value: question, maxlength: "4000" });
  parts.where = h("span", {});
  parts.picker = h("div", { class: "gw-xdocs" });
  parts.scope = h("details", { class: "where" }, h("summary", { class: "gw-btn" }, icon("description", "s16"), parts.where), parts.picker);
  parts.said = h("span", { class: "said muted num", role: "status" });
  const bar = h("form", { class: "qb", role: "search", "aria-label": "Question", onsubmit: (event) => (event.preventDefault(), events.ask(parts.question.value)) }, parts.question, parts.scope, h("button", { type: "submit", class: "gw-btn primary" }, "Search"), h("span", { class: "sp" }), parts.said);
  parts.side = h("aside", { class: "ctl", "aria-label": "Settings", hidden: true });
  parts.note = h("div", { class: "note" });
  parts.list = h("section", { class: "list", "aria-label": "Chunks" });
  parts.shown = h("div", { class: "shown", hidden: true }, plotted(parts, events), two, parts.list);
  parts.aside = h("aside", { class: "pas", "aria-label": "Selected chunk", hidden: true });
  root.replaceChildren(bar, parts.side, h("div", { class: "cv" }, parts.note, parts.shown), parts.aside);
  return parts;
}

function plotted(parts, events) {
  const group = (label, names, key) => {
    const buttons = Object.entries(names).map(([value, name]) => h("button", { type: "button", "data-value": value, onclick: () => events.change({ [key]: value, view: null }) }, name));
    return h("span", { class: "seg", role: "group", "aria-label": label }, buttons);
  };
  const tool = (mode, name) => h("button", { type: "button", class: "gw-btn quiet sm", "aria-pressed": String(mode === "zoom"), onclick: () => events.drag(mode) }, name);
  parts.chart = h("div", { class: "chart" });
  parts.views = group("What is shown", VIEWS, "axis");
  parts.numbers = group("Height of a point", NUMBERS, "measure");
  parts.colours = group("Colour", { documents: "by document", relevance: "by nearness" }, "colour");
  parts.zooming = tool("zoom", "Zoom");
  parts.selecting = tool("select", "Select");
  parts.whole = h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => events.whole() }, "Whole view");
  parts.title = h("h1", {}, "Relevance along the documents");
  parts.hues = h("ul", { class: "lg hues", "aria-label": "Colours of the documents", hidden: true });
  parts.wrap = h("div", { class: "plot", role: "img", tabindex: "-1" }, parts.chart);
  return h(
    "section",
    { class: "first", "aria-label": "Plot" },
    h("div", { class: "ph wide" }, parts.title, parts.views),
    h("ul", { class: "lg" }, LEGEND.map(([step, words, filled]) => h("li", {}, h("i", { class: `dot ${step}${filled ? " in" : ""}`, "aria-hidden": "true" }), words))),
    h("div", { class: "tools" }, parts.numbers, parts.colours, h("span", { class: "sp" }), parts.zooming, parts.selecting, parts.whole),
    parts.hues,
    parts.wrap,
  );
}

// Which colour is which document's, where the plot has such colours: [title, colour].
export function name(parts, documents = []) {
  parts.hues.hidden = documents.length < 2;
  parts.hues.replaceChildren(...documents.map(([title, hue]) => h("li", {}, h("i", { class: "dot hue", style: `--c:${hue}`, "aria-hidden": "true" }), title)));
}

// What is shown of the plot beside it, and in its name: the `axis`, of `one` document or several, with how much chosen.
export function label(parts, { measure, colour, view }, axis, one, stats) {
  for (const [box, value] of [[parts.views, axis], [parts.numbers, measure], [parts.colours, colour]]) for (const item of box.children) item.setAttribute("aria-pressed", String(item.dataset.value === value));
  parts.numbers.hidden = axis === "map";
  parts.colours.hidden = axis !== "map";
  parts.whole.hidden = !view;
  parts.title.textContent = axis === "map" ? "Map of chunks, near ones alike" : `Relevance along the document${one ? "" : "s"}`;
  parts.wrap.setAttribute("aria-label", `${parts.title.textContent}: ${plural(stats.segments, "segment")} chosen, ${plural(stats.given, "chunk")} given to the writer; the table below has the same points`);
}

// The size of the plot, which is not there before the first answer: what the columns beside it will leave.
export function room(chart) {
  const beside = innerWidth > 900 ? 236 + (innerWidth > 1360 ? 340 : 290) + 48 : 32;
  return { width: Math.max(300, chart.clientWidth || innerWidth - beside), height: Math.max(200, chart.clientHeight || 360) };
}
