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

// "4 noise (2 page header, 1 logo, 1 repeated)"
function noiseOf(item) {
  const reasons = Object.entries(item.noise_by_reason ?? {}).map(([reason, count]) => `${count} ${reason.replaceAll("_", " ")}`);
  return `${item.noise} noise${reasons.length ? ` (${reasons.join(", ")})` : ""}`;
}

export class Drawer {
  constructor(actions) {
    this.actions = actions;
    this.id = null;
    this.title = h("h2");
    this.facts = h("p", { class: "facts num" });
    this.where = h("b", { class: "num" });
    this.of = h("span", { class: "muted num" });
    this.larger = button("Larger", "fit_width", () => this.enlarge(!this.element.classList.contains("wide")), { "aria-pressed": "false" });
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
      h("div", { class: "pgnav" }, this.where, this.of, h("span", { class: "sp" }), this.larger, button("Previous page", "keyboard_arrow_up", () => this.go(this.page - 1)), button("Next page", "keyboard_arrow_down", () => this.go(this.page + 1))),
      this.picture,
      this.list,
    );
  }

  async open(item) {
    this.id = item.id;
    this.element.hidden = false;
    document.documentElement.dataset.gwSide = "open";
    this.title.textContent = item.title;
    this.facts.textContent = [plural(item.pages, "page"), plural(item.elements, "element"), plural(item.tables, "table"), noiseOf(item), plural(item.chunks, "chunk"), item.ocr ? `${plural(item.ocr, "page")} read by OCR, mean confidence ${item.confidence}%` : "", `read in ${item.seconds.toFixed(0)} s`].filter(Boolean).join(" · ");
    let read;
    try {
      read = await getDocument(item.id);
    } catch (error) {
      if (this.id === item.id) this.picture.replaceChildren(h("p", { class: "none", role: "alert" }, `${error.message} ${error.hint ?? ""}`));
      return;
    }
    if (this.id !== item.id) return;
    this.document = read;
    this.go(1);
  }

  // The page beside its elements, large enough to read what was seen where.
  enlarge(on) {
    this.element.classList.toggle("wide", on);
    this.larger.setAttribute("aria-pressed", String(on));
    this.go(this.page);
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
    const [width, height, label, ocr, degraded] = pages[page - 1];
    this.where.textContent = `p. ${label}`;
    this.of.textContent = [`${page} of ${pages.length}`, ocr != null && `read by OCR, ${ocr}%`, degraded].filter(Boolean).join(" · ");
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
    const events = { onmouseenter: () => show(true), onmouseleave: () => show(false) };
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

// The table as it was understood: merged cells, headers, one row per row.
function grid(cells) {
  const rows = new Map();
  for (const cell of cells) {
    const [row, , rowSpan, colSpan] = cell.at;
    if (!rows.has(row)) rows.set(row, []);
    rows.get(row).push({ cell, node: h(cell.header ? "th" : "td", { rowspan: rowSpan, colspan: colSpan }, cell.text) });
  }
  const columns = Math.max(...cells.map(({ at }) => at[1] + at[3]));
  const free = []; // per column, the first row that no cell from above reaches
  const lines = [...rows.keys()].sort((a, b) => a - b).map((row) => {
    const nodes = [];
    const starts = new Map(rows.get(row).map((item) => [item.cell.at[1], item]));
    for (let col = 0; col < columns; ) {
      const item = starts.get(col);
      if (item) {
        const [, , rowSpan, colSpan] = item.cell.at;
        for (let c = col; c < col + colSpan; c++) free[c] = row + rowSpan;
        nodes.push(item.node);
        col += colSpan;
      } else {
        if (!(free[col] > row)) nodes.push(h("td"));
        col++;
      }
    }
    return h("tr", {}, nodes);
  });
  return h("table", {}, h("tbody", {}, lines));
}
