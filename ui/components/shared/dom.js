// Small helpers over the DOM. Text always goes in as text; only blocks rendered by ui/chat/markup.py go in as HTML.

export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name, size = "") {
  return h("span", { class: `gw-i gw-i-${name} ${size}`.trim(), "aria-hidden": "true" });
}

export function button(label, iconName, onclick, more = {}) {
  return h("button", { type: "button", class: "gw-btn quiet icon sm", "aria-label": label, title: label, onclick, ...more }, icon(iconName, "s16"));
}

// A line of a panel (shared/popup.js).
export function item(label, iconName, onclick, more = {}) {
  return h("button", { type: "button", class: "item", onclick, ...more }, icon(iconName, "s16"), label);
}

export function fromHtml(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

// Text of an error or hint: what stands between backticks becomes code. `_prose` in ui/server/frame.py is its twin.
export const prose = (text) => text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", {}, part) : part));

// An error and what to do about it.
const told = (error) => [icon("error"), h("div", {}, h("b", {}, prose(error.message)), error.hint && h("p", {}, prose(error.hint)))];
export const errorBox = (error) => h("div", { class: "gw-msg bad", role: "alert" }, told(error));

// Box for an error, hidden until `showTrouble` is given one.
export const troubleBox = () => h("div", { class: "gw-msg bad", role: "alert", hidden: true });

// Shows `error` in its box, `more` beside its words; none hides the box.
export function showTrouble(box, error, ...more) {
  box.hidden = !error;
  if (error) box.replaceChildren(...told(error), ...more);
}

// The field in which questions are typed; null where there is none.
export const composer = () => document.querySelector(".st-key-gw_composer textarea:not(:disabled)");

export const typing = (event) =>
  event.ctrlKey || event.metaKey || event.altKey ||
  /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable;

export const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
