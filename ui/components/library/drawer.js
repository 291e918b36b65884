// One document, page by page: what its pages were taken apart into, noise greyed with its reason.

import { get, getDocument, pictureUrl } from "../shared/api.js";
import { button, h, icon, plural } from "../shared/dom.js";

const KINDS = {
  heading: ["Heading", "title", "hd"],
  paragraph: ["Text", "notes", ""],
  list_item: ["Item", "format_list_bulleted", "li"],
  table: ["Table", "table", "tb"],
  figure: ["Figure", "image", "tb"],
  caption: ["Caption", "description", ""],
  footnote: ["Footnote", "notes", ""],
  formula: ["Formula", "functions", ""],
  page_header: ["Header", "block", ""],
  page_footer: ["Footer", "block", ""],
};

export class Drawer {
  constructor(actions) {
    this.actions = actions;
    this.id = null;
    this.title = h("h2");
    this.facts = h("p", { class: "facts num" });
    this.where = h("b", { class: "num" });
    this.of = h("span", { class: "muted num" });
    this.picture = h("div", { class: "prev gw-paper", tabindex: "0", role: "group", "aria-label": "Picture of the page" });
    this.list = h("ul", { class: "els gw-scroll", tabindex: "0", "aria-label": "Elements of the page" });
    this.element = h(
      "aside",
      { class: "gw-doc", hidden: true, "aria-label": "Document" },
      h(
        "div",
        { class: "top" },
        h("div", { class: "tt" }, this.title, button("Close", "close", () => this.close())),
        this.facts,
        h("div", { class: "acts" }, h("button", { type: "button", class: "gw-btn primary", onclick: () => this.actions.ask(this.id) }, "Ask about it")),
      ),
      h("div", { class: "pgnav" }, this.where, this.of, h("span", { class: "sp" }), button("Previous page", "keyboard_arrow_up", () => this.go(this.page - 1)), button("Next page", "keyboard_arrow_down", () => this.go(this.page + 1))),
      this.picture,
      this.list,
    );
  }

  async open(item) {
    this.id = item.id;
    this.element.hidden = false;
    document.documentElement.dataset.gwSide = "open";
    this.title.textContent = item.title;
    this.facts.textContent = [plural(item.pages, "page"), plural(item.elements, "element"), plural(item.tables, "table"), `${item.noise} noise`, plural(item.chunks, "chunk"), `read in ${item.seconds.toFixed(0)} s`].join(" · ");
    this.document = await getDocument(item.id);
    if (this.id === item.id) this.go(1);
  }

  close() {
    this.element.hidden = true;
    this.id = null;
    delete document.documentElement.dataset.gwSide;
    this.actions.closed();
  }

  async go(page) {
    const { id, pages } = this.document;
    if (page < 1 || page > pages.length) return;
    this.page = page;
    const [width, height, label] = pages[page - 1];
    this.where.textContent = `p. ${label}`;
    this.of.textContent = `${page} of ${pages.length}`;
    const room = this.picture.clientWidth || 400;
    const sheet = h("div", { class: "sheet", style: `aspect-ratio:${width}/${height}` }, h("img", { src: pictureUrl(id, page, room), alt: `Page ${page}` }));
    this.picture.replaceChildren(sheet);
    this.picture.scrollTop = 0;
    this.list.replaceChildren();
    const elements = await get(`/documents/${id}/pages/${page}/elements`);
    if (this.page !== page || this.document.id !== id) return;
    for (const [i, element] of elements.entries()) this.line(sheet, element, i, page, width, height);
    if (!elements.length) this.list.append(h("li", { class: "none" }, "Nothing was found on this page."));
  }

  line(sheet, element, i, page, width, height) {
    const [name, sign, tone] = element.noise ? ["Noise", "block", ""] : KINDS[element.kind];
    const boxes = element.boxes.filter((box) => box[0] === page);
    const outlines = boxes.map(([, x0, y0, x1, y1]) =>
      h("i", { class: `ol ${element.noise ? "no" : tone}`, style: `left:${(x0 / width) * 100}%;top:${(y0 / height) * 100}%;width:${((x1 - x0) / width) * 100}%;height:${((y1 - y0) / height) * 100}%` }),
    );
    sheet.append(...outlines);
    const show = (on) => outlines.forEach((outline) => outline.classList.toggle("on", on));
    const detail = element.noise?.replaceAll("_", " ") ?? (element.kind === "heading" ? `level ${element.level}` : element.size);
    const scroll = () => outlines[0]?.scrollIntoView({ block: "nearest" });
    this.list.append(
      h(
        "li",
        { class: element.noise ? "noise" : "", onmouseenter: () => show(true), onmouseleave: () => show(false), onclick: scroll },
        h("span", { class: `kd ${element.noise ? "" : tone}` }, icon(sign, "s14"), name),
        h("span", { class: "tx" }, element.text || "no words"),
        h("span", { class: "mt" }, detail),
      ),
    );
  }
}
