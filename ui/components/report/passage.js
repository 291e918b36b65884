// "Add to the section", beside what else can be done with words that are selected on a page.

import { h, icon } from "../shared/dom.js";

export class PassageButton {
  constructor(report) {
    this.report = report;
    this.button = h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => this.add() }, icon("add", "s14"), "Add to the section");
    this.changed = () => this.place();
    document.addEventListener("selectionchange", this.changed);
  }

  close() {
    document.removeEventListener("selectionchange", this.changed);
    this.button.remove();
  }

  place() {
    const bar = document.querySelector(".gw-pane .gw-picked");
    if (bar && this.button.parentElement !== bar) bar.prepend(this.button);
    const section = this.report.data && this.report.section;
    this.button.hidden = !section || section.accepted || !section.filled;
  }

  // The words that the selection touches: the page's own numbers of the first and the last.
  chosen() {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return null;
    const range = selection.getRangeAt(0);
    const words = [...document.querySelectorAll(".gw-pane .gw-text tspan")].filter((word) => {
      if (!range.intersectsNode(word)) return false;
      // Only touched at its edge.
      if (range.startContainer === word.firstChild && range.startOffset >= word.textContent.trimEnd().length) return false;
      return !(range.endContainer === word.firstChild && range.endOffset === 0);
    });
    if (!words.length) return null;
    const at = (word) => [Number(word.closest(".gw-page").dataset.page), Number(word.dataset.i)];
    const places = words.map(at).sort(([a, b], [c, d]) => a - c || b - d);
    const [[from, first], [to, last]] = [places[0], places.at(-1)];
    return { doc: document.querySelector(".gw-pane select.dt").value, from, first, to, last };
  }

  async add() {
    const chosen = this.chosen();
    if (!chosen) return;
    if (await this.report.act(`/sections/${this.report.current}/passages`, chosen)) {
      getSelection().removeAllRanges();
      this.report.say("Added to the section and pinned.");
    }
  }
}
