// What the next question is narrowed to, beside the input: each part with a button that removes it.

import { configure } from "../shared/api.js";
import { composer, h, icon } from "../shared/dom.js";

export function mount({ parentElement, data, tell }) {
  configure(data);
  const root = parentElement.querySelector(".gw-chips");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Filters for the next question");
  const remove = (part) => {
    tell("removed", { part, conversation: data.conversation });
    composer()?.focus(); // the button is about to go
  };
  const back = (part) => (part === "mode" ? "Search as usual again" : `Search all ${part} again`);
  const parts = Object.entries(data.shown).filter(([, words]) => words);
  root.replaceChildren(
    icon("filter_list", "s16"),
    ...parts.map(([part, words]) =>
      h(
        "span",
        { class: "gw-chip", "data-part": part },
        h("span", { title: data.whole[part] }, words[0].toUpperCase() + words.slice(1)),
        h("button", { type: "button", "aria-label": back(part), title: back(part), onclick: () => remove(part) }, icon("close", "s14")),
      ),
    ),
  );
}
