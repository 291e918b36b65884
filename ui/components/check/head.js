// The line above a draft: what was found, the way through it, how far the check is, export.

import { Documents } from "../shared/documents.js";
import { button, h, icon, plural } from "../shared/dom.js";
import { Asking, reads } from "../shared/expense.js";
import { Exports } from "../shared/exports.js";
import { Popup } from "../shared/popup.js";
import { timeLeft } from "../shared/when.js";
import { stale } from "./draft.js";

const KINDS = [
  ["docx", "Word with comments", "one for each problem"],
  ["pdf", "PDF", "marks and page crops"],
  ["xlsx", "Excel", "one row for each claim"],
  ["json", "JSON", "claims, boxes, verdicts"],
];
const SHOWN = [
  ["confirmed", "ok", "confirmed", "check_circle"],
  ["contradicted", "bad", "contradicted", "close"],
  ["partly", "weak", "partly"],
  ["elsewhere", "weak", "found elsewhere"],
  ["not_found", "off", "not found"],
  ["no_claim", "off none", "no claim"],
];

export class Head {
  constructor(check) {
    this.check = check;
    this.title = h("h1", {});
    this.against = new Popup("Documents", "folder_open", (panel) => this.choose(panel));
    this.against.button.className = "gw-linkish";
    this.tally = h("div", { class: "tal", role: "group", "aria-label": "Show" });
    this.progress = h("span", { class: "prog num", role: "status" });
    this.place = h("span", { class: "num" });
    this.steps = h("span", { class: "nx" }, button("Previous problem", "keyboard_arrow_up", () => check.step(-1), { title: "Previous problem (p)" }), this.place, button("Next problem", "keyboard_arrow_down", () => check.step(1), { title: "Next problem (n)" }));
    this.stop = h("button", { type: "button", class: "gw-btn", title: "Stop", onclick: () => check.act("/stop") }, icon("stop", "s16"), h("span", { class: "lb" }, "Stop"));
    this.goOn = h("button", { type: "button", class: "gw-btn", title: "Go on", onclick: () => check.act("/run") }, icon("play_arrow", "s16"), h("span", { class: "lb" }, "Go on"));
    this.again = h("button", { type: "button", class: "gw-btn", title: "Check again", onclick: () => check.act("/again") }, icon("refresh", "s16"), h("span", { class: "lb" }, "Check again"));
    const say = (model) => `${model} reads each sentence beside the passages nearest to it and gives a verdict of its own. It confirms nothing whose figures, dates or names differ from the words that it cites.`;
    this.asking = new Asking("sentence", say, (usd) => check.act("/ask", { usd }), this.stop);
    this.exports = new Exports(KINDS, () => `/checks/${check.id}/export`, "check").spelled("gw-btn primary");
    this.element = h("div", { class: "bar2", role: "group", "aria-label": "Draft" }, button("All drafts", "arrow_back", () => check.leave()), this.title, this.against.element, this.tally, h("span", { class: "sp" }), this.progress, this.steps, this.stop, this.goOn, this.again, this.asking.element, this.exports.element);
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  // What was found is always counted: where its words have no room, those with a sign lose them.
  fit() {
    this.tally.classList.remove("tight");
    this.tally.classList.toggle("tight", this.tally.scrollWidth > this.tally.clientWidth + 1);
  }

  // Until there is data to act on, only the way back is seen, and what is open was of other data.
  wait() {
    for (const popup of [this.against, this.asking, this.exports]) popup.close();
    this.element.dataset.waits = "";
  }

  draw() {
    delete this.element.dataset.waits;
    const { check } = this;
    const { name, docs, counts, state, done, total, left, asked, asking } = check.data;
    this.title.textContent = this.title.title = name;
    this.against.button.textContent = `against ${docs ? plural(docs.length, "document") : "all documents"}`;
    const faults = check.data.faults.length;
    const found = SHOWN.map(([status, tone, words, sign]) => [status, tone, words, counts[status], sign]);
    const rows = [...found, ["fault", "own", `own figure${faults === 1 ? "" : "s"}`, faults], ["since", "weak", "changed since", check.sentences.filter(stale).length, "history"]];
    const shown = rows.filter(([status, , , n]) => n || (status === "contradicted" && state === "done"));
    const key = JSON.stringify([shown, check.filter]);
    if (key !== this.drawn) {
      this.drawn = key;
      const held = this.tally.contains(document.activeElement) ? document.activeElement.dataset.status : null;
      this.tally.replaceChildren(...shown.map(([status, tone, words, n, sign]) => h("button", { type: "button", class: tone, "data-status": status, "aria-pressed": String(check.filter === status), disabled: !n, title: words, onclick: () => check.only(status) }, sign && icon(sign, "s16"), h("span", {}, h("b", {}, n.toLocaleString("en")), h("span", { class: "w" }, ` ${words}`)))));
      if (held) this.tally.querySelector(`[data-status="${held}"]`)?.focus();
    }
    const working = ["waiting", "running", "stopping"].includes(state);
    const words = { waiting: "Waiting for another check", stopping: "Stopping…", running: [asked ? reads(asked) : done ? `${done} of ${total}` : `Checking sentence 1 of ${total}`, left !== null && timeLeft(left)].filter(Boolean).join(" · "), stopped: `Stopped at ${done} of ${total}` }[state] ?? "";
    if (words !== this.said) this.progress.replaceChildren(...(working ? [h("span", { class: "gw-spin" })] : []), words);
    this.said = words;
    this.stop.hidden = !working;
    this.stop.disabled = state === "stopping";
    this.goOn.hidden = state !== "stopped";
    this.again.hidden = state !== "done";
    this.asking.draw(asking);
    this.step();
    this.fit();
  }

  // Which problem is open, of how many.
  step() {
    const { check } = this;
    const keys = check.keys();
    const at = keys.indexOf(check.current);
    const noun = check.filter ? "" : "Problem ";
    if (!keys.length) this.place.replaceChildren(check.filter ? "" : check.data.state === "done" ? "No open problem" : check.data.done ? "No problem yet" : "");
    else if (at < 0) this.place.replaceChildren(check.filter ? "– of " : "", h("b", {}, String(keys.length)), check.filter ? "" : keys.length === 1 ? " problem" : " problems");
    else this.place.replaceChildren(noun, h("b", {}, String(at + 1)), ` of ${keys.length}`);
    for (const arrow of this.steps.querySelectorAll("button")) arrow.disabled = !keys.length;
  }

  // Which documents it is checked against, to change.
  choose(panel) {
    const { docs, state } = this.check.data;
    const documents = new Documents();
    documents.offer(this.check.documents, (id) => !docs || docs.includes(id));
    const go = async () => (await this.check.act("/again", { docs: documents.docs })) && this.against.close(true);
    panel.replaceChildren(documents.list, h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm primary", disabled: state !== "done" && state !== "stopped", onclick: go }, "Check against these")));
  }
}
