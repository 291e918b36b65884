// A name that is typed in place: a field in `room`, which Enter or leaving it keeps and Escape gives up.

import { h } from "./dom.js";

// `keep(name)` gets another name than `now`, `ended(back)` is told afterwards: whether the focus goes back where it was.
// Returns what gives it up.
export function editName(room, now, keep, ended, longest = 200) {
  let open = true;
  const end = (kept, back) => {
    if (!open) return;
    open = false;
    const name = field.value.trim();
    if (kept && name !== now) keep(name);
    ended(back);
  };
  const field = h("input", { class: "gw-field", type: "text", "aria-label": "Title", maxlength: `${longest}`, value: now, onblur: () => end(true, false) });
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // or the button that gets the focus is pressed
    if (!event.isComposing) end(event.key === "Enter", true);
  });
  room.replaceChildren(field);
  field.focus();
  field.select();
  return () => end(false, false);
}
