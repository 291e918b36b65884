// The headings of a document, each of which opens it there and can be asked by itself.

import { h } from "../shared/dom.js";
import { Contents } from "../pane/contents.js";

export class ContentsView {
  constructor(read, item, { open, ask }) {
    this.element = h("div", { class: "contents gw-scroll", role: "group", "aria-label": "Contents" });
    this.contents = new Contents(this.element, (page) => open(page), item.built_pages ? ask : null);
    this.contents.show(read);
  }

  show() {
    this.contents.open(1);
  }
}
