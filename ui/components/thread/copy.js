// Taking an answer along: as text with its notes, or as an address that opens it again here.

import { inLibrary } from "../shared/api.js";
import { copy } from "../shared/clipboard.js";
import { button, h, icon, item } from "../shared/dom.js";
import { quoted as inMarks, where } from "../shared/quoted.js";

const DONE = 1600; // ms for which a button says that it was done

export function copyButton(turn) {
  return doing("Copy with citations", "content_copy", ({ target }) => copy(withSources(turn), richText(turn, target.closest(".gw-turn").querySelector(".gw-answer"))));
}

// As a line of a panel.
export const linkItem = (turn, conversation) => doing("Copy link", "link", () => copyLink(conversation, turn.id), item);

// The address of an answer, and of one of its citations. Whether it was copied.
export function copyLink(conversation, turn, n = 0) {
  const address = new URL(location.href);
  address.search = inLibrary({ c: conversation, t: turn, ...(n && { n }) });
  address.hash = "";
  return copy(address.href);
}

function doing(name, sign, act, make = button) {
  const said = (words, shown) => {
    made.replaceChildren(icon(shown, "s16"), ...(make === item ? [words] : []));
    made.setAttribute("aria-label", words);
    if (make !== item) made.title = words;
  };
  const made = make(name, sign, async (event) => {
    if (!(await act(event))) return void said("The browser blocked it", "error");
    said("Copied", "check");
    setTimeout(() => said(name, sign), DONE);
  });
  return made;
}

function withSources(turn) {
  const lines = turn.citations.map((c) => `[${c.n}] ${c.title}, ${where(c)}: ${quoted(c)}${addedWords(turn, c.n)}`);
  return `${turn.question}\n\n${turn.text}\n\n${lines.join("\n")}\n`;
}

// The same for a word processor: the answer as it is drawn, its chips as raised numbers, and the notes as a list.
function richText(turn, answer) {
  const body = answer.cloneNode(true);
  for (const verdict of body.querySelectorAll(".gw-verdict")) verdict.remove();
  for (const chip of body.querySelectorAll("a.gw-cite")) chip.replaceWith(chip.classList.contains("gw-value") ? `${chip.textContent} ` : "", h("sup", {}, `[${chip.dataset.n}]`));
  for (const part of body.querySelectorAll("span")) part.replaceWith(...part.childNodes);
  for (const part of body.querySelectorAll("*")) for (const { name } of [...part.attributes]) part.removeAttribute(name);
  const notes = turn.citations.map((c) => h("p", {}, `[${c.n}] `, h("i", {}, c.title), `, ${where(c)}: ${quoted(c)}${addedWords(turn, c.n)}`));
  return h("div", {}, h("p", {}, h("b", {}, turn.question)), ...body.childNodes, ...notes).innerHTML;
}

function addedWords(turn, n) {
  if (!turn.added.includes(n)) return "";
  return turn.given.includes(n) ? " (added by Groundwork in places)" : " (added by Groundwork: the answer had no citation here)";
}

// An AI's words are marked as such wherever they stand as plain text.
function quoted({ quote, generated }) {
  const line = quote.replace(/\s+/g, " ");
  if (!generated) return inMarks(line);
  return line.includes("<::") ? line : `<::${line}::>`;
}
