// A panel that says what Claude is asked to read and what that may cost, with the button to go ahead.

import { h, plural } from "./dom.js";
import { Popup } from "./popup.js";

export class Asking extends Popup {
  // `say(model, n)` is what it will do with `n` of what `noun` names; `go(usd)` starts that, for as much at most as the
  // panel told, and tells whether it did; `next` then has the focus.
  constructor(noun, say, go, next) {
    super("Ask Claude", "forum", (panel) => this.ask(panel));
    Object.assign(this, { noun, say, go, next });
    this.spelled("gw-btn");
  }

  // `left` is what can be asked, null for nothing.
  draw(left) {
    this.left = left ?? this.left; // it may open while the page loads its data anew
    this.element.hidden = !left;
    if (!left) this.close();
  }

  ask(panel) {
    const { sections, words, usd, model } = this.left;
    const go = async () => {
      if (!(await this.go(usd))) return;
      this.close();
      this.next.focus();
    };
    const ask = h("button", { type: "button", class: "gw-btn sm primary", onclick: go }, `Ask about ${plural(sections, this.noun)}`);
    panel.replaceChildren(h("p", { class: "ask" }, this.say(model, sections)), h("div", { class: "row" }, ask, h("span", { class: "muted num" }, words)));
  }
}

// How far it is: `asked` is how many are read, of how many; of none while that is counted.
export const reads = ([done, total], noun = "") => (total ? ["Claude reads", noun, done + 1, "of", total].filter(Boolean).join(" ") : "Claude reads…");
