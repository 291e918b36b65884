// The keys of the page viewer, and the list of all keys of the app.

import { h } from "../shared/dom.js";
import { free, setSingleKeys, singleKeys } from "../shared/keys.js";
import { paneShown, showPane, toggleSide } from "../shared/layout.js";

const LIST = [
  ["Everywhere", [["/", "Search conversations"], ["[", "Hide or show the sidebar"], ["]", "Hide or show the page"], ["?", "This list"], ["Esc", "Close what is open"]]],
  ["Citations", [["n", "Next citation"], ["p", "Previous citation"], ["Tab", "To the next chip"], ["Enter", "Open the citation"], ["Shift Enter", "Open it and go to the page"], ["c", "Copy the link of the citation, on its chip"]]],
  ["Page", [["g", "Go to a page label"], ["+", "Zoom in"], ["−", "Zoom out"], ["0", "Fit width"], ["9", "Fit page"], ["r", "Rotate"], ["o", "Outline"], ["Ctrl F", "Find, while the page has the focus"]]],
];

// What a key does; `pane` is the page viewer.
export function act(pane, event) {
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
    o: () => pane.side.choose(pane.side.chosen === "outline" ? "thumbs" : "outline"),
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

// The list as a dialog over the page; the browser keeps the focus in it and closes it at Escape.
export function help() {
  const known = document.querySelector("dialog.gw-keys");
  if (known) return;
  const single = h("input", { type: "checkbox", onchange: () => setSingleKeys(single.checked) });
  single.checked = singleKeys();
  const close = h("button", { type: "button", class: "gw-btn sm", onclick: () => dialog.close() }, "Close");
  const groups = LIST.map(([name, keys]) =>
    h("section", {}, h("h3", {}, name), h("dl", {}, keys.map(([key, what]) => h("div", {}, h("dt", {}, key.split(" ").map((part) => h("kbd", {}, part))), h("dd", {}, what))))),
  );
  const dialog = h(
    "dialog",
    { class: "gw-keys", "aria-labelledby": "gw-keys-title", onclose: () => dialog.remove(), onkeydown: (event) => event.stopPropagation(), onclick: (event) => event.target === dialog && dialog.close() },
    h("div", { class: "in" }, h("h2", { id: "gw-keys-title" }, "Keyboard"), h("div", { class: "cols" }, groups), h("div", { class: "row" }, h("label", {}, single, "Single keys work while no field has the focus"), h("span", { class: "sp" }), close)),
  );
  (document.querySelector(".stApp") ?? document.body).append(dialog);
  dialog.showModal();
}
