// What stands before the turns that are here: how many, and a button that brings the next of them. Scrolling near it
// presses it.

import { h, plural } from "../shared/dom.js";

const NEAR = 800; // px above what is in sight

export class Earlier {
  // `bring()` resolves when they are there.
  constructor(flow, bring) {
    this.bring = bring;
    this.count = 0;
    this.button = h("button", { type: "button", class: "gw-btn sm", onclick: () => this.load() });
    this.element = h("div", { class: "gw-earlier", hidden: true }, this.button);
    this.sight = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && this.load(), { root: flow, rootMargin: `${NEAR}px 0px 0px` });
  }

  set(count) {
    this.count = count;
    this.element.hidden = !count;
    this.button.textContent = `Show ${plural(count, "earlier question")}`;
    this.element.querySelector(".gw-msg")?.remove();
    // Observed anew, it tells also where it came into sight while turns were being brought.
    this.sight.unobserve(this.element);
    if (count) this.sight.observe(this.element);
  }

  async load() {
    if (this.loading || !this.count) return;
    this.loading = true;
    try {
      await this.bring();
    } finally {
      this.loading = false;
    }
  }

  say(card) {
    this.sight.unobserve(this.element); // asked again by hand only
    this.element.querySelector(".gw-msg")?.remove();
    this.element.append(card);
  }

  close() {
    this.sight.disconnect();
  }
}
