// The list of a page's keys, which `?` opens.

import { h } from "./dom.js";
import { setSingleKeys, singleKeys } from "./keys.js";

// `list`, [[group, [[keys, what they do], ...]], ...], as a dialog over the page; the browser keeps the focus in it and
// closes it at Escape.
export function listKeys(list) {
  const known = document.querySelector("dialog.gw-keys");
  if (known) return;
  const single = h("input", { type: "checkbox", onchange: () => setSingleKeys(single.checked) });
  single.checked = singleKeys();
  const close = h("button", { type: "button", class: "gw-btn sm", onclick: () => dialog.close() }, "Close");
  const groups = list.map(([name, keys]) =>
    h("section", {}, h("h3", {}, name), h("dl", {}, keys.map(([key, what]) => h("div", {}, h("dt", {}, key.split(" ").map((part) => h("kbd", {}, part))), h("dd", {}, what))))),
  );
  const dialog = h(
    "dialog",
    { class: "gw-keys", "aria-labelledby": "gw-keys-title", onclose: () => dialog.remove(), onkeydown: (event) => event.stopPropagation(), onclick: (event) => event.target === dialog && dialog.close() },
    h("div", { class: "in" }, h("h2", { id: "gw-keys-title" }, "Keyboard"), h("div", { class: "cols" }, groups), h("div", { class: "row" }, h("label", {}, single, "Single keys work when you aren’t typing in a field"), h("span", { class: "sp" }), close)),
  );
  (document.querySelector(".stApp") ?? document.body).append(dialog);
  dialog.showModal();
}
