// What changed in a conversation is told to the other components of the page, and to the other tabs of this browser.

const channel = new BroadcastChannel("groundwork");

channel.addEventListener("message", (event) => tell(event.data, false));

const tell = (detail, here) => dispatchEvent(new CustomEvent("gw:changed", { detail: { ...detail, here } }));

// ``conversation`` is the id of what changed; the event's ``here`` says whether this tab did it.
export function changed(conversation) {
  channel.postMessage({ conversation });
  tell({ conversation }, true);
}
