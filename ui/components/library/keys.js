// The keys of the Library, and their list.

import { typing } from "../shared/dom.js";
import { listKeys } from "../shared/key_list.js";
import { free } from "../shared/keys.js";

const KEYS = [
  ["Everywhere", [["/", "Search documents"], ["Ctrl Z", "Undo the removal"], ["?", "This list"], ["Esc", "Close the document, or clear the selection"]]],
  ["Documents", [["↓", "Next document"], ["↑", "Previous document"], ["Home", "First document"], ["End", "Last document"], ["Enter", "Open the document"], ["Space", "Select the document"], ["Shift Space", "Select up to here"], ["Delete", "Remove the selected documents"]]],
  ["Document", [["→", "Next tab"], ["←", "Previous tab"]]],
];

// Arrow keys go from row to row, Space selects, Delete removes.
export function rowKey(library, event) {
  const row = event.target.closest("tbody tr");
  if (!row || event.target.matches(".gw-field")) return;
  const shown = library.shownIds();
  const at = shown.indexOf(row.dataset.doc);
  const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 };
  if (event.key in places && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    const id = shown[Math.min(Math.max(places[event.key], 0), shown.length - 1)];
    const part = event.target.dataset.f === "check" ? "check" : "title";
    library.rows.get(id).element.querySelector(`[data-f="${part}"]`).focus();
    if (event.shiftKey) library.check(id, true, false);
  } else if (event.key === " " && event.target.dataset.f === "title") {
    event.preventDefault();
    library.check(row.dataset.doc, !library.chosen.has(row.dataset.doc), event.shiftKey);
  } else if (event.key === "Delete") {
    event.preventDefault();
    library.remove(library.chosen.has(row.dataset.doc) ? [...library.chosen] : [row.dataset.doc]);
  }
}

export function pageKey(library, event) {
  if (event.key === "Escape" && !event.defaultPrevented) {
    if (!library.drawer.element.hidden) library.drawer.close();
    else if (library.chosen.size && !typing(event)) library.chooseAll(false);
  } else if (event.key === "/" && free(event)) {
    event.preventDefault();
    library.toolbar.search.focus();
  } else if (event.key === "?" && free(event)) {
    event.preventDefault();
    listKeys(KEYS);
  } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
    library.toast.undo();
  }
}
