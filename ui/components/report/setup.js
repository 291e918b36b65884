// What a report is about, asked before it is filled: the subject, the documents, the period, each prefilled from the
// library. It can be skipped, and changed later.

import { answered, get } from "../shared/api.js";
import { h, icon, plural } from "../shared/dom.js";

const LATEST = "0";
const plain = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();

export async function drawSetup(column, report) {
  const found = await answered(() => get(report.path("/about")));
  if (found.refused) return report.complain(found.refused);
  if (!report.setup) return;
  column.replaceChildren(form(found, report));
}

function form(found, report) {
  const { documents } = found;
  const fresh = report.data.fresh;
  const names = new Map(documents.filter((one) => one.subject).map((one) => [plain(one.subject), one.subject]));
  const only = names.size === 1 ? [...names.values()][0] : names.size === 0 && documents.length === 1 ? documents[0].title : "";
  const subject = h("input", { class: "gw-field", type: "text", maxlength: "200", list: "gw-subjects", value: found.subject || (fresh ? only : ""), placeholder: "A company, study or topic" });
  const subjects = h("datalist", { id: "gw-subjects" }, [...names.values()].map((name) => h("option", { value: name })));
  const rows = documents.map((one) => {
    const box = h("input", { type: "checkbox", value: one.id, checked: !found.docs || found.docs.includes(one.id) });
    return { ...one, box, line: h("label", { class: "fd tick" }, box, h("span", { title: one.title }, one.title), one.period && h("small", {}, one.period)) };
  });
  const period = h("select", { class: "gw-field" });
  const told = h("div", { class: "gw-msg weak", role: "status", hidden: true });
  const count = h("span", { class: "muted num" });
  const chosen = () => rows.filter(({ box }) => box.checked);

  const fit = () => {
    const ticked = chosen();
    count.textContent = `${ticked.length} of ${documents.length}`;
    const years = [...new Set(ticked.flatMap((one) => one.years))].sort((a, b) => b - a);
    const kept = period.value || String(found.year || LATEST);
    period.replaceChildren(h("option", { value: LATEST }, "Latest in each document"), ...years.map((year) => h("option", { value: String(year) }, String(year))));
    period.value = years.map(String).includes(kept) ? kept : LATEST;
    const parts = ticked.filter((one) => one.part);
    told.hidden = !found.yearly.length || !parts.length || parts.length < ticked.length;
    if (told.hidden) return;
    told.replaceChildren(
      icon("warning"),
      h(
        "div",
        {},
        h("b", {}, `${plural(found.yearly.length, "section")} ask${found.yearly.length === 1 ? "s" : ""} for figures of a full year.`),
        h("p", {}, `${found.yearly.join(", ")}. Your ${parts.length === 1 ? "document covers" : "documents cover"} only part of one: ${[...new Set(parts.map((one) => one.period))].join("; ")}. Add the annual report, or expect gaps.`),
      ),
    );
  };
  // Its own documents are ticked where the library knows whose they are.
  subject.addEventListener("change", () => {
    const own = rows.filter((one) => one.subject && plain(one.subject) === plain(subject.value));
    if (own.length) for (const one of rows) one.box.checked = own.includes(one);
    fit();
  });
  const all = (on) => () => {
    for (const one of rows) one.box.checked = on;
    fit();
  };

  const save = async () => {
    const docs = chosen().map((one) => one.id);
    if (!docs.length && documents.length) return report.complain({ message: "No document is chosen.", hint: "Tick at least one." });
    if (!(await report.act("/change", { subject: subject.value, year: Number(period.value), docs: docs.length === documents.length ? null : docs }))) return;
    if (!fresh) return report.begin();
    if (await report.act("/fill")) report.begin();
  };
  const skip = async () => (!fresh || (await report.act("/change", { subject: "", year: 0 }))) && report.begin();
  const made = h(
    "form",
    { class: "asks setup", "aria-label": "About this report", onsubmit: (event) => (event.preventDefault(), save()), onchange: fit },
    h("h2", {}, "What is this report about?"),
    h("div", { class: "wide" }, h("label", { class: "fd" }, "About", subject), subjects, h("label", { class: "fd" }, "Period", period)),
    documents.length
      ? h("fieldset", { class: "sources" }, h("legend", {}, "Documents ", count, documents.length > 3 && h("span", { class: "all" }, h("button", { type: "button", class: "gw-linkish", onclick: all(true) }, "All"), h("button", { type: "button", class: "gw-linkish", onclick: all(false) }, "None"))), h("div", { class: "gw-scroll" }, rows.map(({ line }) => line)))
      : h("p", {}, "No document is ready yet. ", h("a", { href: "library" }, "See the Library"), "."),
    told,
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "gw-btn primary", disabled: fresh && !documents.length }, icon(fresh ? "play_arrow" : "check", "s16"), fresh ? "Fill report" : "Save"),
      h("button", { type: "button", class: "gw-btn quiet", onclick: skip }, fresh ? "Skip" : "Cancel"),
      h("span", { class: "muted cost" }, fresh ? report.data.expense.words : "Text stays as it is until you fill it again."),
    ),
  );
  fit();
  return made;
}
