// Selecting words on the pages with a mouse, what is copied of them, and a bar with what else can be done.
//
// A browser places the end of a selection by the text below the pointer, and there is none between lines and columns: it
// would leap. Here the end is the word that is nearest, on a page however turned. What is copied is the text as it was
// read: words cut by a line end are whole, cells have tabs between them.

import { ApiError } from "../shared/api.js";
import { copy } from "../shared/clipboard.js";
import { composer, h, icon } from "../shared/dom.js";
import { getWords } from "./pictures.js";

const ASIDE = 40; // how much farther a point above or below a word is from it than a point beside it
const LONG = 600; // characters of a quote that go into a question
const EDGE = 24; // CSS pixels at the desk's edge where a drag scrolls

export class Selecting {
  // `asking(text)` is told how a question about the words begins.
  constructor(root, pages, asking) {
    this.root = root;
    this.begun = asking;
    this.pages = pages;
    this.between = new Map(); // page → its words, where they are selected and not drawn
    this.lacking = ""; // why not all that is selected can be copied, in words
    this.desk = pages.desk;
    this.said = h("span", { class: "gw-unseen", role: "status" });
    this.copying = h("button", { type: "button", class: "gw-btn quiet sm", title: "The words with document and page", onclick: () => this.copyQuote() }, icon("content_copy", "s14"), "Copy with source");
    this.asking = h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => this.ask() }, icon("forum", "s14"), "Ask about this");
    this.bar = h("div", { class: "gw-picked", role: "toolbar", "aria-label": "Selected words", hidden: true, onmousedown: (event) => event.preventDefault() }, this.copying, this.asking, this.said);
    root.append(this.bar);
    this.desk.addEventListener("mousedown", (event) => this.press(event));
    this.desk.addEventListener("selectstart", (event) => this.dragging && event.preventDefault());
    this.desk.addEventListener("dragstart", (event) => event.preventDefault()); // what is selected while the button is down would be dragged away
    this.listeners = [
      [window, "mousemove", (event) => this.dragging && this.drag(event)],
      [window, "pointerup", () => this.release()],
      [document, "selectionchange", () => this.later()],
      [document, "copy", (event) => this.copied(event)],
    ];
    for (const [target, name, listener] of this.listeners) target.addEventListener(name, listener, true);
  }

  close() {
    clearTimeout(this.timer);
    for (const [target, name, listener] of this.listeners) target.removeEventListener(name, listener, true);
  }

  // Pages that hold a part of the selection stay drawn.
  keeps(page) {
    return Boolean(this.span) && page >= this.span[0] && page <= this.span[1];
  }

  // Dragging

  press(event) {
    if (event.button !== 0 || event.detail > 1 || !event.target.closest(".gw-page") || event.target.closest("button")) return;
    const at = this.wordAt(event.clientX, event.clientY);
    if (!at) return;
    if (event.shiftKey && this.anchor) {
      event.preventDefault();
      this.desk.focus();
      return this.extend(at);
    }
    getSelection().removeAllRanges();
    this.span = null;
    this.between.clear();
    this.lacking = "";
    this.anchor = at;
    this.dragging = true;
  }

  drag(event) {
    if (!(event.buttons & 1)) return this.release();
    const desk = this.desk.getBoundingClientRect();
    const over = event.clientY < desk.top + EDGE ? -1 : event.clientY > desk.bottom - EDGE ? 1 : 0;
    if (over) this.desk.scrollBy({ top: over * 24, behavior: "instant" });
    const at = this.wordAt(event.clientX, Math.min(Math.max(event.clientY, desk.top + 1), desk.bottom - 1));
    if (at) this.extend(at);
  }

  extend(at) {
    const [from, to] = [this.node(this.anchor), this.node(at)];
    if (!from || !to) return;
    this.span = [Math.min(this.anchor.page, at.page), Math.max(this.anchor.page, at.page)];
    getSelection().setBaseAndExtent(from, this.anchor.letter, to, at.letter);
    this.fetchBetween();
  }

  // Pages between the two ends that were never near, as when one jumps on and then presses Shift, are selected as well.
  async fetchBetween() {
    const { span } = this;
    const document = this.pages.document;
    const far = (page) => !this.pages.drawn.has(page) && !this.between.has(page);
    const pages = Array.from({ length: Math.max(0, span[1] - span[0] - 1) }, (_, i) => span[0] + 1 + i).filter(far);
    this.lacking = pages.length ? "Loading the text…" : "";
    if (!pages.length) return;
    try {
      for (const page of pages) {
        const words = await getWords(document, page);
        if (this.span !== span || this.pages.document !== document) return;
        this.between.set(page, words);
      }
      this.lacking = "";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.lacking = "Some of the text couldn’t be loaded";
    }
    this.later();
  }

  release() {
    if (!this.dragging) return;
    this.dragging = false;
    this.later();
  }

  node({ page, i }) {
    return this.pages.drawn.get(page)?.querySelector(`[data-i="${i}"]`)?.firstChild;
  }

  // The letter nearest to a point of the window: { page, i, letter }.
  wordAt(clientX, clientY) {
    let page = null;
    let least = Infinity;
    for (const [number, element] of this.pages.drawn) {
      const { top, bottom } = element.getBoundingClientRect();
      const away = Math.max(top - clientY, clientY - bottom, 0);
      if (element.gwWords?.length && away < least) [page, least] = [number, away];
    }
    if (page === null) return null;
    const words = this.pages.drawn.get(page).gwWords;
    const [x, y] = this.pages.pointAt(page, clientX, clientY);
    let found = 0;
    let nearest = Infinity;
    for (const [i, [x0, y0, x1, y1]] of words.entries()) {
      const away = Math.max(x0 - x, x - x1, 0) + ASIDE * Math.max(y0 - y, y - y1, 0);
      if (away < nearest) [found, nearest] = [i, away];
    }
    const [x0, , x1, , text] = words[found];
    const share = Math.min(Math.max((x - x0) / Math.max(x1 - x0, 0.1), 0), 1);
    return { page, i: found, letter: Math.round(share * text.length) };
  }

  // What is selected

  // { text, page }: the words as they were read, and the page on which they begin; null where none are.
  chosen() {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return null;
    const range = selection.getRangeAt(0);
    let text = "";
    let first = null;
    const [top, end] = this.span ?? [0, 0];
    const unseen = [...this.between].filter(([page]) => page > top && page < end && !this.pages.drawn.get(page)?.gwWords);
    for (const [page, element] of [...this.pages.drawn, ...unseen].sort(([a], [b]) => a - b)) {
      if (Array.isArray(element)) {
        text += element.map(([, , , , word, after]) => word + after).join("");
        continue;
      }
      if (!element.gwWords || !range.intersectsNode(element)) continue;
      for (const part of element.querySelectorAll(".gw-text tspan")) {
        if (!range.intersectsNode(part)) continue;
        const [, , , , word, after] = element.gwWords[part.dataset.i];
        const from = range.startContainer === part.firstChild ? Math.min(range.startOffset, word.length) : 0;
        const to = range.endContainer === part.firstChild ? Math.min(range.endOffset, word.length) : word.length;
        if (to <= from) continue;
        text += word.slice(from, to) + (to === word.length ? after : "");
        first ??= page;
      }
    }
    text = text.trim();
    return text ? { text, page: first } : null;
  }

  copied(event) {
    const chosen = this.desk.contains(getSelection().anchorNode) ? this.chosen() : null;
    if (!chosen) return;
    event.preventDefault();
    if (!this.lacking) event.clipboardData.setData("text/plain", chosen.text);
  }

  // The bar

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(), 120);
  }

  show() {
    const selection = getSelection();
    const inside = !this.dragging && selection.rangeCount && this.desk.contains(selection.anchorNode) ? this.chosen() : null;
    this.bar.hidden = !inside;
    if (!inside) {
      if (!this.dragging) this.span = null;
      return;
    }
    this.asking.hidden = !composer();
    this.said.textContent = this.lacking;
    this.copying.lastChild.textContent = this.lacking || "Copy with source";
    this.copying.disabled = this.asking.disabled = Boolean(this.lacking);
    const rects = [...selection.getRangeAt(0).getClientRects()].filter((rect) => rect.width && rect.height);
    if (!rects.length) return;
    const [desk, root] = [this.desk.getBoundingClientRect(), this.root.getBoundingClientRect()];
    const low = rects.reduce((a, b) => (b.bottom > a.bottom ? b : a));
    const { offsetWidth, offsetHeight } = this.bar;
    const left = Math.min(Math.max(low.left, desk.left + 6), desk.right - offsetWidth - 12);
    const top = Math.min(Math.max(low.bottom + 6, desk.top + 6), desk.bottom - offsetHeight - 12);
    this.bar.style.cssText = `left:${left - root.left}px;top:${top - root.top}px`;
  }

  // “…” (title, p. 38)
  source(chosen) {
    const { title, pages } = this.pages.document;
    return `${title}, p. ${pages[chosen.page - 1][2]}`;
  }

  async copyQuote() {
    const chosen = this.chosen();
    if (!chosen) return;
    const text = `“${chosen.text}” (${this.source(chosen)})`;
    const done = await copy(text);
    this.copying.lastChild.textContent = done ? "Copied" : "The browser blocked it";
    this.said.textContent = this.copying.lastChild.textContent;
  }

  ask() {
    const chosen = this.chosen();
    const field = composer();
    if (!chosen || !field) return;
    const flat = chosen.text.replace(/\s+/g, " ");
    const quote = flat.length > LONG ? `${flat.slice(0, LONG)}…` : flat;
    const begins = `About “${quote}” (${this.source(chosen)}):`;
    const text = `${begins} ${field.value}`;
    // React keeps a value of its own, which only the field's own setter with an event tells of the new one.
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    getSelection().removeAllRanges();
    this.bar.hidden = true;
    this.begun(begins);
    field.focus();
    field.setSelectionRange(text.length, text.length);
    field.scrollTop = field.scrollHeight;
  }
}
