// The way to a source over names: its steps as chips, of which each opens the page with its sentence lit.

import { h } from "./dom.js";

// `open(citation)` gets what the pane takes: all sentences of the path, so that it leads from one to the next.
export function pathOf({ id, steps }, open) {
  const places = steps.map(({ place }) => place).filter(Boolean);
  const chip = ({ name, how, where, place }) => {
    const words = [h("b", {}, name), h("span", { class: "num" }, ` (${[how, where].filter(Boolean).join(", ")})`)];
    if (!place) return h("span", { class: "step" }, words);
    const pressed = ({ detail }) => open({ turn: id, n: place.n, citations: places, peers: [], focus: detail === 0 });
    const label = words.map((part) => part.textContent).join("");
    return h("button", { type: "button", class: "step", "data-path": id, "data-n": place.n, "aria-label": label, title: place.quote, onclick: pressed }, words);
  };
  return h("ol", { class: "gw-path", "aria-label": "How it was reached" }, steps.map((step) => h("li", {}, chip(step))));
}

// The steps under `root` that open this sentence: a path may be shown twice.
export const stepsAt = (root, { turn, n }) => [...root.querySelectorAll("[data-path]")].filter(({ dataset }) => dataset.path === turn && Number(dataset.n) === n);

// Marks those whose sentence is lit.
export function markStep(root, lit) {
  for (const step of root.querySelectorAll("[data-path][aria-current]")) step.removeAttribute("aria-current");
  for (const step of stepsAt(root, lit)) step.setAttribute("aria-current", "step");
}
