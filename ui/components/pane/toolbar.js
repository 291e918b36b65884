// The row above the pages: document, page label, zoom, rotation, search, and the way through the citations.

import { button, h } from "../shared/dom.js";

const ZOOMS = [0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4];

export class Toolbar {
  constructor(pane) {
    this.pane = pane;
    this.chooser = h("select", { class: "dt", "aria-label": "Document", onchange: () => pane.choose(this.chooser.value) });
    this.label = h("input", { class: "num", "aria-label": "Page", "aria-keyshortcuts": "g", size: "3", autocomplete: "off", onkeydown: (event) => this.labelKey(event), onfocus: () => this.label.select(), onblur: () => this.sayPage() });
    this.count = h("span", { class: "muted num" });
    this.missing = h("span", { class: "missing", role: "alert" });
    this.how = h("span", { class: "muted num how" });
    this.percent = h("span", { class: "zm num" });
    this.fits = {
      width: button("Fit width", "fit_width", () => pane.pages.setFit("width"), { "aria-keyshortcuts": "0" }),
      page: button("Fit page", "fit_page_height", () => pane.pages.setFit("page"), { "aria-keyshortcuts": "9", class: "gw-btn quiet icon sm fp" }),
    };
    this.which = h("span", { class: "num" });
    this.place = h("span", { class: "at num", hidden: true });
    this.citations = h(
      "span",
      { class: "cn", hidden: true },
      button("Previous citation", "keyboard_arrow_up", () => pane.step(-1)),
      this.which,
      button("Next citation", "keyboard_arrow_down", () => pane.step(1)),
    );
    this.element = h(
      "div",
      { class: "tbar", role: "toolbar", "aria-label": "Page viewer" },
      button("Close page", "close", () => pane.drawer(false), { class: "gw-btn quiet icon sm only-m" }),
      this.chooser,
      h("span", { class: "pgbox" }, this.label, this.count, this.missing, this.how),
      h("span", { class: "div" }),
      button("Zoom out", "remove", () => this.zoom(-1), { class: "gw-btn quiet icon sm zb" }),
      this.percent,
      button("Zoom in", "add", () => this.zoom(1), { class: "gw-btn quiet icon sm zb" }),
      h("span", { class: "fits" }, this.fits.width, this.fits.page, button("Rotate", "rotate_right", () => pane.rotate(), { "aria-keyshortcuts": "r" })),
      button("Find in document", "search", () => pane.find.open(), { class: "gw-btn quiet icon sm fb", "aria-keyshortcuts": "Control+f" }),
      button("Contents", "format_list_bulleted", () => pane.side.choose(pane.side.chosen === "contents" ? "thumbs" : "contents"), { class: "gw-btn quiet icon sm only-m" }),
      h("span", { class: "sp" }),
      this.place,
      this.citations,
    );
  }

  // `documents`: id and title of each that may be chosen; `shown` the one that is open, or null.
  offer(documents, shown) {
    this.chooser.replaceChildren(...documents.map((item) => h("option", { value: item.id }, item.title)));
    if (!shown) this.chooser.prepend(h("option", { value: "", disabled: true }, "No document"));
    this.chooser.value = shown?.id ?? "";
    this.chooser.title = shown?.title ?? "";
  }

  // Citation number `place` of `count` is open, none of them at 0; `original` is where it is in the file as given.
  cited(place, count, original = "") {
    const [, sheet, cells] = original.match(/^(.*!)?(.*)$/s);
    this.place.replaceChildren(h("span", {}, sheet ?? ""), h("b", {}, cells));
    this.place.title = original;
    this.place.hidden = !original;
    this.citations.hidden = !count;
    const keys = document.querySelector(".gw-check") ? [] : ["p", "n"]; // in Check they go through the problems
    this.citations.querySelectorAll("button").forEach((arrow, i) => (arrow.ariaKeyShortcuts = keys[i] ?? null));
    this.which.replaceChildren(h("b", {}, String(place)), ` of ${count}`);
  }

  at(page) {
    const { pages } = this.pane.document;
    const of = this.pane.total();
    const [, , label, ocr, degraded, unread] = pages[page - 1];
    this.how.textContent = ocr != null ? `OCR ${ocr}%` : unread ? "Not read" : degraded ? "No layout" : "";
    this.how.title = degraded ?? (ocr != null ? `Read by OCR, mean confidence ${ocr}%` : "");
    if (document.activeElement !== this.label) {
      this.label.value = label;
      this.miss("");
    }
    this.label.title = label;
    this.count.textContent = `${page} of ${of}`;
    this.count.title = pages.length < of ? `Pages 1–${pages.length} are read so far` : "";
  }

  labelKey(event) {
    if (event.key === "Enter" && !event.isComposing) this.toLabel();
    else if (event.key === "Escape") this.label.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // A printed label, or a page's number where no page is called so. Of pages with one label the first, and from there the
  // next.
  toLabel() {
    if (!this.pane.document) return;
    const { pages } = this.pane.document;
    const now = this.pane.pages.page;
    const wanted = this.label.value.trim();
    const called = pages.flatMap(([, , label], i) => (label.toLowerCase() === wanted.toLowerCase() ? [i + 1] : []));
    let page = called.includes(now) ? (called.find((other) => other > now) ?? called[0]) : called[0];
    if (!page && /^\d+$/.test(wanted)) page = Math.min(Math.max(1, Number(wanted)), pages.length);
    if (!page && wanted) {
      this.label.select();
      return this.miss(wanted);
    }
    if (page) this.pane.go(page);
    this.label.blur();
  }

  // Says that no page is called so; with "", nothing.
  miss(wanted) {
    this.label.setAttribute("aria-invalid", String(Boolean(wanted)));
    this.count.hidden = Boolean(wanted);
    this.missing.textContent = wanted && `No page “${wanted.length > 8 ? `${wanted.slice(0, 8)}…` : wanted}”`;
  }

  sayPage() {
    if (this.pane.document) this.at(this.pane.pages.page);
  }

  zoom(by) {
    if (!this.pane.document) return;
    const now = this.pane.pages.scale(this.pane.pages.page);
    const next = by > 0 ? ZOOMS.find((z) => z > now + 0.01) : ZOOMS.findLast((z) => z < now - 0.01);
    if (next) this.pane.pages.zoomTo(next);
  }

  zoomed(pages) {
    const { fit } = pages;
    this.percent.textContent = `${Math.round(pages.scale(pages.page || 1) * 100)}%`;
    for (const [name, made] of Object.entries(this.fits)) made.setAttribute("aria-pressed", String(fit === name));
  }
}
