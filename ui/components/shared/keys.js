// Single keys as shortcuts: only while no field has the focus, and they can be switched off, which is remembered.

import { typing } from "./dom.js";

const KEY = "gw.keys";

export const singleKeys = () => localStorage.getItem(KEY) !== "off";

export function setSingleKeys(on) {
  if (on) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "off");
}

// Whether a key takes back what was done last: in a field it is the browser's.
export const undoes = (event) => (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z" && !typing({ target: event.target });

// Does what a key means, if anything; nothing else hears of it then.
export function keyed(event, done) {
  if (!done) return;
  event.preventDefault();
  event.stopPropagation();
  done();
}

// Whether a key that goes down may be a shortcut by itself.
export const free = (event) => singleKeys() && !typing(event);
