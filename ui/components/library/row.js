// One document of the library: its line of the table. What is being done to it stands in that line, so that nothing
// moves while it goes on; only what went wrong takes room below.

import { pageUrl } from "../shared/api.js";
import { button, h, icon, plural, prose } from "../shared/dom.js";
import { duration, ordinal, size } from "./words.js";

const STEPS = [
  ["read", "Read"],
  ["build", "Structure"],
  ["embed", "Index"],
];

export function drawRow(item, actions, { fresh = false, checked = false } = {}) {
  const ready = item.status === "ready" || item.elements > 0;
  const title = ready
    ? h("a", { href: pageUrl("library", { doc: item.id }), "data-f": "title", onclick: (e) => e.ctrlKey || e.metaKey || (e.preventDefault(), actions.open()) }, item.title)
    : h("b", { tabindex: "-1", "data-f": "title" }, item.title);
  const cell = h("td", { class: "ti" }, title, ...[item.job ? progress(item, actions) : under(item)].filter(Boolean));
  if (!item.job && item.error) cell.append(trouble(item, actions));
  else if (!item.job && (item.status !== "ready" || !item.indexed)) cell.append(waiting(item, actions));
  else if (item.figures) cell.append(figures(item, actions));
  const check = h("input", { type: "checkbox", "data-f": "check", "aria-label": `Select ${item.title}`, onclick: (e) => actions.check(e) });
  check.checked = checked;
  const ways = ready && { onclick: (e) => !e.target.closest("a, button, input, form, .why") && getSelection().isCollapsed && actions.open() };
  return h(
    "tr",
    { class: `${fresh ? "fresh " : ""}${ready ? "opens" : ""}`, "data-doc": item.id, "data-status": state(item), ...ways },
    h("td", { class: "ck" }, check),
    cell,
    h("td", { class: "num r pg" }, item.pages ? item.pages.toLocaleString("en") : "–"),
    h("td", { class: "num r tb" }, ready ? String(item.tables) : "–"),
    h("td", { class: "sta" }, ...status(item, fresh)),
    h("td", { class: "num r by" }, size(item.bytes)),
    h("td", { class: "tg" }, item.tags.map((tag) => h("button", { type: "button", class: "gw-tagged", title: `Show only “${tag}”`, onclick: () => actions.only(tag) }, tag))),
    h("td", { class: "num ad" }, added(item.created)),
    h("td", { class: "mo" }, button(`Remove ${item.title}`, "delete", actions.remove, { "data-f": "remove" })),
  );
}

const state = (item) => (item.job ? "work" : item.error ? "failed" : item.stale ? "stale" : item.status === "ready" && item.indexed ? "ready" : "waiting");

// Only progress changed: bring it up to date in place and say so, so that focus and a typed password stay.
export function updateRow(row, before, item) {
  const same = (a) => JSON.stringify({ ...a, job: a.job && [a.job.stage, a.job.stopping], before: 0, pages_done: a.error ? a.pages_done : 0 });
  if (same(before) !== same(item)) return false;
  if (item.job) {
    const { share, words } = numbers(item);
    row.querySelector(".gw-bar").setAttribute("aria-valuenow", Math.round(share * 100));
    row.querySelector(".gw-bar i").style.width = `${share * 100}%`;
    row.querySelector(".now-at").replaceChildren(...words);
  }
  return true;
}

function under(item) {
  const name = item.title === item.name ? "" : item.name;
  const version = [item.earlier > 0 && `version ${item.earlier + 1}`, item.gone && "no longer in the folder"].filter(Boolean).join(", ");
  const marked = version && h("span", { class: "fo" }, icon("history", "s14"), version);
  const words = [item.folder && h("span", { class: "fo" }, icon("folder_open", "s14"), item.folder), marked, name].filter(Boolean);
  const below = item.error || item.status !== "ready" || !item.indexed; // something stands there all the same
  return words.length || !below ? h("p", { class: "un" }, words) : null;
}

function numbers({ job, before, pages, pages_done }) {
  const [done, total] = job.stage === "queued" ? [pages_done, pages] : [job.done, job.total];
  const share = total ? done / total : 0;
  const words = [];
  if (job.stage === "read") words.push(h("b", {}, job.total ? `Page ${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}` : "Opening"));
  if (job.stage === "describe") words.push(h("b", {}, `Figure ${Math.min(job.done + 1, job.total)} of ${job.total}`), h("span", {}, "described by Claude"));
  if (job.stage === "build") words.push(h("b", {}, "Assembling the pages"));
  if (job.stage === "embed") words.push(h("b", {}, `${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")} passages`));
  if (job.stage === "queued") words.push(h("b", {}, `Queued (${ordinal(before + 1)})`));
  if (job.stage === "queued" && pages_done) words.push(h("span", {}, `${pages_done.toLocaleString("en")} of ${pages.toLocaleString("en")} pages read`));
  if (job.rate > 0 && job.stage === "read") words.push(h("span", {}, `${job.rate} pages/s`));
  if (job.left !== null && job.rate > 0 && job.left > 1) words.push(h("span", {}, `about ${duration(job.left)} left`));
  return { share: job.stage === "build" ? 1 : share, words };
}

