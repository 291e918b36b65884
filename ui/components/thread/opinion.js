// What a person thinks of an answer: helpful or not, and why. It stays in this library.

import { answered, post } from "../shared/api.js";
import { h, icon, item, prose } from "../shared/dom.js";

const REASONS = [
  ["wrong", "It is wrong"],
  ["citation", "A citation doesn’t match"],
  ["incomplete", "Something is missing"],
  ["beside", "Not what I asked"],
  ["refused", "The answer is in the documents"],
  ["other", "Something else"],
];

// The two lines of a panel, and the form that the second opens: `asked` is called then. `given` is what was said before,
// or undefined; `told` is called with what is said now.
export function opinion(turn, conversation, { given, told }) {
  const said = { now: given ?? null };
  const up = item("Helpful", "thumb_up", () => press(true), { "data-opinion": "up" });
  const down = item("Not helpful", "thumb_down", () => press(false), { "data-opinion": "down" });
  const form = h("div", { class: "gw-opinion", hidden: true });
  const mark = () => {
    up.setAttribute("aria-pressed", String(said.now?.helpful === true));
    down.setAttribute("aria-pressed", String(said.now?.helpful === false));
  };
  let sent = Promise.resolve();
  const tell = (feedback) => (sent = sent.then(() => put(feedback))); // in order, or an earlier one would replace it
  const put = async (feedback) => {
    const { refused, gone: error = refused } = await answered(() => post(`/conversations/${conversation}/questions/${turn.id}/feedback`, { feedback }));
    if (error) {
      form.hidden = false;
      form.replaceChildren(h("p", { class: "bad", role: "alert" }, prose(`${error.message} ${error.hint}`)));
      return false;
    }
    said.now = feedback;
    told(feedback);
    mark();
    return true;
  };
  const press = async (helpful) => {
    const back = said.now?.helpful === helpful;
    if (!(await tell(back ? null : { helpful, reason: "", words: "" }))) return;
    form.hidden = helpful || back;
    if (form.hidden) return;
    made.asked();
    ask(form, tell);
  };
  mark();
  const made = { items: [up, down], form, asked: () => {} };
  return made;
}

function ask(form, tell) {
  const back = () => form.closest(".gw-foot").querySelector(".gw-popup button").focus();
  const close = () => {
    form.hidden = true;
    back();
  };
  const words = h("textarea", { class: "gw-field", rows: "2", maxlength: "2000", "aria-label": "In your own words", placeholder: "In your own words (optional)" });
  let chosen = "";
  const reasons = REASONS.map(([reason, text]) => {
    const made = h("button", { type: "button", class: "gw-btn sm", "aria-pressed": "false", onclick: () => choose(reason, made) }, text);
    return made;
  });
  const choose = async (reason, made) => {
    chosen = chosen === reason ? "" : reason;
    for (const other of reasons) other.setAttribute("aria-pressed", String(other === made && chosen !== ""));
    await tell({ helpful: false, reason: chosen, words: words.value.trim() });
  };
  const send = async () => {
    if (!(await tell({ helpful: false, reason: chosen, words: words.value.trim() }))) return;
    form.replaceChildren(h("p", { role: "status" }, icon("check", "s16"), "Saved in this library only."));
    back();
  };
  form.replaceChildren(
    h("p", {}, "What is wrong with it?"),
    h("div", { class: "row", role: "group", "aria-label": "What is wrong with it?" }, reasons),
    words,
    h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm primary", onclick: send }, "Send"), h("button", { type: "button", class: "gw-btn sm quiet", onclick: close }, "Close"), h("span", { class: "muted" }, "It stays on this machine.")),
  );
  form.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  reasons[0].focus();
}
