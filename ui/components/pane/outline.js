// The headings of the document, each of which leads to its place; the one in force on the page that is seen is marked.

import { ApiError, get } from "../shared/api.js";
import { h, prose } from "../shared/dom.js";

export class Outline {
  constructor(box, go) {
    this.box = box;
    this.go = go;
    this.items = []; // [[level, text, page, top]]
    box.addEventListener("keydown", (event) => this.key(event));
  }

  // Of this document, null for none; fetched once the outline is looked at.
  show(document) {
    this.document = document;
    this.loaded = false;
    this.items = [];
    this.links = [];
    this.box.replaceChildren();
  }

  async open(page) {
    this.page = page;
    if (this.loaded || !this.document) return this.at(page);
    this.loaded = true;
    const { id, pages } = this.document;
    let items;
    try {
      items = await get(`/documents/${id}/outline`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.loaded = false;
      this.box.replaceChildren(h("p", { class: "none", role: "alert" }, prose(`${error.message} ${error.hint}`)));
      return;
    }
    if (this.document?.id !== id) return; // another was opened meanwhile
    this.items = items;
    const depths = nested(items.map(([level]) => level));
    this.links = items.map(([, text, at, top], i) =>
      h(
        "button",
        { type: "button", class: "hd", title: text, tabindex: "-1", style: `--in:${Math.min(depths[i], 5)}`, onclick: () => this.go(at, top) },
        h("span", {}, text),
        h("small", { class: "num" }, pages[at - 1][2]),
      ),
    );
    this.box.replaceChildren(...(items.length ? this.links : [h("p", { class: "none" }, "This document has no headings.")]));
    this.at(this.page);
  }

  // `page` is the one in sight, and `below` how far down it is read, in points.
  at(page, below = Infinity) {
    this.page = page;
    if (!this.links?.length) return;
    let now = 0;
    for (const [i, [, , at, top]] of this.items.entries()) if (at < page || (at === page && top <= below)) now = i;
    if (this.now === now && this.links[now].hasAttribute("aria-current")) return;
    this.links[this.now]?.removeAttribute("aria-current");
    this.now = now;
    for (const link of this.links) link.tabIndex = -1;
    this.links[now].tabIndex = 0;
    this.links[now].setAttribute("aria-current", "location");
    const { offsetTop, offsetHeight } = this.links[now];
    const { scrollTop, clientHeight } = this.box;
    if (clientHeight && (offsetTop < scrollTop || offsetTop + offsetHeight > scrollTop + clientHeight)) this.box.scrollTop = offsetTop - clientHeight / 2;
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = this.links?.indexOf(document.activeElement) ?? -1;
    if (!by || at < 0) return;
    event.preventDefault();
    this.links[Math.min(Math.max(0, at + by), this.links.length - 1)].focus();
  }
}

// How deep each heading lies below those before it: levels that a document leaves out count for nothing.
function nested(levels) {
  const above = [];
  return levels.map((level) => {
    while (above.length && above.at(-1) >= level) above.pop();
    above.push(level);
    return above.length - 1;
  });
}
