// What the script has to know before it gets the question that is being sent: told while the key is still going down.

import { composer, h } from "./dom.js";

const listeners = new Set();
const holders = new Set();

function tell(event) {
  if (![...holders].some((holds) => holds())) {
    window.gwLater.forEach((now) => now());
    delete window.gwAsked; // what is told with this question does not wait for the last one
    listeners.forEach((listener) => listener());
    window.gwAsked = performance.now(); // what is told next waits, so that it does not overtake the question
    return;
  }
  // Streamlit does not get to know of the key, so that the question stays in the field.
  event.preventDefault();
  event.stopImmediatePropagation();
}

addEventListener(
  "keydown",
  (event) => {
    const { target, key, shiftKey, isComposing } = event;
    if (key === "Enter" && !shiftKey && !isComposing && target.matches?.(".st-key-gw_composer textarea") && target.value.trim()) tell(event);
  },
  { capture: true },
);
addEventListener("click", (event) => event.target.closest?.('.st-key-gw_composer [data-testid="stChatInputSubmitButton"]:not(:disabled)') && tell(event), { capture: true });

// Calls `listener` at each question; what it returns ends that.
export function beforeAsking(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// No question is sent while `holds()` is true; what it returns ends that.
export function holdAsking(holds) {
  holders.add(holds);
  return () => holders.delete(holds);
}

// Leads from the top of the page, past all else there, to where questions are typed: seen while it has the focus.
export const skip = () => h("nav", { class: "gw-skip", "aria-label": "Skip" }, h("button", { type: "button", class: "gw-btn primary", onclick: () => composer()?.focus() }, "Skip to the question"));

// What is typed and not sent yet, and sending it.
export const typed = () => composer()?.value.trim() ?? "";
export const send = () => document.querySelector('.st-key-gw_composer [data-testid="stChatInputSubmitButton"]')?.click();
