// The page's parts, without what is in them: bar, settings, plot, comparison, table, the open chunk.

import { h, icon, plural } from "../shared/dom.js";
import { NUMBERS, VIEWS } from "./address.js";

const USES = [
  ["cited", "cited in the answer", true],
  ["used", "given to the writer", true],
  ["found", "found", false],
  ["unseen", "not found", false],
];
const NODES = [
  ["asked", "your words", true],
  ["name", "name", true],
  ["cited sq", "passage cited in the answer", true],
  ["used sq", "passage given to the writer", true],
  ["found sq", "other passage", false],
  ["same", "in one sentence", true],
  ["way", "path taken", true],
];
const KINDS = [
  ["both", "both searches", true],
  ["vector", "meaning only", true],
  ["bm25", "words only", true],
  ["graph", "through names", true],
  ["structure", "through a tree or graph", true],
  ["fused", "both together", true],
  ["segment", "filled in by a segment", true],
  ["table", "row of a table", true],
  ["neighbour", "beside a passage", true],
  ["vector", "hollow: found, not for the writer", false],
  ["unseen", "not found", false],
];

// `two` is the comparison of A and B; `events`: ask(question), change(part of the state), drag("zoom" or "select"),
// whole(), how(body) to fill what tells how an answer was searched for
export function sheet(root, question, two, events) {
  const parts = { root };
  parts.question = h("input", { class: "gw-field q", type: "search", "aria-label": "Question", placeholder: "Type a question to see how it’s searched", value: question, maxlength: "4000" });
  parts.where = h("span", {});
  parts.picker = h("div", { class: "gw-xdocs" });
  parts.scope = h("details", { class: "where" }, h("summary", { class: "gw-btn" }, icon("description", "s16"), parts.where), parts.picker);
  parts.said = h("span", { class: "said muted num", role: "status" });
  const bar = h("form", { class: "qb", role: "search", "aria-label": "Question", onsubmit: (event) => (event.preventDefault(), events.ask(parts.question.value)) }, parts.question, parts.scope, h("button", { type: "submit", class: "gw-btn primary" }, "Search"), h("span", { class: "sp" }), parts.said);
  parts.asked = h("section", { class: "asked", "aria-label": "Questions" });
  parts.settings = h("div");
  parts.moved = h("details", { class: "more" }, h("summary", {}, icon("chevron_right", "s16"), "Settings"), parts.settings);
  parts.side = h("aside", { class: "ctl", "aria-label": "Questions and settings", hidden: true }, parts.asked, parts.moved);
  parts.note = h("div", { class: "note" });
  parts.list = h("section", { class: "list", "aria-label": "Chunks" });
  parts.how = h("details", { class: "how", hidden: true }, h("summary", {}, icon("chevron_right", "s16"), "How it was searched"), h("div", { class: "body" }));
  parts.how.addEventListener("toggle", () => parts.how.open && events.how(parts.how.lastChild));
  parts.shown = h("div", { class: "shown", hidden: true }, plotted(parts, events), parts.how, two, parts.list);
  parts.aside = h("aside", { class: "pas", "aria-label": "Selection", hidden: true });
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
  parts.tools = h("div", { class: "tools" }, parts.numbers, parts.colours, h("span", { class: "sp" }), parts.zooming, parts.selecting, parts.whole);
  parts.title = h("h1", {}, "Relevance along the documents");
  parts.legend = h("ul", { class: "lg" });
  parts.kinds = h("button", { type: "button", class: "gw-linkish", onclick: () => events.change({ kinds: parts.kinds.getAttribute("aria-expanded") !== "true" }) });
  parts.hues = h("ul", { class: "lg hues", "aria-label": "Colours of the documents", hidden: true });
  parts.wrap = h("div", { class: "plot", role: "img", tabindex: "-1" }, parts.chart);
  parts.net = h("div", { class: "net", hidden: true });
  return h(
    "section",
    { class: "first", "aria-label": "Plot" },
    h("div", { class: "ph wide" }, parts.title, parts.views),
    h("div", { class: "ph" }, parts.legend, parts.kinds),
    parts.tools,
    parts.hues,
    parts.wrap,
    parts.net,
  );
}

// Which colour is which document's, where the plot has such colours: [title, colour].
export function name(parts, documents = []) {
  parts.hues.hidden = documents.length < 2;
  parts.hues.replaceChildren(...documents.map(([title, hue]) => h("li", {}, h("i", { class: "dot hue", style: `--c:${hue}`, "aria-hidden": "true" }), title)));
}

// What is shown of the plot beside it, and in its name: the `axis`, of `one` document or several, with how much chosen.
export function label(parts, { measure, colour, view, kinds, turn }, axis, one, stats, connected) {
  const names = axis === "connections";
  for (const [box, value] of [[parts.views, axis], [parts.numbers, measure], [parts.colours, colour]]) for (const item of box.children) item.setAttribute("aria-pressed", String(item.dataset.value === value));
  parts.views.querySelector('[data-value="connections"]').hidden = !connected;
  parts.wrap.hidden = parts.kinds.hidden = names;
  parts.net.hidden = !names;
  const legend = names ? NODES.filter(([name]) => turn || name !== "cited sq") : kinds ? KINDS : USES.filter(([name]) => turn || name !== "cited");
  parts.legend.replaceChildren(...legend.map(([step, words, filled]) => h("li", {}, h("i", { class: `dot ${step}${filled ? " in" : ""}`, "aria-hidden": "true" }), words)));
  parts.kinds.textContent = kinds ? "Show less" : "Show what found each";
  parts.kinds.setAttribute("aria-expanded", String(Boolean(kinds)));
  parts.tools.hidden = names || (!kinds && axis !== "map");
  parts.numbers.hidden = axis === "map";
  parts.colours.hidden = axis !== "map";
  parts.whole.hidden = !view;
  parts.title.textContent = names ? "Names and passages that the question leads to" : axis === "map" ? "Map of chunks, near ones alike" : `Relevance along the document${one ? "" : "s"}`;
  parts.wrap.setAttribute("aria-label", `${parts.title.textContent}: ${plural(stats.segments, "segment")} chosen, ${plural(stats.given, "chunk")} given to the writer; the table below has the same points`);
}

// The size of the plot, which is not there before the first answer: what the columns beside it will leave.
export function room(chart) {
  const beside = innerWidth > 900 ? 236 + (innerWidth > 1360 ? 340 : 290) + 48 : 32;
  return { width: Math.max(300, chart.clientWidth || innerWidth - beside), height: Math.max(200, chart.clientHeight || 360) };
}
