// The table of measures: means, and of two runs the difference with its interval as a bar, and in words.

import { h, plural, svg } from "../shared/dom.js";

const WIDTH = 220;
const MIDDLE = WIDTH / 2;

// A group for each judge, under its name.
export function rows({ rows: found, runs }) {
  const judges = [...new Set(found.map(({ judge }) => judge))];
  return h("div", {}, judges.map((judge) => group(judge, found.filter((row) => row.judge === judge), runs.length > 1)));
}

function group(judge, found, two) {
  const head = two ? ["Measure", "A", "B", "", "Difference", "In words"] : ["Measure", "Mean", "Questions"];
  const table = (shown, label) => h("div", { class: "gw-scroll ms" }, h("table", { "aria-label": judge ? `${label}: ${judge}` : label }, h("thead", {}, h("tr", {}, head.map((words) => h("th", {}, words || h("span", { class: "gw-unseen" }, "Interval"))))), h("tbody", {}, shown.map((row) => (two ? beside(row) : alone(row))))));
  const equal = found.filter(({ difference }) => two && difference && !difference.better && !difference.worse);
  const others = found.filter((row) => !equal.includes(row));
  const folded = equal.length > 0 && h("details", { class: "eq", open: !others.length }, h("summary", {}, `The same for every question: ${plural(equal.length, "measure")}`), table(equal, "Equal measures"));
  return h("section", {}, judge && h("h2", {}, judge), others.length > 0 && table(others, "Measures"), folded);
}

function name({ title, lower }) {
  return h("th", { scope: "row" }, title, lower && h("small", {}, "lower is better"));
}

function alone(row) {
  return h("tr", {}, name(row), h("td", { class: "num" }, row.means[0]), h("td", { class: "num muted" }, row.n.toLocaleString("en")));
}

function beside(row) {
  const { difference } = row;
  const cells = row.means.map((mean) => h("td", { class: "num" }, mean));
  if (!difference) return h("tr", {}, name(row), cells, h("td"), h("td"), h("td", { class: "muted" }, "Not in both runs."));
  const { mean, low, high, verdict, words } = difference;
  const signed = signs(Math.max(Math.abs(low), Math.abs(high)));
  const said = { better: "B better", worse: "B worse" }[verdict] ?? (mean ? "No clear difference" : "Equal");
  return h("tr", {}, name(row), cells, h("td", {}, bar(difference)), h("td", { class: "num" }, signed(mean), h("small", {}, `${signed(low)} to ${signed(high)}`)), h("td", { class: `wd ${verdict}` }, h("b", {}, said), h("small", {}, words)));
}

// Numbers of one row with the same decimals: as many as its largest needs.
function signs(largest) {
  const decimals = largest && largest < 0.5 ? Math.min(4, Math.ceil(1 - Math.log10(largest))) : 1;
  return (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(decimals)}`;
}

// The interval on the row's own scale, no difference in the middle; the mark's form says what its colour does.
function bar({ mean, low, high, verdict }) {
  const scale = (MIDDLE - 8) / Math.max(Math.abs(low), Math.abs(high), 1e-9);
  const x = (value) => (MIDDLE + value * scale).toFixed(1);
  const mark = verdict === "worse" ? svg("path", { d: `M${x(mean)} 6l5 5-5 5-5-5z` }) : svg("circle", { cx: x(mean), cy: 11, r: 4.5 });
  const ends = [low, high].map((end) => svg("path", { d: `M${x(end)} 6v10`, class: "end" }));
  return svg("svg", { width: WIDTH, height: 22, class: `iv ${verdict || "even"}`, "aria-hidden": "true" }, svg("path", { d: `M${MIDDLE} 1v20`, class: "zero" }), svg("path", { d: `M${x(low)} 11H${x(high)}`, class: "span" }), ...ends, mark);
}
