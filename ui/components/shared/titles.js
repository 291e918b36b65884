// Titles in a list. Those that begin alike are cut in the middle where there is no room, so that what tells them apart stays.

import { h } from "./dom.js";

const ALIKE = 12; // characters that narrow rows show

// Where each title becomes another than those that begin like it, at a word; 0 for one that begins like no other.
export function apart(titles) {
  return titles.map((title) => {
    const shared = titles.map((other) => (other === title ? 0 : common(title, other))).filter((length) => length >= ALIKE);
    return shared.length ? Math.max(title.lastIndexOf(" ", Math.min(...shared)), 0) : 0;
  });
}

// The title of a row, cut before `at`.
export function titled(title, at, made = {}, tag = "span") {
  if (!at) return h(tag, made, title);
  return h(tag, { ...made, class: [made.class, "gw-apart"].filter(Boolean).join(" ") }, h("span", {}, title.slice(0, at)), h("span", {}, title.slice(at)));
}

function common(one, other) {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
