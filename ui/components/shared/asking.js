// What the script has to know before it gets the question that is being sent: told while the key is still going down.

const listeners = new Set();
const tell = () => listeners.forEach((listener) => listener());

addEventListener(
  "keydown",
  (event) => {
    const { target, key, shiftKey, isComposing } = event;
    if (key === "Enter" && !shiftKey && !isComposing && target.matches?.(".st-key-gw_composer textarea") && target.value.trim()) tell();
  },
  { capture: true },
);
addEventListener("click", (event) => event.target.closest?.('.st-key-gw_composer [data-testid="stChatInputSubmitButton"]:not(:disabled)') && tell(), { capture: true });

// Calls `listener` at each question; what it returns ends that.
export function beforeAsking(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
