// The pages of a document, each with outlines around what it was taken apart into, noise greyed with its reason.

import { answered, get, pictureUrl } from "../shared/api.js";
import { button, h, icon } from "../shared/dom.js";
import { grid } from "./tables.js";

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

export class PageView {
  constructor(read, _item, { wide }) {
    this.read = read;
    this.page = 1;
    this.where = h("b", { class: "num" });
    this.of = h("span", { class: "muted num" });
    this.larger = button("Larger", "fit_width", () => {
      this.larger.setAttribute("aria-pressed", String(wide()));
      this.go(this.page);
    }, { "aria-pressed": "false" });
    this.picture = h("div", { class: "prev gw-paper", tabindex: "0", role: "group", "aria-label": "Picture of the page" });
    this.list = h("ul", { class: "els gw-scroll", tabindex: "0", "aria-label": "Elements of the page" });
    this.element = h(
      "div",
      { class: "pages" },
      h("div", { class: "pgnav" }, this.where, this.of, h("span", { class: "sp" }), this.larger, button("Previous page", "keyboard_arrow_up", () => this.go(this.page - 1)), button("Next page", "keyboard_arrow_down", () => this.go(this.page + 1))),
      this.picture,
      this.list,
    );
  }

  show() {
    this.go(this.page);
  }

  say(error) {
    this.list.replaceChildren(h("li", { class: "none", role: "alert" }, `${error.message} ${error.hint ?? ""}`));
  }

  async go(page) {
    const { id, pages } = this.read;
    if (page < 1 || page > pages.length) return;
    this.page = page;
    const [width, height, label, ocr, degraded] = pages[page - 1];
    this.where.textContent = `p. ${label}`;
    this.of.textContent = [`${page} of ${pages.length}`, ocr != null && `read by OCR, ${ocr}%`, degraded].filter(Boolean).join(" · ");
    const source = pictureUrl(id, page, this.picture.clientWidth || 400);
    const sheet = h("div", { class: "sheet", style: `aspect-ratio:${width}/${height}` }, h("img", { src: source, onerror: () => sheet.isConnected && this.say({ message: "This page couldn’t be drawn.", hint: "You can still search its text." }), alt: `Page ${page}` }));
    this.picture.replaceChildren(sheet);
    this.picture.scrollTop = 0;
    this.list.replaceChildren();
    const elements = await answered(() => get(`/documents/${id}/pages/${page}/elements`));
    if (this.page !== page || !sheet.isConnected) return;
    if (elements.refused) return this.say(elements.refused);
    for (const [i, element] of elements.entries()) this.line(sheet, element, i, page, width, height);
    if (!elements.length) this.list.append(h("li", { class: "none" }, "Nothing was found on this page."));
  }

  line(sheet, element, i, page, width, height) {
    const [name, sign, tone] = element.noise ? ["Noise", "block", ""] : KINDS[element.kind];
    const boxes = element.boxes.filter((box) => box[0] === page);
    const place = ([, x0, y0, x1, y1]) => `left:${(x0 / width) * 100}%;top:${(y0 / height) * 100}%;width:${((x1 - x0) / width) * 100}%;height:${((y1 - y0) / height) * 100}%`;
    for (const cell of element.cells) {
      sheet.append(...cell.boxes.filter((box) => box[0] === page).map((box) => h("i", { class: `cl${cell.header ? " hc" : ""}`, style: place(box) })));
    }
    const outlines = boxes.map((box) => h("i", { "aria-hidden": "true", class: `ol ${element.noise ? "no" : tone}`, "data-order": i + 1, style: place(box) }));
    sheet.append(...outlines);
    const show = (on) => outlines.forEach((outline) => outline.classList.toggle("on", on));
    const detail = element.noise?.replaceAll("_", " ") ?? (element.kind === "heading" ? `level ${element.level}` : element.size);
    const scroll = () => outlines[0]?.scrollIntoView({ block: "nearest" });
    const parts = [
      h("span", { class: "or num" }, String(i + 1)),
      h("span", { class: `kd ${element.noise ? "" : tone}` }, icon(sign, "s14"), name),
      h("span", { class: "tx" }, element.text || "no words"),
      h("span", { class: "mt" }, detail),
    ];
    const events = { onmouseenter: () => show(true), onmouseleave: () => show(false), onfocusin: () => show(true), onfocusout: () => show(false) };
    const whole = h("div", { class: element.cells.length ? "grid gw-scroll" : "full", hidden: true, tabindex: "0", role: "group", "aria-label": element.text || name });
    const open = h("button", { type: "button", "aria-expanded": "false" }, parts);
    open.onclick = () => {
      whole.hidden = !whole.hidden;
      open.setAttribute("aria-expanded", String(!whole.hidden));
      if (!whole.firstChild) whole.append(element.cells.length ? grid(element.cells) : element.full || "No words.");
      scroll();
    };
    this.list.append(h("li", { class: `${element.noise ? "noise" : ""}${element.cells.length ? " table" : ""}`, ...events }, open, whole));
  }
}
