// One's own questions: those kept from answers, to run, change, remove and take along.

import { answered, get, save } from "../shared/api.js";
import { button, h, icon, plural } from "../shared/dom.js";
import { TestQuestion } from "../shared/test_question.js";

export const MINE = "mine"; // the set's id

export class Mine {
  // `act(path, body)` changes something, after which `draw` is called again; `run()` opens the form of a run.
  constructor({ act, run, say }) {
    Object.assign(this, { act, run, say });
    this.element = h("div", { class: "mine" });
  }

  async draw() {
    const found = await answered(() => get("/evaluate/mine"));
    if (found.refused) this.say(found.refused);
    else this.fill(found);
  }

  fill({ cases, candidates }) {
    const file = (form) => h("button", { type: "button", class: "gw-btn sm", onclick: () => save(`/evaluate/set.${form}`, `questions.${form}`, { set: MINE }).catch((error) => this.say(error)) }, icon("download", "s16"), form.toUpperCase());
    const tools = cases.length > 0 && [h("button", { type: "button", class: "gw-btn sm primary", onclick: () => this.run() }, icon("play_arrow", "s16"), "Run"), file("jsonl"), file("csv")];
    const parts = [
      h("div", { class: "qh" }, h("h1", {}, "My questions"), h("span", { class: "muted num" }, cases.length > 0 && plural(cases.length, "question")), h("span", { class: "sp" }), tools),
      candidates.length > 0 && h("section", { class: "from" }, h("h2", {}, "From your conversations"), h("ul", { class: "own", "aria-label": "From your conversations" }, candidates.map((one) => this.candidate(one)))),
      cases.length > 0 ? h("ul", { class: "own", "aria-label": "My questions" }, cases.map((one) => this.line(one))) : h("p", { class: "none" }, "None yet. Choose Keep as test question in the menu under an answer."),
    ];
    this.element.replaceChildren(...parts.filter(Boolean));
  }

  // An answer that was thought helpful, or not.
  candidate(one) {
    const form = new TestQuestion(one.id, { kept: () => this.draw(), closed: () => keep.focus() });
    const keep = h("button", { type: "button", class: "gw-btn sm", onclick: () => (form.element.hidden ? form.open() : form.close()) }, "Keep");
    const pass = h("button", { type: "button", class: "gw-btn sm quiet", onclick: async () => (await this.act(`/evaluate/mine/${one.id}/pass`, {})) && this.draw() }, "Not this one");
    return h("li", {}, h("div", { class: "ln" }, icon(one.helpful ? "thumb_up" : "thumb_down", "s16"), h("div", { class: "what" }, h("span", { class: "gw-unseen" }, one.helpful ? "Helpful: " : "Not helpful: "), one.question, one.words && h("p", { class: "muted" }, `“${one.words}”`)), h("span", { class: "acts" }, keep, pass)), form.element);
  }

  line(one) {
    const form = new TestQuestion(one.id, { kept: () => this.draw(), closed: () => edit.focus() });
    const edit = button("Change", "edit", () => (form.element.hidden ? form.open() : form.close()));
    const acts = h("span", { class: "acts" }, edit, button("Remove", "delete", () => acts.replaceChildren(...this.sure(one))));
    return h("li", {}, h("div", { class: "ln" }, h("div", { class: "what" }, h("b", {}, one.question), h("p", {}, one.answerable ? one.answer || "Any answer" : "The documents don’t answer this"), one.places.length > 0 && h("p", { class: "muted" }, one.places.join(". "))), acts), form.element);
  }

  sure(one) {
    const remove = h("button", { type: "button", class: "gw-btn sm danger", onclick: async () => (await this.act(`/evaluate/mine/${one.id}/remove`, {})) && this.draw() }, "Remove");
    requestAnimationFrame(() => remove.focus());
    return [remove, h("button", { type: "button", class: "gw-btn sm quiet", onclick: () => this.draw() }, "Cancel")];
  }
}
