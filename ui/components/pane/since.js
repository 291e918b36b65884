// Above the page of an earlier version: what became of the cited words, and the way to where they are now.

import { h } from "../shared/dom.js";
import { sinceMark, sinceSides } from "../shared/since.js";

export class Since {
  // `show(place)` opens a page with a place of it lit.
  constructor(root, show) {
    this.root = root;
    this.show = show;
    this.element = h("div", { class: "since", role: "group", "aria-label": "Changed since", hidden: true });
  }

  draw(citation) {
    const { changed } = citation ?? {};
    const other = this.citation !== citation;
    this.citation = citation;
    this.element.hidden = !changed;
    this.root.classList.toggle("has-since", Boolean(changed));
    if (!changed || !other) return;
    this.at = "then";
    this.fill();
  }

  fill() {
    const { changed } = this.citation;
    const open = (now) => {
      const held = this.element.contains(document.activeElement);
      this.at = now ? "now" : "then";
      this.show(now ? changed.now : this.citation);
      this.fill();
      if (held) this.element.querySelector('[aria-pressed="true"], .gw-linkish')?.focus();
    };
    if (!changed.same) return this.element.replaceChildren(sinceMark(), sinceSides(this.citation, open, this.at));
    const there = this.at === "now";
    this.element.replaceChildren(h("p", {}, there ? "The newest version: the words stand unchanged. " : "An earlier version. The words stand unchanged in the newest. ", h("button", { type: "button", class: "gw-linkish", onclick: () => open(!there) }, there ? "Show the earlier one" : "Show them there")));
  }
}
