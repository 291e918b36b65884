// One document of the library: its line, and below its title what is being done to it or what went wrong.

import { button, h, icon, plural, prose } from "../shared/dom.js";

const STEPS = [
  ["read", "Read"],
  ["build", "Structure"],
  ["embed", "Index"],
];

export function drawRow(item, actions, fresh = false) {
  const title = item.status === "ready" && !item.removing ? h("a", { href: `#${item.id}`, onclick: (e) => (e.preventDefault(), actions.open()) }, item.title) : h("b", {}, item.title);
  const cell = h("td", { class: "ti" }, title, item.title === item.name ? null : h("span", {}, item.name));
  if (item.removing) cell.append(h("p", { class: "why", role: "status" }, item.status === "reading" ? "Removed as soon as the page in work is done." : "It is being removed."));
  else if (item.job) cell.append(progress(item, actions));
  else if (item.error) cell.append(trouble(item, actions));
  else if (item.status !== "ready" || !item.indexed) cell.append(waiting(item, actions));
  else if (item.figures) cell.append(figures(item, actions));
  const row = h(
    "tr",
    { class: fresh ? "fresh" : "", "data-doc": item.id, "data-status": item.removing ? "removing" : item.job ? "work" : item.error ? "failed" : item.status === "ready" && item.indexed ? "ready" : "waiting" },
    cell,
    h("td", { class: "num r" }, item.pages ? item.pages.toLocaleString("en") : "–"),
    h("td", { class: "num r" }, item.status === "ready" ? String(item.tables) : "–"),
    h("td", { class: "sta" }, ...status(item, fresh)),
    h("td", { class: "num r" }, size(item.bytes)),
    h("td", { class: "mo" }, item.removing ? null : button(`Remove ${item.title}`, "delete", () => confirm(row, item, actions))),
  );
  return row;
}

// Only progress changed: bring it up to date in place and say so, so that focus and a typed password stay.
export function updateRow(row, before, item) {
  const same = (a) => JSON.stringify({ ...a, job: a.job && [a.job.stage, a.job.stopping], pages_done: a.error ? a.pages_done : 0 });
  if (same(before) !== same(item)) return false;
  if (item.job) {
    const { share, words } = numbers(item);
    const box = row.querySelector(".prog");
    box.querySelector(".gw-bar").setAttribute("aria-valuenow", Math.round(share * 100));
    box.querySelector(".gw-bar i").style.width = `${share * 100}%`;
    box.querySelector(".now-at").replaceChildren(...words);
  }
  return true;
}

function numbers({ job }) {
  const share = job.total ? job.done / job.total : 0;
  const words = [];
  if (job.stage === "read") words.push(h("b", {}, job.total ? `Page ${job.done} of ${job.total}` : "Opening"));
  if (job.stage === "describe") words.push(h("b", {}, `Figure ${Math.min(job.done + 1, job.total)} of ${job.total}`), h("span", {}, "described by Claude"));
  if (job.stage === "build") words.push(h("b", {}, "Putting the pages together"));
  if (job.stage === "embed") words.push(h("b", {}, `${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")} passages`));
  if (job.stage === "queued") words.push(h("b", {}, "Waiting for its turn"));
  if (job.rate > 0 && job.stage === "read") words.push(h("span", {}, `${job.rate} pages/s`));
  if (job.left !== null && job.rate > 0 && job.left > 1) words.push(h("span", {}, `about ${duration(job.left)} left`));
  return { share: job.stage === "build" ? 1 : share, words };
}

function progress(item, actions) {
  const { share, words } = numbers(item);
  const at = STEPS.findIndex(([stage]) => stage === (item.job.stage === "describe" ? "build" : item.job.stage));
  const stop = item.job.stopping ? h("span", {}, "Stopping") : h("button", { type: "button", class: "gw-linkish", onclick: actions.cancel }, "Cancel");
  return h(
    "div",
    { class: "prog" },
    h("ol", { class: "steps" }, STEPS.map(([, name], i) => h("li", { class: i < at ? "done" : i === at ? "now" : "" }, name))),
    h("div", { class: "gw-bar", role: "progressbar", "aria-valuenow": Math.round(share * 100), "aria-valuemax": "100", "aria-label": `Progress of ${item.title}` }, h("i", { style: `width:${share * 100}%` })),
    h("p", { class: "num" }, h("span", { class: "now-at" }, words), stop),
  );
}

