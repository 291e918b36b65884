// Find in document: the server knows where what is typed is printed; matches are lit in a colour of their own, since yellow
// is evidence and nothing else is.

import { answered, get } from "../shared/api.js";
import { button, h, prose } from "../shared/dom.js";

const WAIT = 150; // ms after a key before it is searched for

export class Find {
  constructor(pages, rail) {
    this.pages = pages;
    this.rail = rail;
    this.field = h("input", { class: "gw-field", type: "text", placeholder: "Find in document", "aria-label": "Find in document", autocomplete: "off", spellcheck: "false", maxlength: "500", oninput: () => this.later(), onkeydown: (event) => this.key(event) });
    this.said = h("span", { class: "said num", role: "status" });
    this.element = h(
      "div",
      { class: "gw-find", role: "search", "aria-label": "Find in document", hidden: true },
      this.field,
      this.said,
      button("Previous match", "keyboard_arrow_up", () => this.step(-1)),
      button("Next match", "keyboard_arrow_down", () => this.step(1)),
      button("Close the search", "close", () => this.close()),
    );
    this.asked = 0;
    this.forget();
  }

  get shown() {
    return !this.element.hidden;
  }

  open(text = "") {
    this.element.hidden = false;
    if (text) this.field.value = text;
    this.field.focus();
    this.field.select();
    if (this.field.value.trim() && this.field.value.trim() !== this.query) this.search();
  }

  close() {
    this.element.hidden = true;
    clearTimeout(this.timer);
    this.forget();
    this.pages.desk.focus();
  }

  // Another document: the same words are looked for in it, and the page stays.
  show(document) {
    this.document = document;
    this.forget();
    if (this.shown && document) this.search(false);
  }

  forget() {
    this.asked++;
    Object.assign(this, { query: "", count: 0, perPage: [], at: -1, onPage: new Map() });
    this.said.textContent = "";
    this.rail.found([]);
    this.pages.showMatches(null, [], -1);
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), WAIT);
  }

  async search(go = true) {
    clearTimeout(this.timer);
    const query = this.field.value.trim();
    if (query === this.query) return;
    this.forget();
    if (!query || !this.document) return;
    this.query = query;
    const number = this.asked;
    const found = await this.get(`/documents/${this.document.id}/find`);
    if (!found || number !== this.asked) return;
    this.count = found.count;
    this.perPage = found.pages;
    this.rail.found(found.pages);
    this.tell();
    for (const page of this.pages.drawn.keys()) this.draw(page);
    if (go && this.count) await this.go(this.first(this.pages.page));
  }

  // What the server says to the query; what goes wrong is said in the bar.
  async get(path) {
    const number = this.asked;
    const found = await answered(() => get(path, { q: this.query }));
    if (!found.refused) return found;
    if (number === this.asked) this.said.replaceChildren(...prose(`${found.refused.message} ${found.refused.hint}`));
    return null;
  }

  tell() {
    this.element.classList.toggle("none", Boolean(this.query) && !this.count);
    const count = this.count.toLocaleString("en");
    this.said.textContent = !this.query ? "" : !this.count ? "No match" : this.at < 0 ? `${count}` : `${(this.at + 1).toLocaleString("en")} of ${count}`;
  }

  // The number of the first match on a page or after it, of the first one where there is none.
  first(page) {
    let before = 0;
    for (const [at, count] of this.perPage) {
      if (at >= page) return before;
      before += count;
    }
    return 0;
  }

  pageOf(match) {
    let before = 0;
    for (const [page, count] of this.perPage) {
      before += count;
      if (match < before) return page;
    }
    return null;
  }

  matchesOn(page) {
    if (!this.onPage.has(page)) this.onPage.set(page, this.get(`/documents/${this.document.id}/pages/${page}/found`));
    return this.onPage.get(page);
  }

  // Lights what is on a page that is drawn; what begins on the page before may lead over to it.
  async draw(page) {
    if (!this.count || this.pages.matches.has(page) || !this.perPage.some(([at]) => at === page || at === page - 1)) return;
    const number = this.asked;
    const matches = await this.matchesOn(page);
    if (matches && number === this.asked) this.pages.showMatches(page, matches, this.at);
  }

  async go(match) {
    const number = this.asked;
    const page = this.pageOf(match);
    this.at = match;
    this.tell();
    const matches = await this.matchesOn(page);
    if (!matches || number !== this.asked || this.at !== match) return;
    const [, boxes] = matches.find(([other]) => other === match);
    this.pages.showMatches(page, matches, match);
    this.pages.setMatch(match);
    this.pages.pending = null;
    this.pages.bring(boxes, page);
  }

  step(by) {
    if (this.field.value.trim() !== this.query) this.search();
    else if (this.count) this.go((this.at + by + this.count) % this.count);
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && !event.isComposing) this.step(event.shiftKey ? -1 : 1);
    else if ((event.ctrlKey || event.metaKey) && event.key === "f") this.field.select();
    else return;
    event.preventDefault();
  }
}
