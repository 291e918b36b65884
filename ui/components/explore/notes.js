// What stands in place of the plot, or above it: how to begin, that the first result is being computed, what went wrong.

import { h, icon, prose } from "../shared/dom.js";

const EXAMPLES = 3;

// `ask(text)` asks an example.
export function invitation({ ready, examples, ask }) {
  const words = ready ? "Every chunk of your documents is a point: how relevant it is, which search found it, and why it was chosen or not." : "Add a PDF in the Library first; it is read and indexed there.";
  return h(
    "div",
    { class: "gw-empty" },
    icon("search"),
    h("b", {}, ready ? "See what a question finds" : "No document is indexed yet"),
    h("p", {}, words),
    ready && h("ul", { class: "eg" }, examples.slice(0, EXAMPLES).map((text) => h("li", {}, h("button", { type: "button", class: "gw-btn", onclick: () => ask(text) }, text)))),
  );
}

export function waiting(documents) {
  const where = documents === 1 ? "the document" : `the ${documents.toLocaleString("en")} documents`;
  return h(
    "div",
    { class: "wait", role: "status" },
    h("p", {}, h("span", { class: "gw-spin" }), h("b", {}, `Comparing the question with every chunk of ${where}`)),
    h("p", { class: "muted" }, "Then the best passages are read side by side with it."),
    h("div", { class: "frame", "aria-hidden": "true" }),
  );
}

// `kept`: what was found before is still shown below.
export function failure(error, kept) {
  const [message, hint] = error.hint === undefined ? [error.message || "Explore failed.", "Reload the page."] : [error.message, error.hint];
  const more = kept ? " What is shown below is what was found before." : "";
  return h("div", { class: "gw-msg bad", role: "alert" }, icon("error"), h("div", {}, h("b", {}, prose(message)), h("p", {}, prose(`${hint}${more}`))));
}

export const counted = (stats) => `${stats.chunks.toLocaleString("en")} chunks, ${stats.weighed.toLocaleString("en")} weighed, ${stats.hits} found, ${stats.given} given in ${stats.ms} ms`;
