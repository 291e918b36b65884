// What is kept of a document and not indexed, with its reasons; and how it was cut into chunks.

import { answered, get } from "../shared/api.js";
import { h, icon } from "../shared/dom.js";

class ListView {
  constructor(read, _item, { page }) {
    this.read = read;
    this.page = page;
    this.list = h("ul", { class: "els gw-scroll", tabindex: "0", "aria-label": this.name });
    this.element = h("div", { class: "listed" }, this.list);
  }

  async show() {
    if (this.shown) return;
    this.shown = true;
    const found = await answered(() => get(`/documents/${this.read.id}/${this.path}`));
    this.shown = !found.refused;
    if (found.refused) this.list.replaceChildren(h("li", { class: "none", role: "alert" }, `${found.refused.message} ${found.refused.hint ?? ""}`));
    else this.list.replaceChildren(...(found.length ? found.map((item) => this.line(item)) : [h("li", { class: "none" }, this.none)]));
  }
}

export class NoiseView extends ListView {
  name = "Noise";
  path = "noise";
  none = "Everything is in the index.";

  line({ page, label, reason, text }) {
    return h("li", { class: "noise" }, h("button", { type: "button", title: `Show on page ${label}`, onclick: () => this.page(page) }, h("span", { class: "kd" }, icon("block", "s14"), `p. ${label}`), h("span", { class: "tx" }, text || "no words"), h("span", { class: "mt" }, reason.replaceAll("_", " "))));
  }
}

export class ChunksView extends ListView {
  name = "Chunks";
  path = "chunks";
  none = "There are no chunks.";

  line({ index, kind, section, page, tokens, rows, text }) {
    const sign = { text: "notes", table: "table", figure: "image" }[kind];
    return h("li", {}, h("button", { type: "button", title: [...section, `page ${page}`].join(" › "), onclick: () => this.page(page) }, h("span", { class: `kd ${kind === "text" ? "" : "tb"}` }, icon(sign, "s14"), String(index)), h("span", { class: "tx" }, text), h("span", { class: "mt num" }, `${rows ? "whole table · " : ""}${tokens} tokens`)));
  }
}