function trouble(item, actions) {
  const { message, hint, code } = item.error;
  const locked = code === "password_required" || code === "wrong_password";
  const { removal, retryable } = item.error;
  const kept = retryable && !removal && item.pages_done > 0 && item.status !== "ready" ? ` Pages read so far are kept: ${item.pages_done} of ${item.pages}.` : "";
  return h("div", { class: "why", role: "alert" }, h("p", {}, h("b", {}, prose(message))), h("p", {}, prose(`${locked ? "Give its password to read it." : hint}${kept}`)), locked ? unlock(item, actions) : removal ? removeAgain(actions) : retryable ? again(item, actions) : null);
}

function removeAgain(actions) {
  return h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", onclick: actions.remove }, icon("delete", "s16"), "Remove it"));
}

function again(item, actions) {
  const words = item.pages_done > 0 && item.pages_done < item.pages ? `Retry from page ${item.pages_done + 1}` : "Retry";
  return h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", onclick: actions.read }, icon("replay", "s16"), words));
}

function unlock(item, actions) {
  const field = h("input", { class: "gw-field", type: "password", "aria-label": `Password of ${item.title}`, placeholder: "Password", autocomplete: "off" });
  const send = (event) => {
    event.preventDefault();
    if (field.value) actions.unlock(field.value);
  };
  return h("form", { class: "row", onsubmit: send }, field, h("button", { type: "submit", class: "gw-btn sm" }, icon("lock", "s16"), "Unlock"));
}

function figures(item, actions) {
  const more = item.figures_left && h("button", { type: "button", class: "gw-linkish", onclick: actions.read }, "Describe what is left");
  return h("p", { class: "fig" }, prose(item.figures), " ", more);
}

function waiting(item, actions) {
  const words = item.status === "ready" ? "Read, but not searchable yet." : item.pages_done > 0 ? `Stopped at page ${item.pages_done} of ${item.pages}. What was read is kept.` : "Not read yet.";
  return h("div", { class: "why" }, h("p", {}, words), h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", onclick: actions.read }, icon("replay", "s16"), item.status === "ready" ? "Index it" : "Read it")));
}

function status(item, fresh) {
  const word = (tone, sign, text) => h("span", { class: `gw-st ${tone}` }, sign, text);
  if (item.removing) return [word("run", h("span", { class: "gw-spin" }), "Removing")];
  if (item.job) {
    if (item.job.stage === "queued") return [word("off", icon("schedule", "s16"), "Next")];
    return [word("run", h("span", { class: "gw-spin" }), { read: "Reading", build: "Reading", describe: "Reading", embed: "Indexing" }[item.job.stage])];
  }
  if (item.error) return [word("bad", icon("error", "s16"), item.error.code.includes("password") ? "Locked" : item.error.removal ? "Not removed" : "Failed")];
  if (item.status !== "ready" || !item.indexed) return [word("off", icon("schedule", "s16"), "Stopped")];
  const detail = fresh ? `${plural(item.pages, "page")} in ${duration(Math.max(1, Math.round(item.seconds)))}` : [item.ocr && `${plural(item.ocr, "page")} read by OCR, ${item.confidence}%`, item.degraded && `${plural(item.degraded, "page")} read plainly`].filter(Boolean).join(", ");
  return [word("ok", icon("check_circle", "s16"), "Ready"), detail && h("span", { class: "sub num" }, detail)].filter(Boolean);
}

function confirm(row, item, actions) {
  const cell = row.querySelector(".ti");
  if (cell.querySelector(".sure")) return;
  const keep = h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => box.remove() }, "Keep it");
  const box = h("div", { class: "why sure", role: "alertdialog", "aria-label": `Remove ${item.title}?` }, h("p", {}, "Remove this document? Answers that cite it stay, but their pages can no longer be opened."), h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn danger sm", onclick: () => (box.remove(), actions.remove()) }, "Remove"), keep));
  cell.append(box);
  keep.focus();
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

const duration = (seconds) => (seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
