// The keys of Chat, of Check, of Grid, and of their page viewer.

import { listKeys } from "../shared/key_list.js";
import { free } from "../shared/keys.js";
import { paneShown, showPane, toggleSide } from "../shared/layout.js";

const LIST = [
  ["Everywhere", [["/", "Search conversations"], ["[", "Hide or show the sidebar"], ["]", "Hide or show the page"], ["?", "This list"], ["Esc", "Close"], ["1 2 3 4", "Ask a suggested question, in a new conversation"]]],
  ["Citations", [["n", "Next citation"], ["p", "Previous citation"], ["Tab", "Next citation mark"], ["Enter", "Open the citation"], ["Shift Enter", "Open it and go to the page"], ["c", "Copy the link of the citation in focus"]]],
  ["Page", [["g", "Go to a page label"], ["+", "Zoom in"], ["−", "Zoom out"], ["0", "Fit width"], ["9", "Fit page"], ["r", "Rotate"], ["o", "Contents"], ["Ctrl F", "Find on the page in focus"]]],
];

const OF_CHECK = [
  ["Draft", [["n", "Next problem"], ["p", "Previous problem"], ["Enter", "Write the documents’ words"], ["a", "Add a note"], ["Esc", "Leave as it is, close"], ["Ctrl Z", "Take back the last decision"], ["]", "Hide or show the page"], ["?", "This list"]]],
  LIST[2],
];

const OF_GRID = [
  ["Table", [["← → ↑ ↓", "Another cell"], ["Home End", "First, last column; with Ctrl first, last cell"], ["Enter", "Open its place, or the menu of a column"], ["Shift Enter", "Open it and go to the page"], ["Space", "Accept"], ["e", "Correct"], ["Ctrl C", "Copy with its source"], ["Ctrl Z", "Take back the last decision"], ["+", "Add a column"], ["Esc", "Close the cell"], ["]", "Hide or show the page"], ["?", "This list"]]],
  LIST[2],
];

// What a key does; `pane` is the page viewer.
function act(pane, event) {
  if (!(pane.document || pane.cited)) return null;
  return {
    n: () => pane.step(1),
    p: () => pane.step(-1),
    g: () => pane.toLabelBox(),
    "+": () => pane.zoom(1),
    "=": () => pane.zoom(1),
    "-": () => pane.zoom(-1),
    0: () => pane.pages.setFit("width"),
    9: () => pane.pages.setFit("page"),
    r: () => pane.rotate(),
    o: () => pane.side.choose(pane.side.chosen === "contents" ? "thumbs" : "contents"),
  }[event.key];
}

export function pressed(pane, event) {
  if (event.key === "Escape") return pane.drawer(false);
  if (!free(event)) return;
  const done = { "?": () => help(), "[": toggleSide, "]": () => showPane(!paneShown()) }[event.key] ?? act(pane, event);
  if (!done) return;
  event.preventDefault();
  done();
}

export const help = () => listKeys(document.querySelector(".gw-check") ? OF_CHECK : document.querySelector(".gw-grid") ? OF_GRID : LIST);
