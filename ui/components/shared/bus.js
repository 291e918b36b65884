// Opening a citation: a window event, kept until there is a pane to take it (the two components mount in any order).

let waiting = null;

export function openCitation(detail) {
  waiting = detail;
  dispatchEvent(new CustomEvent("gw:open", { detail }));
}

export function closeCitation() {
  waiting = null;
  dispatchEvent(new CustomEvent("gw:clear"));
}

// The pane's side: what is waiting, once.
export function takeWaiting() {
  const detail = waiting;
  waiting = null;
  return detail;
}
