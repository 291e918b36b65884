// The question of a turn: its versions with a switch between them, a pencil to edit it, and how it was understood.

import { button, h, plural } from "../shared/dom.js";

const BUSY = "wait for the answer, or stop it";

export function questionHead(turn, actions) {
  const text = h("h2", { class: "gw-q" }, turn.question);
  return h("div", { class: "gw-ask" }, h("div", { class: "what" }, text), tools(turn, actions));
}

export function tools(turn, actions) {
  const box = h("div", { class: "gw-tools" });
  const { versions } = turn;
  if (versions.length > 1) box.append(switcher(versions, versions.indexOf(turn.id), actions));
  box.append(resting(button("Edit the question", "edit", actions.edit, { "data-edit": true })));
  return box;
}

function switcher(versions, at, actions) {
  const to = (step) => versions[at + step] && actions.show(versions[at + step], step);
  const box = h(
    "div",
    { class: "gw-versions num", role: "group", "aria-label": `Version ${at + 1} of ${versions.length}` },
    resting(button("Previous version", "chevron_left", () => to(-1), { "data-step": -1 }), at === 0 && "there is none before"),
    h("span", { "aria-hidden": "true" }, `${at + 1}/${versions.length}`),
    resting(button("Next version", "chevron_right", () => to(1), { "data-step": 1 }), at === versions.length - 1 && "there is none after"),
  );
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const way = step && box.querySelector(`[data-step="${step}"]`);
    if (!way) return;
    event.preventDefault();
    way.click();
  });
  return box;
}

// A button that rests while an answer is written, and for good where `never` says why. It can still be reached, so that
// the reason can be read.
export function resting(made, never = "") {
  made.dataset.rests = never || "";
  made.addEventListener("click", (event) => made.getAttribute("aria-disabled") === "true" && event.stopImmediatePropagation(), { capture: true });
  rest(made, false);
  return made;
}

export function rest(made, busy) {
  const why = made.dataset.rests || (busy ? BUSY : "");
  const name = made.getAttribute("aria-label");
  made.setAttribute("aria-disabled", String(Boolean(why)));
  made.title = why ? `${name}: ${why}` : name;
}

// Under the question: as what it was searched for, where that is not what was typed.
export function understood({ standalone, rewritten, as_typed }) {
  if (as_typed) return h("p", { class: "gw-understood" }, "Searched as you typed it.");
  return h("p", { class: "gw-understood" }, "Understood as: ", h("span", {}, `“${standalone}”`), rewritten && ` Rewritten by ${rewritten}.`);
}

// Of a question longer than a few lines, only these until all of it is asked for. Looked at when the browser has laid it
// out: to ask for its height at once would lay out the whole conversation, for each of its turns.
export function clampQuestion(question) {
  laidOut.observe(question);
}

const laidOut = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (!target.clientHeight) continue; // not in sight yet
    laidOut.unobserve(target);
    if (target.scrollHeight > target.clientHeight + 2) target.after(showAll(target));
  }
});

function showAll(question) {
  const more = h("button", { type: "button", class: "gw-linkish gw-all", "aria-expanded": "false" }, "Show all");
  more.addEventListener("click", () => {
    const all = question.classList.toggle("is-all");
    more.textContent = all ? "Show less" : "Show all";
    more.setAttribute("aria-expanded", String(all));
  });
  return more;
}

// In place of the question: a field with it. `ask(text)` resolves to an error's card, or to nothing when it was asked;
// `ended` is called when the question stays as it was.
export function editQuestion(head, turn, { ask, ended, below }) {
  const field = h("textarea", { class: "gw-field", "aria-label": "Question", "aria-describedby": "gw-edit-hint", rows: "1" });
  field.value = turn.question;
  const send = h("button", { type: "button", class: "gw-btn sm primary", onclick: () => sent() }, "Ask");
  const cancel = h("button", { type: "button", class: "gw-btn sm", onclick: () => end() }, "Cancel");
  const lost = below ? ` The ${plural(below, "question")} below ${below === 1 ? "stays" : "stay"} with the previous version.` : "";
  const said = h("p", { class: "gw-hint", id: "gw-edit-hint" }, `Press Enter to ask, Esc to cancel.${lost}`);
  const heading = h("h2", { class: "gw-unseen" }, turn.question); // the outline of the page stays as it was
  const form = h("div", { class: "gw-edit" }, heading, field, h("div", { class: "row" }, said, cancel, send));
  const fit = () => {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
    send.disabled = !field.value.trim();
  };
  const end = () => {
    form.replaceWith(head);
    head.querySelector("[data-edit]").focus();
    ended();
  };
  const sent = async () => {
    if (!field.value.trim() || field.readOnly) return;
    field.readOnly = send.disabled = true;
    const failed = await ask(field.value.trim());
    if (!failed) return;
    field.readOnly = send.disabled = false;
    form.querySelector(".gw-msg")?.remove();
    form.append(failed);
    field.focus();
  };
  field.addEventListener("input", fit);
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") end();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    sent();
  });
  head.replaceWith(form);
  fit();
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
