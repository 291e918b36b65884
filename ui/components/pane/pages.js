// The pages of one document, one below the other. Only those near the window are drawn. All places are in points of the
// page as the PDF displays it; a page's box is `points × scale(page)` CSS pixels, turned as the person wants it: one scale
// for all, or for each page the one that fits it. What lies on a page is in its face, which has the page's own shape and
// is turned as a whole.

import { h, still } from "../shared/dom.js";
import { NARROW } from "../shared/side.js";
import { drawHeading, drawLights, drawMatches, drawTags } from "./lights.js";
import { dropPictures } from "./pictures.js";
import { fillPictures, pictureOf } from "./sight.js";
import { addTextLayer } from "./text_layer.js";
import { turnBack, turnBox, turnedSize, turnOf, turnStyle } from "./turns.js";

const GAP = 14;
const EDGE = 8;
const CLOSE_UP = 420; // on a phone, a pane narrower than this zooms in on what is opened
const MARGIN = 12; // beside what is opened
const NEAR = 1; // screens above and below that are kept drawn
const REST = 60; // ms that a page stays near before its picture is asked for, while one scrolls
const READ = 960; // CSS pixels: lines of a page that is read on a wide screen
const NOTHING = { citation: null, here: [], peers: [] };

export class Pages {
  // `events`: moved(page), zoomed(), pick(n), scrolled(), keep(page), drawn(page), filled().
  constructor(desk, events) {
    this.desk = desk;
    this.events = events;
    this.sheet = h("div", { class: "sheet" });
    desk.append(this.sheet);
    this.drawn = new Map(); // page number → element
    this.z = 1; // the zoom that was chosen, while `fit` is ""
    this.fit = "width"; // or "page", or ""
    this.most = desk.closest(".st-key-gw_read") ? READ : Infinity; // CSS pixels that a page is fitted to
    this.turn = 0;
    this.page = 1;
    this.lit = NOTHING;
    this.heading = []; // boxes of the one that was gone to
    this.matches = new Map(); // page → [[number, boxes]]
    this.waiting = false; // for a picture of a page in sight
    desk.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(desk);
  }

