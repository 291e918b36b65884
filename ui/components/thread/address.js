// What the page's address says of the conversation, always without a step of its own in the browser's history.

export function nameInAddress(conversation) {
  change((query) => query.set("c", conversation));
}

// The citation that is open, so that a reload opens it again; none without a turn.
export function citeInAddress(turn, n) {
  change((query) => (turn ? query.set("cite", `${turn}-${n}`) : query.delete("cite")));
}

// What is to be opened: the turn and number that a link names (`copyLink`), which is taken out of the address, or those
// that were open before a reload. `number` is as the link has it, "" where it names an answer only.
export function namedInAddress() {
  const { t, n: number = "", cite } = Object.fromEntries(new URL(location.href).searchParams);
  if (t) change((query) => ["t", "n"].forEach((name) => query.delete(name)));
  const [turn, n] = t ? [t, number] : (cite?.split("-") ?? []);
  return { linked: Boolean(t), turn, n: Number(n), number };
}

function change(made) {
  const address = new URL(location.href);
  made(address.searchParams);
  history.replaceState(history.state, "", address);
}
