// Thumbnails of the pages with a tick where each citation lies. Only those in sight have a picture.

import { pictureUrl } from "../shared/api.js";
import { h } from "../shared/dom.js";

const WIDTH = 40;
const STEP = 78;

export class Rail {
  constructor(box, go) {
    this.box = box;
    this.go = go;
    this.drawn = new Map();
    this.marks = new Map(); // page → [[share of the height, open]]
    this.strip = h("div", { class: "strip" });
    box.append(this.strip);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(box);
  }

  close() {
    this.watch.disconnect();
  }

  show(document) {
    this.document = document;
    this.drawn.clear();
    this.strip.replaceChildren();
    this.strip.style.height = `${document.pages.length * STEP}px`;
    this.box.scrollTop = 0;
    this.draw();
  }

  clear() {
    this.document = null;
    this.drawn.clear();
    this.strip.replaceChildren();
    this.strip.style.height = "0";
  }

  mark(citations, n) {
    this.marks.clear();
    for (const citation of citations) {
      for (const page of new Set(citation.boxes.map((box) => box[0]))) {
        const first = citation.boxes.find((box) => box[0] === page);
        const share = this.document ? first[2] / this.document.pages[page - 1][1] : 0;
        (this.marks.get(page) ?? this.marks.set(page, []).get(page)).push([share, citation.n === n]);
      }
    }
    for (const [page, element] of this.drawn) this.ticks(page, element);
  }

  at(page) {
    this.page = page;
    for (const [other, element] of this.drawn) {
      if (other === page) element.setAttribute("aria-current", "page");
      else element.removeAttribute("aria-current");
    }
    const top = (page - 1) * STEP;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop || top + STEP > scrollTop + clientHeight) this.box.scrollTop = top - clientHeight / 2 + STEP / 2;
  }

  draw() {
    if (!this.document || !this.box.clientHeight) return;
    const first = Math.max(1, Math.floor(this.box.scrollTop / STEP) - 1);
    const last = Math.min(this.document.pages.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / STEP) + 2);
    for (const [page, element] of this.drawn) {
      if (page >= first && page <= last) continue;
      element.remove();
      this.drawn.delete(page);
    }
    for (let page = first; page <= last; page++) if (!this.drawn.has(page)) this.add(page);
  }

  add(page) {
    const [width, height, label] = this.document.pages[page - 1];
    const tall = Math.min(52, (WIDTH * height) / width);
    const picture = h("img", { src: pictureUrl(this.document.id, page, WIDTH * 1.2), alt: "" });
    const element = h(
      "button",
      { type: "button", tabindex: "-1", "aria-label": `Page ${page}${label === String(page) ? "" : `, printed ${label}`}`, style: `top:${(page - 1) * STEP}px`, onclick: () => this.go(page) },
      h("span", { class: "th gw-paper", style: `height:${tall}px;width:${(tall * width) / height}px` }, picture),
      h("span", { class: "lb num", title: label }, label),
    );
    if (page === this.page) element.setAttribute("aria-current", "page");
    this.drawn.set(page, element);
    this.strip.append(element);
    this.ticks(page, element);
  }

  ticks(page, element) {
    const thumb = element.querySelector(".th");
    for (const old of thumb.querySelectorAll("i")) old.remove();
    for (const [share, open] of this.marks.get(page) ?? []) thumb.append(h("i", { class: open ? "on" : "", style: `top:${share * 100}%` }));
  }
}
