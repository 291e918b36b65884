// The headings of a document, each of which opens it there.

import { h } from "../shared/dom.js";
import { Contents } from "../pane/contents.js";

export class ContentsView {
  constructor(read, _item, { open }) {
    this.element = h("div", { class: "contents gw-scroll", role: "group", "aria-label": "Contents" });
    this.contents = new Contents(this.element, (page) => open(page));
    this.contents.show(read);
  }

  show() {
    this.contents.open(1);
  }
}
