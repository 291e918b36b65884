// What is said in the conversation beside its turns.

import { h, icon } from "../shared/dom.js";

// A card that stays in sight at the lower edge; it takes the place of the one before of its name, null only ends that.
export function pin(column, name, card) {
  column.querySelector(`:scope > [data-pin="${name}"]`)?.remove();
  if (!card) return;
  card.dataset.pin = name;
  column.append(card);
}

export const pinned = (column) => column.querySelectorAll(":scope > [data-pin]");

// Card that says why a question isn't sent yet.
export const waiting = (message, hint) => h("div", { class: "gw-msg info", role: "status" }, icon("schedule"), h("div", {}, h("b", {}, message), h("p", {}, hint)));

// A card in a turn, behind the first of its parts that `after` selects.
export function say(turn, card, after) {
  card.dataset.said = "";
  (turn.querySelector(after) ?? turn.lastElementChild).after(card);
  card.scrollIntoView({ block: "nearest" });
}

export function unsay(column) {
  for (const old of column.querySelectorAll(".gw-msg[data-said]")) old.remove();
}

// What the app's page says below the conversation about an answer that is being written is over with that.
export function unsayBusy() {
  for (const old of document.querySelectorAll(".st-key-gw_composer .gw-while")) old.hidden = true;
}
