// The headings of a document, each of which opens it there.

import { h } from "../shared/dom.js";
import { Outline } from "../pane/outline.js";

export class ContentsView {
  constructor(read, _item, { open }) {
    this.element = h("div", { class: "outline gw-scroll", role: "group", "aria-label": "Contents" });
    this.outline = new Outline(this.element, open);
    this.outline.show(read);
  }

  show() {
    this.outline.open(1);
  }
}
