// What a tab remembers of a conversation, or of none (null), while its page is loaded again; and what was typed.

import { who } from "./api.js";

// What somebody typed and neither kept nor cancelled, by what it is of. Nobody else who signs in there finds it.
const typed = (key) => `gw.typed ${who()} ${key}`;
export const unsaved = {
  get: (key) => sessionStorage.getItem(typed(key)),
  set: (key, text) => sessionStorage.setItem(typed(key), text),
  delete: (key) => sessionStorage.removeItem(typed(key)),
};

export function keep(key, conversation, place) {
  if (place) sessionStorage.setItem(key, JSON.stringify({ conversation, place }));
  else sessionStorage.removeItem(key);
}

// What was kept, once, where this is the same conversation after a reload or a way back; else null. Opened in another
// way, as by a link that is followed, a page begins as a new one.
export function takeKept(key, conversation) {
  const kept = JSON.parse(sessionStorage.getItem(key));
  sessionStorage.removeItem(key);
  const again = ["reload", "back_forward"].includes(performance.getEntriesByType("navigation")[0]?.type);
  return again && kept?.conversation === conversation ? kept.place : null;
}
