// A row of tabs over a panel: arrow keys go from tab to tab.

import { h } from "../shared/dom.js";

export class Tabs {
  // `names`: [words, id of what it shows]; `show(at)` gives the view of a tab, an object with its `element`,
  // or nothing while it is being fetched; `again` shows it when it has come.
  constructor(label, id, names, show) {
    this.names = names;
    this.view = show;
    this.tabs = names.map(([words, of], i) =>
      h("button", { type: "button", role: "tab", id: `gw-tab-${of}`, "aria-controls": id, "aria-selected": "false", tabindex: "-1", onclick: () => this.turn(i) }, words, h("span", { class: "num" })),
    );
    this.panel = h("div", { class: "tabpanel", id, role: "tabpanel" });
    this.parts = [h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: (event) => this.key(event) }, this.tabs), this.panel];
  }

  count(at, number) {
    this.tabs[at].lastChild.textContent = number.toLocaleString("en");
  }

  again() {
    this.turn(this.at);
  }

  turn(chosen, focus = false) {
    this.at = chosen;
    this.tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
    });
    const view = this.view(chosen);
    this.panel.setAttribute("aria-labelledby", this.tabs[chosen].id);
    this.panel.dataset.of = this.names[chosen][1];
    this.panel.replaceChildren(...(view ? [view.element] : []));
    view?.show?.();
    if (focus) this.tabs[chosen].focus();
  }

  key(event) {
    const there = this.tabs.filter((tab) => !tab.hidden);
    const at = there.findIndex((tab) => tab.tabIndex === 0);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: there.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.turn(this.tabs.indexOf(there[(to + there.length) % there.length]), true);
  }
}
