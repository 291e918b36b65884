// Above a document that is read: the way back, its title, and a question about it. Which page is read stands in the
// address, so that a reload and a link lead there.

import { configure } from "../shared/api.js";
import { openCitation } from "../shared/bus.js";
import { h, icon } from "../shared/dom.js";

export function mount({ parentElement, data, tell }) {
  configure(data);
  const reader = (parentElement.gwReader ??= new Reader(parentElement.querySelector(".gw-reader")));
  reader.tell = tell;
  reader.show(data);
  return () => reader.close();
}

class Reader {
  constructor(root) {
    this.title = h("h1", { class: "ti" });
    this.ask = h("button", { type: "button", class: "gw-btn sm primary", onclick: () => this.tell("ask", this.id) }, icon("forum", "s16"), "Ask about it");
    const back = h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => this.tell("left", true) }, icon("arrow_back", "s16"), "Library");
    root.append(back, this.title, h("span", { class: "sp" }), this.ask);
    this.paged = ({ detail }) => detail.doc === this.id && this.keep(detail.page);
    addEventListener("gw:paged", this.paged);
  }

  close() {
    removeEventListener("gw:paged", this.paged);
  }

  show({ document: { id, title, asks } }) {
    this.title.textContent = title;
    this.ask.disabled = !asks;
    if (id === this.id) return;
    this.id = id;
    const page = Number(new URL(location.href).searchParams.get("page")) || 1;
    openCitation({ turn: "", n: 0, citations: [{ n: 0, doc: id, title, page, label: "", boxes: [], heads: [], quote: "", section: [] }], peers: [] });
  }

  keep(page) {
    const address = new URL(location.href);
    if (address.searchParams.get("doc") !== this.id) return;
    address.searchParams.set("page", page);
    history.replaceState(history.state, "", address);
  }
}