function progress(item, actions) {
  const { share, words } = numbers(item);
  const at = STEPS.findIndex(([stage]) => stage === (item.job.stage === "describe" ? "build" : item.job.stage));
  const stop = item.job.stopping ? h("span", {}, "Stopping") : h("button", { type: "button", class: "gw-linkish", "data-f": "cancel", "aria-label": `Cancel reading ${item.title}`, onclick: actions.cancel }, "Cancel");
  return h(
    "div",
    { class: `prog num ${item.job.stage}` },
    h("ol", { class: "steps", "aria-label": "Steps" }, STEPS.map(([, name], i) => h("li", { class: i < at ? "done" : i === at ? "now" : "", "aria-current": i === at ? "step" : null }, name))),
    h("span", { class: "now-at" }, words),
    stop,
    h("div", { class: "gw-bar", role: "progressbar", "aria-valuenow": Math.round(share * 100), "aria-valuemin": "0", "aria-valuemax": "100", "aria-label": `Progress of ${item.title}` }, h("i", { style: `width:${share * 100}%` })),
  );
}

function trouble(item, actions) {
  const { message, hint, code, again: retryable, settings } = item.error;
  const locked = code === "password_required" || code === "wrong_password";
  const kept = retryable && !settings && item.pages_done > 0 && item.status !== "ready" ? ` ${item.pages_done} of ${item.pages} pages are kept.` : "";
  return h("div", { class: "why", role: "alert" }, h("p", {}, h("b", {}, prose(message))), h("p", {}, prose(`${locked ? "Enter the password." : hint}${kept}`)), locked ? unlock(item, actions) : retryable ? again(item, actions, settings) : null);
}

function again(item, actions, settings) {
  const words = item.pages_done > 0 && item.pages_done < item.pages ? `Retry from page ${item.pages_done + 1}` : "Retry";
  const change = settings && h("button", { type: "button", class: "gw-btn sm", "data-f": "settings", onclick: () => actions.settings(settings) }, icon("settings", "s16"), "Settings");
  return h("div", { class: "row" }, change || null, h("button", { type: "button", class: "gw-btn sm", "data-f": "retry", onclick: actions.read }, icon("replay", "s16"), words));
}

function unlock(item, actions) {
  const field = h("input", { class: "gw-field", type: "password", "aria-label": `Password of ${item.title}`, placeholder: "Password", autocomplete: "off" });
  const open = h("button", { type: "submit", class: "gw-btn sm" }, icon("lock", "s16"), "Unlock");
  const send = async (event) => {
    event.preventDefault();
    if (!field.value || open.disabled) return;
    open.disabled = true; // until the row says what became of it
    await actions.unlock(field.value);
    open.disabled = false;
  };
  return h("form", { class: "row", onsubmit: send }, field, open);
}

function figures(item, actions) {
  const more = item.figures_left && !item.job && h("button", { type: "button", class: "gw-linkish", onclick: actions.read }, "Describe the rest");
  return h("p", { class: "fig" }, prose(item.figures), " ", more);
}

function waiting(item, actions) {
  const words = item.status === "ready" ? "Read, but not indexed yet." : item.pages_done > 0 ? `Stopped at page ${item.pages_done} of ${item.pages}. Those pages are kept.` : "Not read yet.";
  return h("div", { class: "why" }, h("p", {}, words), h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", "data-f": "retry", onclick: actions.read }, icon("replay", "s16"), item.status === "ready" ? "Index" : item.pages_done > 0 ? "Resume" : "Read")));
}

function status(item, fresh) {
  const word = (tone, sign, text) => h("span", { class: `gw-st ${tone}` }, sign, text);
  if (item.job) {
    if (item.job.stage === "queued") return [word("off", icon("schedule", "s16"), "Queued")];
    return [word("run", h("span", { class: "gw-spin" }), item.job.stage === "embed" ? "Indexing" : "Reading")];
  }
  if (item.error) return [word("bad", icon("error", "s16"), item.error.code.includes("password") ? "Locked" : "Failed")];
  if (item.status !== "ready" || !item.indexed) return [word("off", icon("schedule", "s16"), "Stopped")];
  if (item.stale) return [word("weak", icon("warning", "s16"), "Outdated"), h("span", { class: "sub" }, "needs updating")];
  const detail = fresh ? `${plural(item.pages, "page")} in ${duration(Math.max(1, Math.round(item.seconds)))}` : [item.ocr && `${item.ocr} by OCR, ${item.confidence}%`, item.degraded && `${item.degraded} read without layout`].filter(Boolean).join(", ");
  const gaps = item.unread.length > 5 ? `${item.unread.length} pages not read` : item.unread.length && `${item.unread.length === 1 ? "page" : "pages"} ${item.unread.join(", ")} not read`;
  if (gaps) return [word("weak", icon("warning", "s16"), "Ready"), h("span", { class: "sub num", title: gaps }, gaps), detail && h("span", { class: "sub num", title: detail }, detail)].filter(Boolean);
  return [word("ok", icon("check_circle", "s16"), "Ready"), detail && h("span", { class: "sub num", title: detail }, detail)].filter(Boolean);
}

function added(seconds) {
  const at = new Date(seconds * 1000);
  const now = new Date();
  const today = at.toDateString() === now.toDateString();
  const words = today ? at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }) : at.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...(at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }) });
  return h("time", { datetime: at.toISOString(), title: at.toLocaleString("en-GB") }, words);
}
