// What the library takes on the disk, measured when it is opened.

import { answered, get, post } from "../shared/api.js";
import { h, icon } from "../shared/dom.js";
import { size } from "./words.js";

export class StorageFoot {
  constructor(complain) {
    this.complain = complain;
    this.body = h("div", { class: "parts" }, h("p", { class: "muted" }, "Measuring"));
    this.element = h("details", { class: "gw-storage", hidden: true, ontoggle: () => this.element.open && this.load(() => get("/library/storage")) }, h("summary", {}, icon("chevron_right", "s16"), "Storage used"), this.body);
  }

  async load(ask) {
    const found = await answered(ask);
    if (found.refused) return this.complain(found.refused);
    this.draw(found);
    this.element.scrollIntoView({ block: "nearest" }); // it stands last on its page
  }

  draw({ total, parts, pictures }) {
    const clear = h("button", { type: "button", class: "gw-btn sm", disabled: !pictures, onclick: () => this.load(() => post("/library/pictures/clear")) }, icon("delete", "s16"), "Clear page pictures");
    this.body.replaceChildren(
      h("dl", { class: "num" }, [["Total", total], ...Object.entries(parts)].map(([name, bytes]) => h("div", {}, h("dt", {}, name), h("dd", {}, size(bytes))))),
      h("p", { class: "muted" }, "Page pictures make pages open fast. Cleared ones are drawn again when needed."),
      clear,
    );
  }
}