  close() {
    this.watch.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rested);
    this.rested = null;
  }

  show(document) {
    this.document = document;
    this.pending = null;
    this.page = 0;
    this.turn = turnOf(document.id);
    this.lit = NOTHING;
    this.heading = [];
    this.matches.clear();
    this.forget();
    this.sheet.replaceChildren();
    this.measure();
    this.layout();
    this.desk.scrollTo({ top: 0, left: 0, behavior: "instant" });
    this.draw();
    this.events.zoomed();
  }

  // Instead of a document: what is wrong, as paragraphs.
  fail(...paragraphs) {
    this.document = this.pending = null;
    this.waiting = false;
    this.forget();
    this.sheet.style.cssText = "height:100%";
    this.desk.scrollTo({ top: 0, left: 0, behavior: "instant" });
    this.sheet.replaceChildren(h("div", { class: "gw-page-error", role: "alert" }, ...paragraphs));
  }

  forget() {
    for (const page of [...this.drawn.keys()]) this.remove(page);
  }

  measure() {
    this.sizes = this.document.pages.map((page) => turnedSize(page, this.turn));
  }

  // The scale of a page of this size, turned as it is.
  scaled([width, height]) {
    const { clientWidth, clientHeight } = this.desk;
    if (!this.fit) return this.z;
    if (clientWidth - 2 * EDGE <= 50) return 1;
    const across = (Math.min(clientWidth, this.most) - 2 * EDGE) / width;
    const z = this.fit === "page" ? Math.min(across, (clientHeight - 2 * EDGE) / height) : across;
    return Math.floor(z * 1000) / 1000;
  }

  scale(page) {
    return this.scales[page - 1];
  }

  // How wide a page would be, in CSS pixels, were its document opened; nothing while the pane is hidden.
  across(document, page) {
    if (!this.desk.clientHeight) return 0;
    const size = document.pages[page - 1];
    return size[0] * this.scaled(turnedSize(size, turnOf(document.id)));
  }

  layout() {
    let top = EDGE;
    this.scales = this.sizes.map((size) => this.scaled(size));
    this.tops = this.sizes.map(([, height], i) => {
      const at = top;
      top += height * this.scales[i] + GAP;
      return at;
    });
    this.width = this.sizes.reduce((most, [width], i) => Math.max(most, width * this.scales[i] + 2 * EDGE), this.desk.clientWidth);
    this.sheet.style.height = `${top - GAP + EDGE}px`;
    this.sheet.style.width = `${this.width}px`;
  }

  setFit(fit) {
    this.fit = fit;
    this.rescale();
    if (fit === "page" && this.document) this.scrollDown(this.page);
  }

  zoomTo(z) {
    this.fit = "";
    this.z = z;
    this.rescale();
  }

  // The point in the middle of the window stays where it is.
  rescale() {
    if (!this.document) return;
    const { clientHeight, clientWidth, scrollTop, scrollLeft } = this.desk;
    const middle = this.pageAt(scrollTop + clientHeight / 2);
    const down = (scrollTop + clientHeight / 2 - this.tops[middle - 1]) / this.scale(middle);
    const across = (scrollLeft + clientWidth / 2) / this.width;
    this.layout();
    this.placeAll();
    this.desk.scrollTo({
      top: this.tops[middle - 1] + down * this.scale(middle) - clientHeight / 2,
      left: across * this.width - clientWidth / 2,
      behavior: "instant",
    });
    this.draw();
    this.events.zoomed();
  }

  // The page in the middle of the window stays there.
  setTurn(turn) {
    if (!this.document) return;
    const page = this.page;
    this.turn = turn;
    this.measure();
    this.layout();
    this.forget();
    this.scrollDown(page);
    this.settle(true);
    this.events.zoomed();
  }

  // What was opened stays in sight where it was.
  resized() {
    if (!this.document || this.desk.clientWidth < 50) return;
    const { saw, opened } = this;
    if (this.sizes.some((size, i) => Math.abs(this.scaled(size) - this.scales[i]) > 0.002)) this.rescale();
    else {
      this.layout();
      this.placeAll();
      this.draw();
    }
    this.settle();
    if (saw && opened && !this.sees(opened)) this.bring(opened.boxes, opened.page, { behavior: "instant" });
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

  scrolled() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.draw(REST);
      this.events.scrolled();
    });
  }

  // Pictures are asked for after `rest` ms, of those pages that are still near.
  draw(rest = 0) {
    if (!this.document || !this.desk.clientHeight) return;
    const { scrollTop, clientHeight } = this.desk;
    const first = this.pageAt(scrollTop - NEAR * clientHeight);
    const last = this.pageAt(scrollTop + (1 + NEAR) * clientHeight);
    for (const page of [...this.drawn.keys()]) if ((page < first || page > last) && !this.events.keep(page)) this.remove(page);
    for (let page = first; page <= last; page++) if (!this.drawn.has(page)) this.add(page);
    if (rest) this.rested ??= setTimeout(() => this.rest(scrollTop), rest);
    else this.fill();
    this.saw = this.sees(this.opened);
    const now = this.pageAt(scrollTop + clientHeight * 0.4);
    if (now === this.page) return;
    this.page = now;
    this.events.moved(now);
  }

  // Who rushes past gets no pictures.
  rest(before) {
    this.rested = null;
    const { scrollTop, clientHeight } = this.desk;
    if (Math.abs(scrollTop - before) > clientHeight) this.rested = setTimeout(() => this.rest(scrollTop), REST);
    else this.fill();
  }

  remove(page) {
    const element = this.drawn.get(page);
    dropPictures(element);
    element.remove();
    this.drawn.delete(page);
  }

  // In the order of the pages, which is that of what is selected over several of them.
  add(page) {
    const [, , label] = this.document.pages[page - 1];
    const number = label === String(page) ? "" : `, printed page ${label}`;
    const come = () => this.waiting && this.fill();
    const image = h("img", { class: "whole", alt: `${this.document.title}, page ${page}${number}`, draggable: "false", onload: come, onerror: come });
    const element = h("div", { class: "gw-page gw-paper", "data-page": page }, h("div", { class: "face" }, image, h("div", { class: "tiles" })));
    const next = [...this.drawn.keys()].filter((other) => other > page).sort((a, b) => a - b)[0];
    this.sheet.insertBefore(element, this.drawn.get(next) ?? null);
    this.drawn.set(page, element);
    this.place(page, element);
    this.overlay(page, element);
    addTextLayer(element, this.document, page).then((words) => {
      if (words) drawTags(element, page, this.marks(page, element)); // numbers know now where there is room
    });
  }

  place(page, element) {
    const [width, height] = this.document.pages[page - 1];
    const [across, down] = this.sizes[page - 1];
    const z = this.scale(page);
    element.style.cssText = `top:${this.tops[page - 1]}px;left:${this.left(page)}px;width:${across * z}px;height:${down * z}px`;
    element.firstElementChild.style.cssText = turnStyle(width * z, height * z, this.turn);
  }

  placeAll() {
    for (const [page, element] of this.drawn) {
      this.place(page, element);
      drawTags(element, page, this.marks(page, element));
    }
  }

  left(page) {
    return Math.max(EDGE, (this.width - this.sizes[page - 1][0] * this.scale(page)) / 2);
  }

  fill() {
    if (!this.document || !this.desk.clientHeight) return;
    this.waiting = fillPictures(this);
    if (!this.waiting) this.events.filled();
  }

  // Where one reads: the page at the top of the window, and how far down it, in points (all of a page that is turned).
  reading() {
    const at = this.desk.scrollTop + EDGE + 16;
    const page = this.pageAt(at);
    return [page, this.turn ? Infinity : (at - this.tops[page - 1]) / this.scale(page)];
  }

  // The point of a drawn page, in points, under a point of the window.
  pointAt(page, clientX, clientY) {
    const box = this.drawn.get(page).getBoundingClientRect();
    return turnBack((clientX - box.left) / this.scale(page), (clientY - box.top) / this.scale(page), this.document.pages[page - 1], this.turn);
  }

  // Highlights

  light(citation, here, peers) {
    this.lit = { citation, here, peers };
    this.lightHeading([]);
    for (const [page, element] of this.drawn) this.overlay(page, element);
  }

  lightHeading(boxes) {
    this.heading = boxes;
    for (const [page, element] of this.drawn) drawHeading(element, page, this.document.pages[page - 1], boxes);
  }

  marks(page, element) {
    return { size: this.document.pages[page - 1], turn: this.turn, z: this.scale(page), lit: this.lit, pick: this.events.pick, words: element.gwWords };
  }

  overlay(page, element) {
    const size = this.document.pages[page - 1];
    drawLights(element, page, this.marks(page, element));
    drawHeading(element, page, size, this.heading);
    drawMatches(element, page, size, this.matches.get(page) ?? [], this.match);
    this.events.drawn(page);
  }

  // Matches of a page, or none at all; `match` is the number of the one that was gone to.
  showMatches(page, matches, match) {
    this.match = match;
    if (page === null) this.matches.clear();
    else this.matches.set(page, matches);
    for (const [drawn, element] of this.drawn) {
      if (page === null || drawn === page) drawMatches(element, drawn, this.document.pages[drawn - 1], this.matches.get(drawn) ?? [], match);
    }
  }

  setMatch(match) {
    this.match = match;
    for (const old of this.sheet.querySelectorAll(".gw-match")) old.classList.toggle("on", Number(old.dataset.match) === match);
  }

  // Moving

  // To a place on a page, or its top; whatever was opened stays where it is.
  go(page, y = 0) {
    this.pending = null;
    this.scrollDown(page, y);
  }

  scrollDown(page, y = 0) {
    const size = this.document.pages[page - 1];
    const top = y && this.turn !== 2 ? turnBox([page, 0, y, 0, y], size, this.turn)[2] : 0;
    this.desk.scrollTo({ top: this.tops[page - 1] + top * this.scale(page) - EDGE, behavior: "instant" });
    this.draw();
  }

  goTo(citation) {
    this.pending = citation;
    this.settle(true);
  }

  // The citation that was opened, or the first of an answer.
  get opened() {
    return this.lit.citation ?? this.pending;
  }

  // Whether a citation's words are in the window, as far as they stand on its first page.
  sees(citation) {
    if (!citation?.boxes.length || citation.doc !== this.document?.id) return false;
    const { scrollTop, clientHeight } = this.desk;
    const [at] = citation.boxes[0];
    const [top, bottom] = [0, clientHeight].map((edge) => (scrollTop + edge - this.tops[at - 1]) / this.scale(at));
    return this.onSheet(citation.boxes).every(([, , y0, , y1]) => y0 >= top && y1 <= bottom);
  }

  // Boxes on the page of the first, as it is turned.
  onSheet(boxes) {
    return boxes.filter((box) => box[0] === boxes[0][0]).map((box) => turnBox(box, this.document.pages[box[0] - 1], this.turn));
  }

  // On a narrow pane: as large as the lit words allow.
  closeUp(boxes) {
    const [page] = boxes[0];
    const wide = Math.max(...boxes.map((box) => box[3])) - Math.min(...boxes.map((box) => box[1]));
    this.fit = "width";
    const full = this.scaled(this.sizes[page - 1]);
    const z = Math.min(1.25, (this.desk.clientWidth - 2 * EDGE) / (wide + 24));
    if (z > full) Object.assign(this, { fit: "", z });
    if (Math.abs(Math.max(z, full) - this.scale(page)) > 0.01) this.rescale();
  }

  // Scrolls to the citation; again when the pane gets its size later (a drawer that opens).
  settle(moving = false) {
    const citation = this.pending;
    if (!citation || citation.doc !== this.document?.id || !this.desk.clientHeight) return;
    if (!moving && !this.desk.closest("[data-gw-drawer]") && this.settled === citation) return;
    this.settled = citation;
    this.bring(citation.boxes, citation.page, { closely: this.desk.clientWidth < CLOSE_UP && matchMedia(NARROW).matches });
  }

  // Brings boxes into sight, or the page where there are none.
  bring(boxes, page, { closely = false, behavior = "smooth" } = {}) {
    if (!boxes.length) return this.scrollDown(page);
    const here = this.onSheet(boxes);
    if (closely) this.closeUp(here);
    const [at, , y0, , y1] = here[0];
    const { clientHeight, clientWidth, scrollTop } = this.desk;
    const top = Math.max(0, this.tops[at - 1] + ((y0 + y1) / 2) * this.scale(at) - clientHeight * 0.38);
    const [x0, x1] = [Math.min(...here.map((b) => b[1])), Math.max(...here.map((b) => b[3]))].map((x) => this.left(at) + x * this.scale(at));
    // As much of the page's left as there is room for: there stand the names of rows and the numbers of citations.
    const left = Math.max(0, Math.min(x1 + MARGIN - clientWidth, x0 - MARGIN));
    const far = !this.drawn.has(at) || Math.abs(top - scrollTop) > clientHeight * 2.5;
    this.desk.scrollTo({ top, left, behavior: far || still() ? "instant" : behavior });
    if (!far) pictureOf(this, at);
    this.draw();
  }
}
