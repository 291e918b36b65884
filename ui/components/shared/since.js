// Words that have changed since they were cited: the mark beside them, and the old words beside the new ones.

import { h, icon } from "./dom.js";
import { oneLine, quoted, where } from "./quoted.js";

const SINCE = "Words changed since";

export const hasChanged = (citation) => Boolean(citation?.changed && !citation.changed.same);

export const sinceMark = (more = {}, tag = "span") => h(tag, { class: "gw-st weak gw-since", ...more }, icon("history", "s16"), SINCE);

// Chips of citations whose words have changed say so.
export function markChips(root, citations) {
  for (const { n } of citations.filter(hasChanged)) {
    for (const chip of root.querySelectorAll(`a.gw-cite[data-n="${n}"]`)) {
      if (chip.classList.contains("changed")) continue;
      chip.classList.add("changed");
      chip.setAttribute("aria-label", `${chip.getAttribute("aria-label")}, words changed since`);
    }
  }
}

// Old words and new words. `open(now)` opens the page of the old ones, or of the ones that are there `now`; without it
// they are only told. `at` is the side whose page is open.
export function sinceSides(citation, open = null, at = "then") {
  const { old, now } = citation.changed;
  const press = (name) => open && { "aria-pressed": String(at === name), onclick: () => open(name === "now") };
  return h(
    "div",
    { class: "gw-sides" },
    side("then", "Then", told(citation, old), citation, press("then")),
    now ? side("now", "Now", told(now, now.quote), now, press("now")) : side("now", "Now", "Nothing like it stands there any more."),
  );
}

export const told = (place, words) => (place.cell ? `${place.cell}: ${oneLine(words)}` : quoted(oneLine(words)));

// One of two sides: words and their place; with `more`, as what `onclick` does, a button.
export function side(name, title, words, place = null, more = null) {
  const parts = [h("b", {}, title), h("span", { class: "w" }, words), place && h("span", { class: "num" }, where(place))];
  return more ? h("button", { type: "button", "data-side": name, ...more }, parts) : h("div", { "data-side": name }, parts);
}
