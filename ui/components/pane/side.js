// The side of the page viewer: thumbnails or the contents, by two tabs, and the list of keys below.

import { button, h, icon } from "../shared/dom.js";
import { NARROW } from "../shared/side.js";
import { help } from "./keyboard.js";

const KEY = "gw.side";
const TABS = [
  ["thumbs", "Thumbnails", "gallery_thumbnail"],
  ["contents", "Contents", "format_list_bulleted"],
];

export class Side {
  // `opened(name)` is called when a tab comes to the front.
  constructor(root, opened) {
    this.root = root;
    this.opened = opened;
    this.tabs = TABS.map(([name, label, picture]) =>
      h("button", { type: "button", role: "tab", id: `gw-tab-${name}`, "aria-label": label, title: label, "aria-controls": `gw-side-${name}`, "data-tab": name, onclick: () => this.choose(name) }, icon(picture, "s16")),
    );
    this.thumbs = h("div", { class: "rail", role: "tabpanel", id: "gw-side-thumbs", "aria-labelledby": "gw-tab-thumbs" });
    this.contents = h("div", { class: "contents gw-scroll", role: "tabpanel", id: "gw-side-contents", "aria-labelledby": "gw-tab-contents", hidden: true });
    this.element = h(
      "div",
      { class: "side" },
      h("div", { class: "tabs", role: "tablist", "aria-label": "Side of the page", onkeydown: (event) => this.key(event) }, this.tabs),
      this.thumbs,
      this.contents,
      button("Keyboard", "keyboard", help, { class: "gw-btn quiet icon sm keys", "aria-keyshortcuts": "?" }),
    );
    this.chosen = "thumbs";
  }

  // As it was in this tab of the browser; called once everything else is there.
  restore(usual) {
    this.choose((sessionStorage.getItem(KEY) ?? usual) === "contents" && !matchMedia(NARROW).matches ? "contents" : "thumbs", false);
  }

  choose(name, keep = true) {
    this.chosen = name;
    if (keep) sessionStorage.setItem(KEY, name);
    for (const tab of this.tabs) {
      tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
      tab.tabIndex = tab.dataset.tab === name ? 0 : -1;
    }
    this.thumbs.hidden = name !== "thumbs";
    this.contents.hidden = name !== "contents";
    this.root.classList.toggle("has-contents", name === "contents");
    this.opened(name);
  }

  key(event) {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    const other = this.tabs.find((tab) => tab.dataset.tab !== this.chosen);
    this.choose(other.dataset.tab);
    other.focus();
  }
}
