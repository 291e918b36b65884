// How an answer was searched for: with what words and where, what was read, and how long each step took.

import { answered, get } from "../shared/api.js";
import { h, plural, prose } from "../shared/dom.js";
import { pathOf } from "../shared/path.js";

// `light(citation)` opens the sentence of a step.
export async function how(body, { c, turn }, light) {
  const found = await answered(() => get(`/conversations/${c}/questions/${turn}/why`));
  if (found.refused) body.replaceChildren(h("p", { class: "gw-hint", role: "alert" }, prose(`${found.refused.message} ${found.refused.hint}`)));
  else body.replaceChildren(facts(found, light), times(found.steps));
}

function facts(found, light) {
  const rows = [["Searched for", queries(found.queries)], ["Searched", found.within]];
  if (found.routes.length) rows.push(["Preferred", routes(found)]);
  if (found.read) rows.push(["Read", found.read]);
  for (const note of found.notes) rows.push(["Skipped", note]);
  rows.push(["Given to the writer", found.given]);
  if (found.paths.length) rows.push([found.paths[0].path.over === "tree" ? "Down the tree" : "Reached through names", paths(found.paths, light)]);
  return h("dl", { class: "facts" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function queries(items) {
  const one = ({ text, how: by, reason }) => [`“${text}”`, h("span", { class: "muted" }, ` ${[by, reason].filter(Boolean).join(": ")}`)];
  if (items.length === 1) return one(items[0]);
  return h("ol", {}, items.map((item, i) => h("li", {}, h("b", { class: "num" }, `${i + 1} `), ...one(item))));
}

function routes({ routes: items, more_routes: more }) {
  const list = items.map(({ title, reason, prior }) => h("li", {}, title, h("span", { class: "muted num" }, ` ${reason} (${prior})`)));
  if (more) list.push(h("li", { class: "muted" }, `and ${plural(more, "other document")}`));
  return h("ul", {}, list);
}

function paths(items, light) {
  return h("ul", { class: "paths" }, items.map(({ source, where, path }) => h("li", {}, h("p", {}, h("b", { class: "num" }, `Source ${source} `), where), pathOf(path, light))));
}

function times(steps) {
  const rows = steps.map(({ name, ms, share }) => [h("dt", {}, name), h("dd", {}, h("span", { class: "gw-bar", "aria-hidden": "true" }, h("i", { style: `width:${share * 100}%` })), h("span", { class: "num" }, ms))]);
  return h("dl", { class: "times" }, rows.flat());
}
