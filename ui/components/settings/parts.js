// What the sections of the page are made of: a card of lines, each with its words on the left and its control right.

import { answered, get } from "../shared/api.js";
import { errorBox, h, icon } from "../shared/dom.js";

// A section that asks the server for what it shows: `draw()` fills it.
export class Part {
  constructor(id, path) {
    this.found = null; // as the server told it last
    this.error = null;
    this.element = h("section", { id });
    this.ask(() => get(path));
  }

  // What came of a call, which is shown, and that it was `said`; null if it was refused, which is said.
  async ask(call, said = "") {
    const told = await answered(call);
    this.error = told.refused ?? null;
    this.said = this.error ? "" : said;
    if (!this.error) this.take(told);
    this.draw();
    return this.error ? null : told;
  }

  take(told) {
    this.found = told;
  }

  get trouble() {
    return this.error && errorBox(this.error);
  }

  // What had the focus has it again, or else what is `instead` of it.
  fill(parts, instead = () => null) {
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.element.replaceChildren(...parts.filter(Boolean));
    if (focused) (this.element.querySelector(`[data-focus="${CSS.escape(focused)}"]`) ?? instead(focused))?.focus({ preventScroll: true });
  }
}

export const card = (...lines) => h("div", { class: "frm" }, lines);

export const button = (words, focus, onclick, kind = "") => h("button", { type: "button", class: `gw-btn sm ${kind}`.trim(), "data-focus": focus, onclick }, words);

export function line(title, said, control, more = {}) {
  const label = more.for ? h("label", { for: more.for }, title) : h("b", {}, title);
  return h("div", { class: `fl ${more.class ?? ""}`.trim() }, h("div", { class: "lb" }, label, said && h("p", {}, said)), h("div", { class: "ct" }, control));
}

export function toggle(name, on, pressed, focus) {
  return h("button", { type: "button", class: "tg", role: "switch", "aria-checked": String(on), "aria-label": name, "data-focus": focus, onclick: () => pressed(!on) }, h("i"));
}

// A few choices beside one another; `choices` are [value, words].
export function choose(name, choices, value, chosen, focus) {
  const made = choices.map(([each, words]) => {
    const radio = h("input", { type: "radio", name: focus, value: each, "data-focus": `${focus} ${each}`, onchange: () => chosen(each) });
    radio.checked = each === value;
    return h("label", {}, radio, h("span", {}, words));
  });
  return h("div", { class: "seg", role: "radiogroup", "aria-label": name }, made);
}

// One of several cards of a group of radio buttons.
export function option(group, { name, title, said, on, off = false, side, foot }, chosen) {
  const radio = h("input", { type: "radio", name: group, value: name, "data-focus": `${group} ${name}`, "aria-label": title, "aria-describedby": `gw-${group}-${name}`, onchange: () => chosen(name) });
  radio.checked = on;
  radio.disabled = off;
  return h(
    "label",
    { class: `opt${on ? " on" : ""}${off ? " off" : ""}` },
    radio,
    h("span", { class: "h" }, h("b", {}, title), side),
    h("span", { class: "d", id: `gw-${group}-${name}` }, said),
    foot,
  );
}

export const state = (tone, sign, words) => h("span", { class: `gw-st ${tone}` }, icon(sign, "s16"), words);
