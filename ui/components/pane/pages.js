// The pages of one document, one below the other. Only those near the window have a picture. All places are in points
// of the page as displayed; a page's box is `points × z` CSS pixels, and what lies on it is placed in per cent, so
// that it is exact at any zoom.

import { pictureUrl } from "../shared/api.js";
import { h, prose, still } from "../shared/dom.js";
import { addTextLayer } from "./text_layer.js";

const GAP = 14;
const EDGE = 8;
const CLOSE_UP = 420; // a pane narrower than this zooms in on what is opened
const NEAR = 1; // screens above and below that are kept drawn

export class Pages {
  constructor(desk, events) {
    this.desk = desk;
    this.events = events;
    this.sheet = h("div", { class: "sheet" });
    desk.append(this.sheet);
    this.drawn = new Map(); // page number → element
    this.z = 1;
    this.fitted = true;
    this.page = 1;
    this.lit = { citation: null, here: [], peers: [] };
    desk.addEventListener("scroll", () => this.draw(), { passive: true });
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(desk);
  }

  close() {
    this.watch.disconnect();
  }

  show(document) {
    this.document = document;
    this.pending = null;
    this.page = 1;
    this.widest = Math.max(...document.pages.map(([width]) => width));
    this.forget();
    this.sheet.replaceChildren();
    if (this.fitted) this.z = this.fitZoom();
    this.layout();
    this.desk.scrollTo({ top: 0, left: 0, behavior: "instant" });
    this.draw();
    this.events.zoomed();
  }

  // Instead of a document: what is wrong, as paragraphs.
  fail(...paragraphs) {
    this.document = this.pending = null;
    this.forget();
    this.sheet.style.cssText = "height:100%";
    this.desk.scrollTo({ top: 0, left: 0, behavior: "instant" });
    this.sheet.replaceChildren(h("div", { class: "gw-page-error", role: "alert" }, ...paragraphs));
  }

  forget() {
    for (const element of this.drawn.values()) element.remove();
    this.drawn.clear();
  }

  fitZoom() {
    const room = this.desk.clientWidth - 2 * EDGE;
    return room > 50 ? Math.round((room / this.widest) * 1000) / 1000 : 1;
  }

  layout() {
    let top = EDGE;
    this.tops = this.document.pages.map(([, height]) => {
      const at = top;
      top += height * this.z + GAP;
      return at;
    });
    this.sheet.style.height = `${top - GAP + EDGE}px`;
    this.sheet.style.width = `${Math.max(this.widest * this.z + 2 * EDGE, this.desk.clientWidth)}px`;
  }

  fitWidth() {
    this.fitted = true;
    this.setZoom(this.fitZoom());
  }

  zoomTo(z) {
    this.fitted = false;
    this.setZoom(z);
  }

  // The point in the middle of the window stays where it is.
  setZoom(z) {
    if (!this.document) return;
    const { clientHeight, clientWidth, scrollTop, scrollLeft } = this.desk;
    const middle = this.pageAt(scrollTop + clientHeight / 2);
    const down = (scrollTop + clientHeight / 2 - this.tops[middle - 1]) / this.z;
    const across = (scrollLeft + clientWidth / 2) / this.sheet.offsetWidth;
    this.z = z;
    this.layout();
    for (const [page, element] of this.drawn) this.place(page, element);
    this.desk.scrollTo({
      top: this.tops[middle - 1] + down * z - clientHeight / 2,
      left: across * this.sheet.offsetWidth - clientWidth / 2,
      behavior: "instant",
    });
    this.draw();
    this.events.zoomed();
  }

  resized() {
    if (!this.document || this.desk.clientWidth < 50) return;
    if (this.fitted && Math.abs(this.fitZoom() - this.z) > 0.002) this.setZoom(this.fitZoom());
    else {
      this.layout();
      for (const [page, element] of this.drawn) this.place(page, element);
      this.draw();
    }
    this.settle();
  }

