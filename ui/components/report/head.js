// The line above a report: its name, what filling the rest costs, fill and stop, export.

import { button, h, icon, plural, prose } from "../shared/dom.js";
import { Exports } from "../shared/exports.js";
import { Popup, shareItem } from "../shared/popup.js";
import { editName } from "../shared/rename.js";

const KINDS = [
  ["docx", "Word (DOCX)", "footnotes"],
  ["pdf", "PDF", "notes and links"],
  ["md", "Markdown", "numbered notes"],
  ["html", "HTML", "one file with page crops"],
  ["json", "JSON", "claims, boxes, verdicts"],
  ["annex", "Evidence annex (PDF)", "cited pages, marked"],
  ["template", "Template (JSON)", "headings and guidance, to begin another from"],
];

export function head(bar, report) {
  const { data } = report;
  report.parts ??= make(bar, report);
  const { title, from, money, fill, stop, trouble } = report.parts;
  if (!title.querySelector("input")) title.replaceChildren(data.name);
  title.title = data.name;
  const docs = data.docs ? data.docs.length : data.documents.length;
  from.textContent = [data.origin && `from ${data.origin}`, plural(docs, "document"), data.writer].filter(Boolean).join(" · ");
  const working = Boolean(data.live) || data.sections.some((one) => one.state === "waiting");
  fill.hidden = working || !data.expense.sections || (report.setup && data.fresh); // the step before it fills too
  stop.hidden = !working;
  stop.disabled = Boolean(data.live?.stopping);
  money.textContent = [data.spent && `${data.spent} spent`, !working && data.expense.sections ? `${data.spent ? "Rest: " : ""}${data.expense.words}` : ""].filter(Boolean).join(" · ");
  money.title = "Spent so far, and the cost of filling the rest";
  trouble.hidden = !data.trouble || working;
  if (data.trouble) trouble.replaceChildren(icon("warning"), h("div", {}, h("b", {}, prose(data.trouble.message)), h("p", {}, prose(`${data.trouble.hint} What was filled is kept.`))));
}

function make(bar, report) {
  const title = h("h1", { tabindex: "-1" });
  const from = h("span", { class: "muted from" });
  const money = h("span", { class: "muted num money", role: "status" });
  const fill = h("button", { type: "button", class: "gw-btn", onclick: () => report.act("/fill") }, icon("play_arrow", "s16"), "Fill what is empty");
  const stop = h("button", { type: "button", class: "gw-btn", hidden: true, onclick: () => report.act("/stop") }, icon("stop", "s16"), "Stop");
  let only;
  const exports = new Exports(KINDS, () => `/reports/${report.id}/export`, "report", {
    more: () => [h("label", { class: "only" }, (only = h("input", { type: "checkbox" })), "Accepted sections only")],
    query: () => (only.checked ? { accepted: "" } : {}),
  });
  const more = new Popup("More about this report", "more_horiz", (panel) => fillMore(panel, report, more, title));
  const back = button("All reports", "arrow_back", () => report.leave());
  const trouble = h("div", { class: "gw-msg weak", role: "note", hidden: true });
  bar.append(back, title, from, h("span", { class: "sp" }), money, fill, stop, exports.element, more.element);
  report.flow.prepend(trouble);
  return { title, from, money, fill, stop, trouble };
}

function fillMore(panel, report, popup, title) {
  const rename = h("button", { type: "button", class: "item", onclick: () => (popup.close(), editTitle(report, title)) }, icon("edit", "s16"), "Rename");
  const guidance = h("button", { type: "button", class: "item", onclick: () => editGuidance(panel, report, popup) }, icon("format_quote", "s16"), "Guidance for all sections");
  const documents = h("button", { type: "button", class: "item", onclick: () => (popup.close(), report.askAgain()) }, icon("folder_open", "s16"), "Subject, documents, period");
  const remove = h("button", { type: "button", class: "item", onclick: () => confirm(panel, report, popup) }, icon("delete", "s16"), "Delete report");
  const { shares, own, shared } = report.data;
  const share = shares && own && shareItem(shared, "read and change", () => report.act("/share", { shared: !shared }).then((done) => done && popup.close(true)));
  panel.replaceChildren(...[rename, guidance, documents, share, own && remove].filter(Boolean));
}

function editTitle(report, title) {
  const keep = (name) => name && report.act("/change", { title: name });
  const ended = () => {
    title.replaceChildren(report.data.name);
    title.focus();
  };
  editName(title, report.data.title, keep, ended, 300);
}

function editGuidance(panel, report, popup) {
  const field = h("textarea", { class: "gw-field", rows: "5", maxlength: "8000", "aria-label": "Guidance for all sections", placeholder: "Amounts as reported, in millions." }, report.data.guidance);
  const keep = async () => (await report.act("/change", { title: report.data.title, guidance: field.value })) && popup.close(true);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") event.stopPropagation(); // the arrow keys are the field's own here
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
  });
  panel.replaceChildren(h("div", { class: "about" }, field, h("p", { class: "gw-hint" }, "The writer is given it with every section; what is written already stays as it is.")), h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm primary", onclick: keep }, "Keep"), h("button", { type: "button", class: "gw-btn sm", onclick: () => popup.close(true) }, "Cancel")));
  field.focus();
}

function confirm(panel, report, popup) {
  const keep = h("button", { type: "button", class: "gw-btn sm", onclick: () => popup.close(true) }, "Keep it");
  const remove = h("button", { type: "button", class: "gw-btn sm danger", onclick: async () => (await report.act("/delete")) && report.leave() }, "Delete");
  panel.replaceChildren(h("p", { class: "sure" }, h("b", {}, "Delete this report?"), " Every version of its sections goes with it. You can’t undo this."), h("div", { class: "row" }, remove, keep));
  keep.focus();
}
