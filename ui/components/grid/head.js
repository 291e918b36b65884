// The line above the table: the grid's name, its rows, how far it is filled, what it is looked at by, export.

import { button, h, icon, plural } from "../shared/dom.js";
import { Asking, reads } from "../shared/expense.js";
import { Exports } from "../shared/exports.js";
import { Popup } from "../shared/popup.js";
import { editName } from "../shared/rename.js";
import { Rows } from "../shared/rows.js";
import { timeLeft } from "../shared/when.js";
import { SHOWN } from "./words.js";

const KINDS = [
  ["xlsx", "Excel", "numbers as numbers, a sheet of evidence"],
  ["csv", "CSV", "values alone"],
  ["json", "JSON", "values, boxes, verdicts"],
];

// Of how many documents the reading ended, and how.
function unread(lost) {
  const failed = lost.filter((one) => one === "failed").length;
  const parts = [failed && `${plural(failed, "document")} couldn’t be read`, lost.length > failed && `reading of ${plural(lost.length - failed, "document")} cancelled`];
  return parts.filter(Boolean);
}

export class Head {
  constructor(page) {
    this.page = page;
    this.title = h("h1", {});
    this.rename = button("Rename", "edit", () => this.edit());
    this.rows = new Popup("Rows", "folder_open", (panel) => this.choose(panel));
    this.rows.button.className = "gw-linkish";
    this.views = h("div", { class: "vw", role: "group", "aria-label": "What is shown" });
    this.bar = h("span", { class: "gw-bar" }, h("i", {}));
    this.said = h("span", { role: "status" });
    this.progress = h("span", { class: "prog num" }, this.bar, this.said);
    const act = (words, sign, onclick) => h("button", { type: "button", class: "gw-btn", onclick }, icon(sign, "s16"), h("span", { class: "lb" }, words));
    this.stop = act("Stop", "stop", () => page.act("/stop"));
    this.goOn = act("Go on", "play_arrow", () => page.act("/run"));
    this.again = act("Fill again", "refresh", () => page.fillAgain({}));
    const say = (model, n) => `${plural(n, "cell")} ${n === 1 ? "is" : "are"} “not stated”. ${model} reads the best passages for each and answers. What the words that it cites don’t support stays “not stated”.`;
    this.asking = new Asking("cell", say, (usd) => page.act("/ask", { usd }), this.stop);
    this.exports = new Exports(KINDS, () => `/grids/${page.id}/export`, "grid").spelled("gw-btn primary");
    this.element = h("div", { class: "bar2", role: "group", "aria-label": "Grid" }, button("All grids", "arrow_back", () => page.leave()), this.title, this.rename, this.rows.element, this.views, h("span", { class: "sp" }), this.progress, this.stop, this.goOn, this.again, this.asking.element, this.exports.element);
  }

  // Until there is data to act on, only the way back is seen, and what is open was of other data.
  wait() {
    this.stopRenaming?.();
    for (const popup of [this.rows, this.asking, this.exports]) popup.close();
    this.element.dataset.waits = "";
  }

  draw() {
    delete this.element.dataset.waits;
    const { page } = this;
    const { name, state, done, total, left, lost, asked, asking } = page.data;
    if (!this.title.querySelector("input")) this.title.textContent = this.title.title = name;
    this.rows.button.textContent = `${plural(page.rows.filter((row) => !row.earlier).length, page.noun)} × ${plural(page.columns.length, "question")}`;
    const working = ["waiting", "running", "stopping"].includes(state);
    const filled = `${done} of ${plural(total, "cell")}`;
    const words = {
      waiting: "Waiting for another grid",
      stopping: "Stopping…",
      running: [asked ? reads(asked, "cell") : filled, left !== null && timeLeft(left)].filter(Boolean).join(" · "),
      stopped: [filled, page.data.expense].filter(Boolean).join(" · "),
      arriving: `${filled} · the rest when its documents are read`,
      done: total > done ? [filled, ...unread(Object.values(lost))].join(" · ") : "",
    }[state];
    if (this.said.textContent !== words) this.said.textContent = words;
    this.bar.hidden = state === "done" || !total;
    const [part, whole] = asked ?? [done, total];
    this.bar.firstChild.style.width = `${whole ? (100 * part) / whole : 0}%`;
    this.stop.hidden = !working;
    this.stop.disabled = state === "stopping";
    this.goOn.hidden = state !== "stopped";
    this.goOn.querySelector(".lb").textContent = done ? "Go on" : "Fill";
    this.again.hidden = state !== "done" || !total;
    this.asking.draw(asking);
    this.exports.disable(total ? "" : "There is nothing to export yet");
    this.drawViews();
  }

  // Filters and the like, each with a way out of it.
  drawViews() {
    const { view, columns } = this.page;
    const name = (id) => columns.find((one) => one.id === id)?.name;
    const rows = [
      view.pivot && [`${name(view.pivot)} by period`, () => this.page.pivot(null)],
      ...(view.pivot ? [] : Object.entries(view.filters)).map(([id, kind]) => [`${name(id)}: ${SHOWN[kind].toLowerCase()}`, () => this.page.look(() => view.filter(id, ""))]),
      view.group && [`by ${view.group}`, () => this.page.look(() => (view.group = ""))],
    ].filter(Boolean);
    const key = JSON.stringify(rows.map(([words]) => words));
    if (key === this.viewed) return;
    this.viewed = key;
    this.views.replaceChildren(...rows.map(([words, end]) => h("button", { type: "button", class: "chip", "aria-label": `No longer ${words}`, onclick: end }, words, icon("close", "s14"))));
  }

  edit() {
    this.stopRenaming = editName(this.title, this.page.data.name, (name) => this.page.act("/rename", { name }), (back) => {
      this.title.replaceChildren(this.page.data.name);
      if (back) this.rename.focus();
    });
  }

  // What its rows are, to change.
  choose(panel) {
    const { page } = this;
    const { docs, sections, state } = page.data;
    const go = async () => {
      if (await page.act("/rows", rows.value)) this.rows.close(true);
    };
    const use = h("button", { type: "button", class: "gw-btn sm primary", onclick: go }, "Use these");
    const rows = new Rows(() => (use.disabled = !rows.good));
    rows.offer(page.documents, (id) => !docs || docs.includes(id), page.most, docs === null);
    if (sections) rows.tick(page.rows);
    const busy = ["running", "stopping", "waiting"].includes(state);
    panel.replaceChildren(rows.element, h("div", { class: "row" }, use, h("button", { type: "button", class: "gw-btn sm quiet", onclick: () => document.querySelector(".st-key-gw_drop input[type=file]").click() }, "Add documents"), busy && h("span", { class: "gw-unseen" }, "It is being filled")));
  }
}