  pageAt(y) {
    let low = 0;
    let high = this.tops.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.tops[mid] <= y) low = mid;
      else high = mid - 1;
    }
    return low + 1;
  }

  draw() {
    if (!this.document || !this.desk.clientHeight) return;
    const { scrollTop, clientHeight } = this.desk;
    const first = this.pageAt(scrollTop - NEAR * clientHeight);
    const last = this.pageAt(scrollTop + (1 + NEAR) * clientHeight);
    for (const [page, element] of this.drawn) {
      if (page >= first && page <= last) continue;
      element.remove();
      this.drawn.delete(page);
    }
    for (let page = first; page <= last; page++) {
      if (!this.drawn.has(page)) this.add(page);
    }
    const now = this.pageAt(scrollTop + clientHeight * 0.4);
    this.page = now;
    this.events.moved(now);
  }

  add(page) {
    const [, , label] = this.document.pages[page - 1];
    const number = label === String(page) ? "" : `, printed page ${label}`;
    const image = h("img", { alt: `${this.document.title}, page ${page}${number}`, draggable: "false" });
    const element = h("div", { class: "gw-page gw-paper", "data-page": page }, image);
    this.drawn.set(page, element);
    this.place(page, element);
    this.sheet.append(element);
    this.overlay(page, element);
    addTextLayer(element, this.document, page);
  }

  place(page, element) {
    const [width, height] = this.document.pages[page - 1];
    const w = width * this.z;
    const left = Math.max(EDGE, (this.sheet.offsetWidth - w) / 2);
    element.style.cssText = `top:${this.tops[page - 1]}px;left:${left}px;width:${w}px;height:${height * this.z}px`;
    this.picture(element.firstElementChild, page, w);
  }

  // A sharper picture replaces the old one only when it has arrived.
  picture(image, page, cssWidth) {
    const source = pictureUrl(this.document.id, page, cssWidth);
    if (image.dataset.src === source) return;
    image.dataset.src = source;
    if (!image.src) {
      image.addEventListener("error", () => this.broken(image, source), { once: true });
      image.src = source;
      return;
    }
    const next = new Image();
    next.onload = () => image.dataset.src === source && (image.src = source);
    next.src = source;
  }

  async broken(image, source) {
    const response = await fetch(source);
    if (response.ok) {
      image.src = `${source}&again`;
      return;
    }
    const { error } = await response.json();
    image.parentElement?.append(h("p", { class: "gw-page-error", role: "alert" }, error.code === "unknown_document" ? "This document was removed from the library." : prose(`${error.message} ${error.hint}`)));
  }

  // Highlights

  light(citation, here, peers) {
    this.lit = { citation, here, peers };
    for (const [page, element] of this.drawn) this.overlay(page, element);
  }

  overlay(page, element) {
    for (const old of element.querySelectorAll(".gw-highlight, .gw-ring, .gw-tag")) old.remove();
    const { citation, here, peers } = this.lit;
    // What is lit for an AI description is the figure: framed, so that its colours can be read.
    const add = (box, item, role) => element.append(h("i", { class: `gw-highlight${item.generated ? " frame" : ""}`, "data-page": page, "data-n": item.n, "data-role": role, style: this.percent(page, box) }));
    const on = (boxes) => boxes.filter((box) => box[0] === page);
    for (const item of here) {
      if (item.n !== citation?.n && peers.includes(item.n)) for (const box of on(item.boxes)) add(box, item, "claim");
    }
    if (citation) {
      for (const box of on(citation.heads)) add(box, citation, "head");
      for (const box of on(citation.boxes)) add(box, citation, citation.n ? "cited" : "passage");
      if (citation.boxes.length === 1 && on(citation.boxes).length) element.append(h("i", { class: "gw-ring", style: this.percent(page, citation.boxes[0]) }));
    }
    this.tags(page, element, here.filter((item) => item.n && on(item.boxes).length), citation);
  }

  percent(page, [, x0, y0, x1, y1]) {
    const [width, height] = this.document.pages[page - 1];
    const share = (a, b) => `${(a / b) * 100}%`;
    return `left:${share(x0, width)};top:${share(y0, height)};width:${share(x1 - x0, width)};height:${share(y1 - y0, height)}`;
  }

  // Numbers in the margin, one for each citation on the page, side by side where they share a line.
  tags(page, element, items, citation) {
    const [width, height] = this.document.pages[page - 1];
    const placed = [];
    for (const item of items) {
      const [, , y0, , y1] = item.boxes.find((box) => box[0] === page);
      const middle = (y0 + y1) / 2;
      const column = placed.filter((other) => Math.abs(other - middle) < 13).length;
      placed.push(middle);
      const open = citation?.n === item.n;
      const peer = this.lit.peers.includes(item.n);
      element.append(
        h(
          "button",
          {
            type: "button",
            class: `gw-tag${open ? " on" : peer ? " claim" : ""}`,
            "aria-label": `Citation ${item.n}`,
            style: `left:calc(${(6 / width) * 100}% + ${column * 20}px);top:${(middle / height) * 100}%`,
            onclick: () => this.events.pick(item.n),
          },
          String(item.n),
        ),
      );
    }
  }

  // Moving

  go(page) {
    this.desk.scrollTo({ top: this.tops[page - 1] - EDGE, behavior: "instant" });
    this.draw();
  }

  goTo(citation) {
    this.pending = citation;
    this.settle(true);
  }

  // On a narrow pane: as large as the lit words allow.
  closeUp(citation) {
    const boxes = citation.boxes.filter((box) => box[0] === citation.boxes[0][0]);
    const wide = Math.max(...boxes.map((box) => box[3])) - Math.min(...boxes.map((box) => box[1]));
    const z = Math.min(1.25, Math.max(this.fitZoom(), (this.desk.clientWidth - 2 * EDGE) / (wide + 24)));
    this.fitted = z === this.fitZoom();
    if (Math.abs(z - this.z) > 0.01) this.setZoom(z);
  }

  // Scrolls to the citation; again when the pane gets its size later (a drawer that opens).
  settle(moving = false) {
    const citation = this.pending;
    if (!citation || citation.doc !== this.document?.id || !this.desk.clientHeight) return;
    if (!moving && !this.desk.closest("[data-gw-drawer]") && this.settled === citation) return;
    this.settled = citation;
    if (this.desk.clientWidth < CLOSE_UP && citation.boxes.length) this.closeUp(citation);
    const box = citation.boxes[0] ?? [citation.page, 0, 0, 0, 0];
    const here = citation.boxes.length ? citation.boxes.filter((other) => other[0] === box[0]) : [box];
    const [width] = this.document.pages[box[0] - 1];
    const { clientHeight, clientWidth, scrollTop } = this.desk;
    const middle = ((box[2] + box[4]) / 2) * this.z;
    const top = Math.max(0, citation.boxes.length ? this.tops[box[0] - 1] + middle - clientHeight * 0.38 : this.tops[box[0] - 1] - EDGE);
    const left = Math.max(EDGE, (this.sheet.offsetWidth - width * this.z) / 2) + ((Math.min(...here.map((b) => b[1])) + Math.max(...here.map((b) => b[3]))) / 2) * this.z - clientWidth / 2;
    const far = Math.abs(top - scrollTop) > clientHeight * 2.5;
    this.desk.scrollTo({ top, left, behavior: far || still() ? "instant" : "smooth" });
    this.draw();
  }
}
