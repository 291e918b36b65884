// What a person types into a section: what it asks for, its text, how to rewrite it; and its history.

import { answered, get } from "../shared/api.js";
import { h, icon, prose } from "../shared/dom.js";
import { unsaved } from "../shared/kept.js";
import { where } from "../shared/quoted.js";

const KINDS = [["prose", "Prose"], ["list", "List"], ["table", "Table"], ["value", "Single value"], ["yes_no", "Yes or no"]];

const named = (label, field) => h("label", { class: "fd" }, h("span", {}, label), field);
const primary = (words, onclick) => h("button", { type: "button", class: "gw-btn primary", onclick }, words);
const plain = (words, onclick) => h("button", { type: "button", class: "gw-btn", onclick }, words);

const keyOf = (section, report) => `report ${report.id} ${section.id}`;

// A form, called `name` in `FORMS`, stands until it is kept or left, also after a reload; while one stands, what others
// change is not drawn over it. `end` is for when it is kept, and gives back what undoes that.
function hold(name, section, report, form, changed) {
  const key = keyOf(section, report);
  const fields = [...form.querySelectorAll("input, select, textarea")];
  const place = (field) => (field.type === "checkbox" ? "checked" : "value");
  const remember = () => unsaved.set(key, JSON.stringify({ name, typed: fields.map((field) => field[place(field)]) }));
  const forget = () => unsaved.delete(key);
  const stay = () => (report.editing = () => (!changed() || confirm("Discard your changes?")) && (forget(), true));
  const before = JSON.parse(unsaved.get(key));
  if (before?.name === name && before.typed.length === fields.length) fields.forEach((field, n) => (field[place(field)] = before.typed[n]));
  form.addEventListener("input", remember);
  stay();
  return {
    leave: () => (forget(), report.draw()),
    end() {
      report.editing = null;
      forget();
      return () => (stay(), remember());
    },
  };
}

const FORMS = {
  asked: (section, report) => report.column.querySelector(".gd")?.replaceWith(editAsked(section, report)),
  text: (section, report) => editText(section, report),
  rewrite: (section, report) => rewrite(section, report, report.column.querySelector(".panel")),
};

// Opens the form in which something was typed and neither kept nor left.
export function takeUp(section, report) {
  const { name } = JSON.parse(unsaved.get(keyOf(section, report))) ?? {};
  if (name === "rewrite" && report.data.offline) return;
  if (name && !section.accepted && !["working", "waiting"].includes(section.state)) FORMS[name](section, report);
}

export function editAsked(section, report) {
  const heading = h("input", { class: "gw-field", type: "text", maxlength: "300", value: section.heading });
  const guidance = h("textarea", { class: "gw-field", rows: "4", maxlength: "8000" }, section.guidance);
  const kind = h("select", { class: "gw-field", onchange: () => fit() }, KINDS.map(([value, name]) => h("option", { value, selected: section.kind === value }, name)));
  const columns = h("input", { class: "gw-field", type: "text", value: section.columns.join(" | ") });
  const unit = h("input", { class: "gw-field", type: "text", maxlength: "100", value: section.unit });
  const required = h("input", { type: "checkbox", checked: section.required });
  const sources = chosenDocuments(section, report);
  const [ofTable, ofValue] = [named("Columns, separated by |", columns), named("Unit", unit)];
  const fit = () => {
    ofTable.hidden = kind.value !== "table";
    ofValue.hidden = !["value", "table"].includes(kind.value);
  };
  const keep = async () => {
    const list = columns.value.split("|").map((one) => one.trim()).filter(Boolean);
    const asked = { heading: heading.value, guidance: guidance.value, kind: kind.value, columns: kind.value === "table" ? list : [], unit: ofValue.hidden ? "" : unit.value, required: required.checked };
    if (sources.changed()) asked.documents = sources.chosen();
    if (asked.documents?.length === 0) return report.complain({ message: "No document is chosen.", hint: "Tick at least one." });
    const back = held.end();
    if (!(await report.act(`/sections/${section.id}/change`, asked))) back();
    else report.draw();
  };
  const leave = () => held.leave();
  const form = h("div", { class: "form asks", role: "group", "aria-label": "What to write" }, named("Heading", heading), named("Guidance", guidance), h("div", { class: "wide" }, named("Form", kind), ofTable, ofValue), h("label", { class: "fd tick" }, required, h("span", {}, "Required")), sources.element, h("div", { class: "row" }, primary("Keep", keep), plain("Cancel", leave)));
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") leave();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.target.type === "text")) keep();
  });
  const before = [kind.value, columns.value, unit.value, required.checked].join();
  const held = hold("asked", section, report, form, () => heading.value !== section.heading || guidance.value !== section.guidance || sources.changed() || before !== [kind.value, columns.value, unit.value, required.checked].join());
  fit();
  setTimeout(() => guidance.focus());
  return form;
}

