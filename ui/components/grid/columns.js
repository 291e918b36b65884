// The heads of the columns, each with a menu, and the form in which a column is typed.

import { answered, get, post } from "../shared/api.js";
import { h, icon, item, showTrouble, troubleBox } from "../shared/dom.js";
import { Popup } from "../shared/popup.js";
import { SHOWN, TYPES } from "./words.js";

const WIDE = 240; // pixels of a menu
let forms = 0;

export class Menus {
  constructor(page) {
    this.page = page;
    this.heads = new Map(); // by column id, so that a menu stays open while its head is drawn anew
    this.rows = this.make("document");
    this.add = this.adder();
  }

  close() {
    for (const { popup } of [this.rows, ...this.heads.values()]) if (popup.open) popup.close();
  }

  make(id) {
    const name = h("b", {});
    const sign = h("span", {});
    const type = h("span", { class: "ty num" });
    const popup = new Popup("Column", "unfold_more", (panel) => {
      this.fill(id, panel);
      const { left, bottom } = popup.button.getBoundingClientRect();
      const edge = this.page.table.element.getBoundingClientRect().right - WIDE - 8;
      panel.style.cssText = `position:fixed;left:${Math.max(8, Math.min(left, edge))}px;right:auto;top:${bottom + 4}px;width:${WIDE}px`;
    });
    popup.button.className = "hb";
    popup.button.replaceChildren(h("span", { class: "nm" }, name, sign), type);
    return { element: h("div", { role: "columnheader", class: `he ${id === "document" ? "rh" : "ce"}` }, popup.element), popup, name, sign, type };
  }

  // The head of a column, brought up to date.
  head(column) {
    if (!this.heads.has(column.id)) this.heads.set(column.id, this.make(column.id));
    const made = this.heads.get(column.id);
    const { filters } = this.page.view;
    const kind = [TYPES[column.type][0].toLowerCase(), column.unit].filter(Boolean).join(" · ");
    this.draw(made, column.name, filters[column.id] ? `only ${SHOWN[filters[column.id]].toLowerCase()}` : kind, column.id, Boolean(filters[column.id]));
    made.popup.button.title = column.question || column.name;
    return made.element;
  }

  rowHead(words) {
    this.draw(this.rows, this.page.data.sections ? "Section" : "Document", words, "document", false);
    return this.rows.element;
  }

  draw(made, name, below, id, filtered) {
    const { sort } = this.page.view;
    const sorted = sort?.key === id ? (sort.down ? "descending" : "ascending") : null;
    made.name.textContent = name;
    made.type.textContent = below;
    made.type.classList.toggle("own", filtered);
    made.sign.className = `gw-i s14 gw-i-${{ ascending: "keyboard_arrow_up", descending: "keyboard_arrow_down" }[sorted] ?? "unfold_more"}`;
    made.popup.button.setAttribute("aria-label", `${name}, ${below}`);
    made.popup.panel.setAttribute("aria-label", name);
    made.element.ariaSort = sorted;
  }

