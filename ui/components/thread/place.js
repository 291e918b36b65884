// What was being read in a conversation, kept in this tab until the page is loaded again.

const KEY = "gw-place";

export function keepPlace(conversation, place) {
  if (conversation && place) sessionStorage.setItem(KEY, JSON.stringify({ conversation, ...place }));
  else sessionStorage.removeItem(KEY);
}

// The place in ``conversation`` before a reload, once: the `turn` at the upper edge and how far its `top` was from that.
// Opened in another way, as by a link that is followed, a page begins as a new one.
export function placeBefore(conversation) {
  const kept = JSON.parse(sessionStorage.getItem(KEY));
  sessionStorage.removeItem(KEY);
  const again = ["reload", "back_forward"].includes(performance.getEntriesByType("navigation")[0]?.type);
  return again && kept?.conversation === conversation ? kept : null;
}
