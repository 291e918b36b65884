// Thumbnails of the pages, with a tick where each citation lies and how many matches of a search each page has. Only those
// in sight are drawn. One of them is in the order of the Tab key: the page that is read, or where the arrow keys have gone.

import { pictureUrl } from "../shared/api.js";
import { h, plural } from "../shared/dom.js";
import { dropPictures } from "./pictures.js";
import { turnBox, turnedSize, turnOf, turnStyle } from "./turns.js";

const WIDTH = 40;
const TALL = 52;
const STEP = 78;
const REST = 60; // ms that a thumbnail stays in sight before its picture is asked for

export class Rail {
  // `hold()` says whether what is in the middle of being shown comes first; `fill` is called when that is over.
  constructor(box, go, hold) {
    this.box = box;
    this.go = go;
    this.hold = hold;
    this.drawn = new Map();
    this.cited = { citations: [], n: null };
    this.matches = new Map(); // page → how many
    this.strip = h("div", { class: "strip" });
    box.append(this.strip);
    box.addEventListener("scroll", () => this.draw(REST), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(box);
  }

  close() {
    this.watch.disconnect();
    clearTimeout(this.rested);
    this.rested = null;
  }

  show(document) {
    this.document = document;
    this.matches = new Map();
    this.strip.style.height = `${document.pages.length * STEP}px`;
    this.box.scrollTop = 0;
    this.redraw();
  }

  clear() {
    this.document = null;
    this.redraw();
    this.strip.style.height = "0";
  }

  redraw() {
    for (const page of [...this.drawn.keys()]) this.remove(page);
    this.draw();
  }

  mark(citations, n) {
    this.cited = { citations, n };
    for (const [page, element] of this.drawn) this.ticks(page, element);
  }

  // How many matches each page has: [[page, count], …].
  found(pages) {
    this.matches = new Map(pages);
    for (const [page, element] of this.drawn) this.ticks(page, element);
  }

  at(page) {
    this.page = page;
    for (const [other, element] of this.drawn) element.ariaCurrent = other === page ? "page" : null;
    this.bring(page);
    this.rove();
  }

  bring(page) {
    const top = (page - 1) * STEP;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop || top + STEP > scrollTop + clientHeight) this.box.scrollTop = top - clientHeight / 2 + STEP / 2;
  }

  rove(to = null) {
    const held = [...this.drawn].find(([, element]) => element === document.activeElement)?.[0];
    const stop = to ?? held ?? (this.drawn.has(this.page) ? this.page : Math.min(...this.drawn.keys()));
    for (const [page, element] of this.drawn) element.tabIndex = page === stop ? 0 : -1;
  }

  key(event) {
    const now = [...this.drawn].find(([, element]) => element === document.activeElement)?.[0];
    const last = this.document?.pages.length;
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 1, End: last }[event.key];
    if (!now || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const page = Math.min(Math.max(1, to), last);
    this.bring(page);
    this.draw();
    this.rove(page);
    this.drawn.get(page).focus({ preventScroll: true });
  }

  draw(rest = 0) {
    if (!this.document || !this.box.clientHeight) return;
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(1, Math.floor(scrollTop / STEP) - 1);
    const last = Math.min(this.document.pages.length, Math.ceil((scrollTop + clientHeight) / STEP) + 2);
    for (const page of [...this.drawn.keys()]) if (page < first || page > last) this.remove(page);
    for (let page = first; page <= last; page++) if (!this.drawn.has(page)) this.add(page);
    this.rove();
    if (rest) this.rested ??= setTimeout(() => this.rest(scrollTop), rest);
    else this.fill();
  }

  // Who rushes past gets no pictures.
  rest(before) {
    this.rested = null;
    const { scrollTop, clientHeight } = this.box;
    if (Math.abs(scrollTop - before) > clientHeight) this.rested = setTimeout(() => this.rest(scrollTop), REST);
    else this.fill();
  }

  fill() {
    if (!this.document || this.rested || this.hold()) return;
    for (const [page, element] of this.drawn) {
      const image = element.querySelector("img");
      if (!image.getAttribute("src")) image.src = pictureUrl(this.document.id, page, WIDTH * 1.2);
    }
  }

  remove(page) {
    const element = this.drawn.get(page);
    dropPictures(element);
    element.remove();
    this.drawn.delete(page);
  }

  add(page) {
    const [width, height, label] = this.document.pages[page - 1];
    const turn = turnOf(this.document.id);
    const [across, down] = turnedSize([width, height], turn);
    const scale = Math.min(WIDTH / across, TALL / down);
    const face = h("span", { class: "face", style: turnStyle(width * scale, height * scale, turn) }, h("img", { alt: "" }));
    const element = h(
      "button",
      { type: "button", tabindex: "-1", style: `top:${(page - 1) * STEP}px`, onclick: () => this.go(page) },
      h("span", { class: "th gw-paper", style: `height:${down * scale}px;width:${across * scale}px` }, face),
      h("span", { class: "lb num", title: label }, label),
    );
    if (page === this.page) element.setAttribute("aria-current", "page");
    this.drawn.set(page, element);
    this.strip.append(element);
    this.ticks(page, element);
  }

  ticks(page, element) {
    const thumb = element.querySelector(".th");
    for (const old of thumb.querySelectorAll("i, b")) old.remove();
    const size = this.document.pages[page - 1];
    const turn = turnOf(this.document.id);
    let cited = 0;
    for (const { boxes, n } of this.cited.citations) {
      const first = boxes.find((box) => box[0] === page);
      if (!first) continue;
      cited++;
      const top = turnBox(first, size, turn)[2] / turnedSize(size, turn)[1];
      thumb.append(h("i", { class: n === this.cited.n ? "on" : "", style: `top:${top * 100}%` }));
    }
    const count = this.matches.get(page);
    if (count) thumb.append(h("b", { class: "num", "aria-hidden": "true" }, count > 99 ? "99+" : String(count)));
    const label = size[2] === String(page) ? "" : `, printed ${size[2]}`;
    const marks = [cited && plural(cited, "citation"), count && `${count} ${count === 1 ? "match" : "matches"}`].filter(Boolean).join(", ");
    element.setAttribute("aria-label", `Page ${page}${label}${marks && `: ${marks}`}`);
  }
}
