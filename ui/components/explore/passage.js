// The chunk that is open: its words, every score, and why it was chosen or not.

import { openCitation } from "../shared/bus.js";
import { copy } from "../shared/clipboard.js";
import { button, h, icon } from "../shared/dom.js";
import { pathOf } from "../shared/path.js";

// `events`: step(by), page(open or closed), light(the sentence of a step)
export function passage(root, found, { step, page, light, opened, kinds }) {
  const mark = kinds ? `${found.step}${found.given ? " in" : ""}` : found.use || "unseen";
  const copied = h("span", { class: "gw-unseen", role: "status" });
  const toggle = h("button", { type: "button", class: "gw-btn", "aria-pressed": String(opened), onclick: () => page(!opened) }, icon("description", "s16"), opened ? "Close page" : "Open page");
  root.replaceChildren(
    h(
      "div",
      { class: "ph" },
      h("h2", { class: "num" }, `Chunk ${found.chunk}`),
      h("span", { class: "muted num" }, found.pages),
      h("span", { class: "sp" }),
      button("Chunk before it", "keyboard_arrow_up", () => step(-1)),
      button("Chunk after it", "keyboard_arrow_down", () => step(1)),
    ),
    h("p", { class: "sec muted", title: [...found.path].join(" › ") }, [found.title, found.section].filter(Boolean).join(" › ")),
    h("p", { class: `fate ${found.given ? "in" : ""}` }, h("i", { class: `dot ${mark}`, "aria-hidden": "true" }), kinds ? `${found.by}; ${found.fate}` : found.use || "not found"),
    h("p", { class: "why" }, found.why),
    found.reached ? pathOf(found.reached, light) : "",
    h(
      "dl",
      { class: "sc num" },
      found.scores.map(({ name, value, rank, total }) => h("div", { class: total && "tt" }, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "rk" }, rank))),
    ),
    h(
      "div",
      { class: "cb" },
      toggle,
      h("button", { type: "button", class: "gw-btn quiet", onclick: async () => (copied.textContent = (await copy(found.quote)) ? "Copied" : "The browser blocked it") }, icon("content_copy", "s16"), "Copy"),
      copied,
    ),
    h("div", { class: "quote" }, found.quote.split(/\n+/).slice(0, 40).map((line) => h("p", {}, line))),
  );
}

export function lightOnPage(found, focus) {
  const place = { n: 0, doc: found.doc, title: found.title, page: found.page, label: found.label, boxes: found.boxes, heads: [], quote: found.quote.slice(0, 300), section: found.path };
  openCitation({ turn: "", n: 0, citations: [place], peers: [], focus });
}