// The documents that a section is filled from: all of the report's, or some. One that is named and not in the library
// stands among them, so that it can be let go.
function chosenDocuments(section, report) {
  const { docs, documents } = report.data;
  const inside = documents.filter((one) => !docs || docs.includes(one.id));
  const lacking = (section.documents ?? []).filter((one) => !one.ids.length).map((one) => ({ called: one.name, title: `${one.name} (not in the library)` }));
  const named = section.documents?.flatMap((one) => one.ids);
  const rows = [...inside.map((one) => ({ ...one, on: !named || named.includes(one.id) })), ...lacking.map((one) => ({ ...one, on: true }))];
  const boxes = rows.map((one) => h("input", { type: "checkbox", value: one.called, checked: one.on }));
  const was = boxes.map((box) => box.checked).join();
  const element = h("fieldset", { class: "sources" }, h("legend", {}, "Documents"), h("div", { class: "gw-scroll" }, rows.map((one, i) => h("label", { class: "fd tick" }, boxes[i], h("span", { title: one.title }, one.title)))));
  element.hidden = rows.length < 2;
  return {
    element,
    changed: () => boxes.map((box) => box.checked).join() !== was,
    chosen: () => (boxes.every((box, i) => box.checked === Boolean(rows[i].id)) ? null : boxes.filter((box) => box.checked).map((box) => box.value)),
  };
}

// What checking found in the version that is shown.
export function checked({ tally }) {
  const found = ["weak", "unsupported", "uncited"].filter((kind) => tally[kind]).map((kind) => `${tally[kind]} ${kind}`);
  return `Checked: ${found.join(", ") || "no doubts"}.`;
}

export function editText(section, report) {
  const field = h("textarea", { class: "gw-field text", "aria-label": "Text of the section", spellcheck: "true" }, section.text);
  const known = section.citations.map((one) => `[${one.n}] ${one.title}, ${where(one)}`);
  const keep = async () => {
    save.disabled = true;
    save.textContent = "Checking";
    const back = held.end();
    if (await report.on(section, "edit", { text: field.value })) {
      report.draw();
      report.column.querySelector('[data-act="edit"]')?.focus();
      report.say(checked(report.section));
      return;
    }
    back();
    save.disabled = false;
    save.textContent = "Save and check";
  };
  const save = primary("Save and check", keep);
  const form = h("div", { class: "form edit", role: "group", "aria-label": "Edit the section" }, field, h("p", { class: "gw-hint" }, "Markdown. Keep the numbers in brackets: they are citations. Each sentence is checked against them.", known.length ? h("span", { class: "known" }, known.join("; ")) : ""), h("div", { class: "row" }, save, plain("Cancel", () => held.leave())));
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") held.leave();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
  });
  const { column } = report;
  column.querySelectorAll(".tx, .conflict, .gaps, .gw-label, .meta, .gw-empty, .gw-note-line, .steps, .edit, .gw-evidence").forEach((old) => old.remove());
  column.append(form);
  const held = hold("text", section, report, form, () => field.value !== section.text);
  field.style.height = `${Math.max(180, field.scrollHeight + 4)}px`;
  field.focus();
}

export function rewrite(section, report, panel) {
  if (report.data.offline) {
    const close = plain("Close", () => report.draw());
    panel.replaceChildren(h("div", { class: "form line", role: "status" }, h("p", { class: "gw-hint" }, "Offline, sections are quotes, so there’s nothing to rewrite. Edit the text yourself, or add a key or your own model in Settings."), close));
    close.focus();
    return;
  }
  const field = h("input", { class: "gw-field", type: "text", "aria-label": "How to rewrite it", placeholder: "Shorter; lead with the change against last year", maxlength: "1000" });
  const cost = h("span", { class: "muted num" });
  const go = async () => {
    if (!field.value.trim()) return field.focus();
    const back = held.end();
    if (!(await report.act("/fill", { sections: [section.id], instruction: field.value }))) back();
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") go();
    if (event.key === "Escape") held.leave();
  });
  const form = h("div", { class: "form line" }, field, primary("Rewrite", go), plain("Cancel", () => held.leave()), cost);
  panel.replaceChildren(form);
  const held = hold("rewrite", section, report, form, () => Boolean(field.value.trim()));
  field.focus();
  answered(() => get(report.path("/expense"), { sections: section.id })).then(({ words, refused }) => (refused ? report.complain(refused) : (cost.textContent = words)));
}

export async function showHistory(section, report, panel, opener) {
  if (panel.querySelector(".hist")) {
    panel.replaceChildren();
    opener.setAttribute("aria-expanded", "false");
    return;
  }
  const { versions, refused } = await answered(() => get(report.path(`/sections/${section.id}/versions`)));
  if (refused) return report.complain(refused);
  const when = (seconds) => new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const row = (one) => {
    const here = one.id === section.shown?.id;
    const show = h("button", { type: "button", class: "gw-btn quiet sm", "aria-label": `Show version ${one.number}`, onclick: () => report.on(section, "show", { version: one.id }) }, "Show");
    return h("li", { class: here ? "here" : "" }, h("span", { class: "num n" }, String(one.number)), h("span", { class: "t" }, h("b", {}, one.change), h("small", {}, prose([one.author, when(one.created), one.cost].filter(Boolean).join(" · ")))), here ? h("span", { class: "gw-st ok" }, icon("check", "s16"), "Shown") : !section.accepted && show);
  };
  panel.replaceChildren(h("ol", { class: "hist", "aria-label": "History" }, versions.map(row)));
  opener.setAttribute("aria-expanded", "true");
}
