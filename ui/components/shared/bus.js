// Opening a citation, or looking at its page before any is opened: a window event, kept until there is a pane to take
// it (the two components mount in any order).

let waiting = null;

function send(name, detail) {
  waiting = { name, detail };
  dispatchEvent(new CustomEvent(name, { detail }));
}

export const openCitation = (detail) => send("gw:open", detail);
export const lookAtCitation = (detail) => send("gw:look", detail);

export function closeCitation() {
  waiting = null;
  dispatchEvent(new CustomEvent("gw:clear"));
}

// Listens to events of the window, each as its name, what hears it, and whether that comes first; returns what ends it.
export function listening(all) {
  for (const one of all) addEventListener(...one);
  return () => all.forEach((one) => removeEventListener(...one));
}

// The pane's side: what is waiting (name and detail), once.
export function takeWaiting() {
  const taken = waiting;
  waiting = null;
  return taken;
}