  fill(id, panel) {
    const { page } = this;
    const { view } = page;
    const at = (act) => () => {
      this.close();
      act();
    };
    const pressed = (on) => ({ "aria-pressed": String(on) });
    const sorts = [["Sort up", "keyboard_arrow_up", false], ["Sort down", "keyboard_arrow_down", true]].map(([words, sign, down]) => item(words, sign, at(() => page.look(() => view.order(id, down))), pressed(view.sort?.key === id && view.sort.down === down)));
    if (id === "document") {
      const group = (by) => item(`Group by ${by}`, "folder_open", at(() => page.look(() => (view.group = view.group === by ? "" : by))), pressed(view.group === by));
      panel.replaceChildren(...sorts, ...(page.data.sections ? [group("document")] : []), group("tag"));
      return;
    }
    const n = page.columns.findIndex((one) => one.id === id);
    const column = page.columns[n];
    const filters = Object.entries(SHOWN).map(([kind, words]) => h("button", { type: "button", class: "item", ...pressed((view.filters[id] ?? "") === kind), onclick: at(() => page.look(() => view.filter(id, kind))) }, words));
    const sure = () => {
      const no = h("button", { type: "button", class: "gw-btn sm quiet", onclick: at(() => page.table.go(...page.table.at)) }, "Keep it");
      panel.replaceChildren(h("p", { class: "sure" }, h("b", {}, `Remove “${column.name}”?`), "Its cells go with it, also those decided by hand."), h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm danger", onclick: at(() => page.act(`/columns/${id}/remove`)) }, "Remove"), no));
      no.focus();
    };
    panel.replaceChildren(
      item("Edit", "edit", at(() => this.form(column))),
      item("Fill again", "refresh", at(() => page.fillAgain({ column: id }))),
      n > 0 && item("Move left", "chevron_left", at(() => page.act(`/columns/${id}/move`, { left: true }))),
      n < page.columns.length - 1 && item("Move right", "chevron_right", at(() => page.act(`/columns/${id}/move`, { left: false }))),
      ...sorts,
      column.type === "value" && item("By period", "schedule", at(() => page.pivot(id))),
      h("div", { class: "fi", role: "group", "aria-label": "Show" }, filters),
      item("Remove", "delete", sure),
    );
    for (const gone of [...panel.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE)) gone.remove(); // what is false
  }

  adder() {
    return h("div", { role: "columnheader", class: "he add" }, h("button", { type: "button", class: "gw-btn quiet icon sm", "aria-label": "Add a column", title: "Add a column ( + )", onclick: () => this.form() }, icon("add", "s16")));
  }

  // A new column, or one that is edited.
  form(column = null) {
    forms += 1;
    const title = `gw-column-${forms}`;
    const trouble = troubleBox();
    const field = (name, more = {}) => h("input", { class: "gw-field", type: "text", value: column?.[name] ?? "", ...more });
    const name = field("name", { required: true, maxlength: "300", placeholder: "Notice period" });
    const question = h("textarea", { class: "gw-field", rows: "2", maxlength: "2000", placeholder: "How long before the end must notice be given?" });
    question.value = column?.question ?? "";
    const unit = field("unit", { maxlength: "100", placeholder: "months" });
    const type = h("select", { class: "gw-field", onchange: () => choose() }, Object.entries(TYPES).map(([id, [words]]) => h("option", { value: id, selected: id === (column?.type ?? "value") }, words)));
    const says = h("small", {});
    const label = (words, of, more) => h("label", {}, h("span", {}, words), of, more);
    const units = label("Unit", unit, h("small", {}, "empty: as the document gives it"));
    const typed = () => {
      units.hidden = type.value !== "value";
      says.textContent = TYPES[type.value][1];
    };
    // Until a person chooses a kind, it is what the words ask for.
    let chosen = Boolean(column);
    const choose = () => {
      chosen = true;
      typed();
    };
    let proposed = Promise.resolve();
    const propose = async () => {
      const asked = { name: name.value, question: question.value };
      if (chosen || !(asked.name + asked.question).trim()) return;
      const found = await this.page.asked(() => get("/grids/column", asked));
      if (!found || chosen || asked.name !== name.value || asked.question !== question.value) return;
      type.value = found.type;
      typed();
    };
    for (const words of [name, question]) words.addEventListener("change", () => (proposed = propose()));
    const send = async (event) => {
      event.preventDefault();
      await proposed;
      const body = { name: name.value, question: question.value, type: type.value, unit: type.value === "value" ? unit.value : "" };
      this.page.forgive();
      const { refused } = await answered(() => post(this.page.path(column ? `/columns/${column.id}` : "/columns"), body));
      await this.page.poll();
      if (refused) return showTrouble(trouble, refused);
      dialog.close();
      if (!column) this.page.table.go(this.page.table.at[0], this.page.table.columns.length, false);
    };
    const form = h(
      "form",
      { class: "in", onsubmit: send, novalidate: true },
      h("h2", { id: title }, column ? "Edit the column" : "Add a column"),
      trouble,
      label("Name", name),
      label("Question", question),
      h("div", { class: "two" }, label("Kind", type, says), units),
      column && h("p", { class: "muted" }, "If what is asked changes, this column is filled anew. What was decided by hand stays."),
      h("div", { class: "row" }, h("button", { type: "submit", class: "gw-btn primary" }, column ? "Save" : "Add and fill"), h("button", { type: "button", class: "gw-btn quiet", onclick: () => dialog.close() }, "Cancel")),
    );
    const dialog = h("dialog", { class: "gw-column", "aria-labelledby": title, onkeydown: (event) => event.stopPropagation(), onclick: (event) => event.target === dialog && dialog.close(), onclose: () => (dialog.remove(), this.page.table.focused()?.focus({ preventScroll: true })) }, form);
    this.page.root.append(dialog);
    typed();
    dialog.showModal();
    name.focus();
    name.select();
  }
}
