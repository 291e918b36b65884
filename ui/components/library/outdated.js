// Above the table: documents that other settings built, with a button that brings them up to date.

import { h, icon, plural } from "../shared/dom.js";

const NAMED = 3;

export class Outdated {
  constructor(read) {
    this.read = read;
    this.element = h("div", { class: "gw-msg weak", role: "status", hidden: true });
  }

  draw(documents) {
    const old = documents.filter((item) => item.stale && !item.job);
    this.element.hidden = !old.length;
    const key = old.map((item) => item.id).join();
    if (!old.length || this.element.dataset.key === key) return;
    this.element.dataset.key = key;
    const names = old.slice(0, NAMED).map((item) => `“${item.title}”`).join(", ") + (old.length > NAMED ? ` and ${plural(old.length - NAMED, "other")}` : "");
    const needs = old.length === 1 ? "needs" : "need";
    const update = h("button", { type: "button", class: "gw-btn sm", onclick: () => this.read(old.map((item) => item.id)) }, icon("replay", "s16"), "Update");
    this.element.replaceChildren(
      icon("warning"),
      h("div", {}, h("b", {}, `${plural(old.length, "document")} ${needs} updating.`), h("p", {}, `${names}. Update before asking questions. Pages already read aren’t read again.`), h("div", { class: "row" }, update)),
    );
  }
}
