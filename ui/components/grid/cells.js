// One cell of the table: what it says, and how far it can be trusted, by a mark with a word.

import { h, icon } from "../shared/dom.js";
import { day, valued } from "./words.js";

const unseen = (words) => h("span", { class: "gw-unseen" }, ` ${words}`);

// `state` of a cell that is empty, or to be filled again: `run` is being filled, `wait` comes later, `read` when its document is read, `lost` not until that is tried again,
// "" stays empty.
export function content(cell, column, state) {
  if (!cell || (cell.again && cell.status === "failed" && state)) return [state === "run" ? h("span", { class: "sk" }, unseen("Being filled")) : h("span", { class: "dot" }, "·", unseen({ wait: "Waiting", read: "Waits for its document", lost: "Its document isn’t read" }[state] ?? "Empty"))];
  if (cell.likely) return [h("span", { class: "ns", title: "Not certain: check it, and use it if it’s right" }, h("span", { class: "lk" }, valued(cell.likely, column).filter(Boolean).join(" ")), cell.again ? pending(state) : h("span", { class: "v weak" }, "?", unseen("likely, not certain")))];
  if (cell.status === "not_stated") return [h("span", { class: "ns" }, "not stated", ...(cell.again ? [pending(state)] : []), ...(cell.decision ? [decided(cell.decision)] : []))];
  if (cell.status === "failed") return [h("span", { class: "no" }, "Failed", h("button", { type: "button", class: "gw-linkish", tabindex: "-1", "data-retry": true }, "Retry"))];
  const [text, unit] = valued(cell, column);
  const lines = column.type === "list" ? text.split("\n") : [text];
  const below = column.type === "list" && cell.number > 1 ? `${cell.number} items` : column.type === "value" && cell.period ? day(cell.period) : "";
  return [
    h("span", { class: `l1 ${["quote", "text", "list"].includes(column.type) ? "long" : ""}` }, h("b", { title: cell.text }, lines[0]), unit && h("small", {}, unit), ...(cell.again ? [pending(state)] : verdict(cell))),
    below && h("span", { class: "l2" }, below),
  ].filter(Boolean);
}

function verdict({ status, supported, rivals, decision, stale }) {
  const out = [];
  if (stale) out.push(h("span", { class: "v weak", title: "Words changed since" }, icon("history", "s14"), unseen("words changed since")));
  if (status === "rival" && decision !== "corrected") out.push(h("span", { class: "v bad", title: `${rivals + 1} values found` }, String(rivals + 1), unseen("values")));
  else if (supported === false) out.push(h("span", { class: "v weak", title: "Not supported by its words" }, "~", unseen("not supported")));
  else if (supported && !decision) out.push(h("span", { class: "v ok", title: "Supported" }, icon("check", "s14"), unseen("supported")));
  if (decision) out.push(decided(decision));
  return out;
}

// What it says stays until it says something else.
function pending(state) {
  const words = { run: "Being filled again", wait: "Waits to be filled again" }[state] ?? "To be filled again";
  return h("span", { class: `v again ${state === "run" ? "run" : ""}`, title: words }, icon("refresh", "s14"), unseen(words.toLowerCase()));
}

function decided(kind) {
  const [sign, words] = { accepted: ["check_circle", "Accepted"], corrected: ["edit", "Corrected by hand"], not_stated: ["edit", "By hand"] }[kind];
  return h("span", { class: "v own", title: words }, icon(sign, "s14"), unseen(words.toLowerCase()));
}
