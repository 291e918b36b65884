// A button with a panel below it: arrow keys move between what is in it, Escape and a click elsewhere close it.

import { button, h, icon } from "./dom.js";

let panels = 0;
const REACHED = "a[href], button:not([disabled]), input:not([disabled])";

export class Popup {
  // `fill(panel)` draws what is in the panel each time that it opens.
  constructor(label, iconName, fill) {
    this.fill = fill;
    this.id = `gw-panel-${(panels += 1)}`;
    this.button = button(label, iconName, () => this.pressed(), { "aria-expanded": "false", "aria-controls": this.id });
    this.panel = h("div", { class: "gw-panel", id: this.id, role: "group", "aria-label": label, hidden: true });
    this.element = h("div", { class: "gw-popup" }, this.button, this.panel);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.away = (event) => this.element.contains(event.target) || this.close();
  }

  get open() {
    return !this.panel.hidden;
  }

  // What is seen in the panel and can have the focus.
  get reached() {
    return [...this.panel.querySelectorAll(REACHED)].filter((one) => one.getClientRects().length);
  }

  // The button with its label in words; returns the popup.
  spelled(style) {
    this.button.className = style;
    this.button.append(h("span", { class: "lb" }, this.button.getAttribute("aria-label")));
    return this;
  }

  // Off with a reason, which the button says.
  disable(reason) {
    this.button.setAttribute("aria-disabled", String(Boolean(reason)));
    this.button.title = reason || this.button.getAttribute("aria-label");
    if (reason) this.close();
  }

  pressed() {
    if (this.button.getAttribute("aria-disabled") === "true") return;
    if (this.open) this.close();
    else this.show();
  }

  show() {
    this.panel.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    addEventListener("pointerdown", this.away, { capture: true });
    this.fill(this.panel);
    this.reached[0]?.focus();
  }

  close(refocus = false) {
    this.panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    removeEventListener("pointerdown", this.away, { capture: true });
    if (refocus) this.button.focus();
  }

  key(event) {
    if (!this.open) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close(true);
    } else if (event.key === "Tab") {
      setTimeout(() => this.element.contains(document.activeElement) || this.close());
    } else if (["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      const all = this.reached;
      const at = all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      all.at(at % all.length)?.focus();
    }
  }
}

// Item that shares what is one's own with everybody in the library, who `may` then do what it says, or stops that.
export function shareItem(shared, may, toggle) {
  const means = shared ? `Only you ${may} it then` : `Everybody in this library may ${may} it`;
  return h("button", { type: "button", class: "item", onclick: toggle }, icon(shared ? "lock" : "link", "s16"), h("span", {}, shared ? "Stop sharing" : "Share", h("small", {}, means)));
}
