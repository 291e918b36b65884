// What stands in place of the plot, or above it: how to begin, that the first result is being computed, what went wrong.

import { errorBox, h, icon } from "../shared/dom.js";

// `ask(text)` asks an example, `again(item)` looks at a question that was asked before.
export function invitation({ ready, asked, examples, ask, again }) {
  const words = ready ? "Each point is a passage of your documents. Choose a question, or type one." : "Add a file in the Library, or wait until one is read.";
  const choice = (text, chosen) => h("li", {}, h("button", { type: "button", class: "gw-btn", onclick: chosen }, text));
  return h(
    "div",
    { class: "gw-empty" },
    icon("search"),
    h("b", {}, ready ? "See what a question finds" : "No document is ready yet"),
    h("p", {}, words),
    ready && h("ul", { class: "eg" }, asked.map((item) => choice(item.question, () => again(item))), examples.map((text) => choice(text, () => ask(text)))),
  );
}

export function waiting(documents) {
  const where = documents === 1 ? "the document" : `the ${documents.toLocaleString("en")} documents`;
  return h(
    "div",
    { class: "wait", role: "status" },
    h("p", {}, h("span", { class: "gw-spin" }), h("b", {}, `Comparing the question with every passage of ${where}`)),
    h("p", { class: "muted" }, "Then the best passages are read together with it."),
    h("div", { class: "frame", "aria-hidden": "true" }),
  );
}

// `kept`: what was found before is still shown below.
export function failure(error, kept) {
  const [message, hint] = error.hint === undefined ? [error.message || "Explore failed.", "Reload the page."] : [error.message, error.hint];
  return errorBox({ message, hint: kept ? `${hint} Below are the earlier results.` : hint });
}

// The questions that were asked, the one that is looked at marked.
export function questions(root, asked, turn, again) {
  root.hidden = !asked.length;
  root.replaceChildren(
    h("h2", {}, "Questions"),
    h("ul", {}, asked.map((item) => h("li", {}, h("button", { type: "button", "aria-current": item.turn === turn ? "true" : null, title: item.question, onclick: () => again(item) }, item.question)))),
  );
}

export const counted = (stats) => `Searched ${stats.chunks.toLocaleString("en")} chunks, weighed ${stats.weighed.toLocaleString("en")}, found ${stats.hits}, gave the writer ${stats.given}, in ${stats.ms} ms`;
