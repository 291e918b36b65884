// What a document was taken apart into: its pages element by element, what was left out of the index, and its passages.

import { h } from "../shared/dom.js";
import { ChunksView, NoiseView } from "./lists.js";
import { PageView } from "./page_view.js";
import { Tabs } from "./tabs.js";
import { duration } from "./words.js";

// "4 noise (2 page headers, 1 logo, 1 repeated)"
const named = (reason, count) => `${count.toLocaleString("en")} ${reason.replaceAll("_", " ")}${count > 1 && /(header|footer|logo|watermark)$/.test(reason) ? "s" : ""}`;
function facts(item) {
  const reasons = Object.entries(item.noise_by_reason ?? {}).map(([reason, count]) => named(reason, count));
  const noise = `${item.noise} noise${reasons.length ? ` (${reasons.join(", ")})` : ""}`;
  return `${noise} · read in ${duration(Math.max(1, Math.round(item.seconds)))}`;
}

const VIEWS = [["Elements", "elements", PageView], ["Noise", "noise", NoiseView], ["Chunks", "chunks", ChunksView]];

export class AdvancedView {
  constructor(read, item, { wide }) {
    const page = (number) => {
      this.tabs.turn(0, true);
      this.views[0].go(number);
    };
    this.views = VIEWS.map(([, , View]) => new View(read, item, { wide, page }));
    this.tabs = new Tabs("Parts of the document", "gw-parts", VIEWS, (at) => this.views[at]);
    this.element = h("div", { class: "parts" }, h("p", { class: "facts num" }, facts(item)), this.tabs.parts);
    [item.elements, item.noise, item.chunks].forEach((count, at) => this.tabs.count(at, count));
  }

  show() {
    this.tabs.turn(Math.max(0, VIEWS.findIndex(([, of]) => of === this.tabs.panel.dataset.of)));
  }
}
