// What was removed a moment ago, in any tab, with a button that takes it back and one that does not wait.

import { h, icon, plural } from "../shared/dom.js";

const LINES = 3;

export class Toast {
  constructor({ restore, finish }) {
    Object.assign(this, { restore, finish });
    this.element = h("div", { class: "gw-toasts", role: "status", "aria-live": "polite" });
    this.groups = [];
  }

  // Documents that were removed together come back together: they have the same time left.
  draw(trash) {
    const groups = new Map();
    for (const item of trash) groups.set(item.left, [...(groups.get(item.left) ?? []), item]);
    this.groups = [...groups.values()];
    const key = JSON.stringify(this.groups.map((group) => group.map((item) => item.id)));
    if (key === this.key) return;
    this.key = key;
    const held = this.element.contains(document.activeElement);
    this.element.replaceChildren(...this.groups.slice(0, LINES).map((group) => this.line(group)));
    if (held) {
      if (this.groups.length) this.element.querySelector("button").focus();
      else this.after?.();
    }
  }

  line(group) {
    const what = group.length === 1 ? h("span", { class: "what" }, h("b", {}, group[0].title), " was removed.") : h("span", { class: "what" }, h("b", {}, plural(group.length, "document")), " were removed.");
    const name = group.length === 1 ? group[0].title : plural(group.length, "document");
    const ids = group.map((item) => item.id);
    const undo = h("button", { type: "button", class: "gw-btn sm", "aria-label": `Undo: bring back ${name}`, onclick: () => this.restore(ids) }, icon("replay", "s16"), "Undo");
    const now = h("button", { type: "button", class: "gw-btn sm quiet", "aria-label": `Delete for good: ${name}`, title: "Its file and all that was read of it are deleted now", onclick: () => this.finish(ids) }, "Delete for good");
    return h("div", { class: "gw-toast" }, icon("delete", "s16"), what, undo, now);
  }

  // Focus on the button that takes the last removal back, for the row that had it is gone; ``after`` gets it when that
  // is over.
  take(after) {
    this.after = after;
    this.element.querySelector("button")?.focus();
  }

  undo() {
    if (this.groups.length) this.restore(this.groups[0].map((item) => item.id));
  }
}
