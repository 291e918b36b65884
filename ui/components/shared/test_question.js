// The form that keeps an answer as a test question: the question, the answer to expect, and the citations that prove it.

import { answered, get, pageUrl, post } from "./api.js";
import { h, icon, prose } from "./dom.js";

// A form for the answer of `turn`, filled when it is opened. `kept` is called when it was stored, `closed` after Cancel.
export class TestQuestion {
  constructor(turn, { kept = () => {}, closed = () => {} } = {}) {
    this.path = `/evaluate/mine/${turn}`;
    this.kept = kept;
    this.closed = closed;
    this.element = h("form", { class: "gw-keep", hidden: true, "aria-label": "Test question", onsubmit: (event) => (event.preventDefault(), this.keep()), onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), this.close()) });
  }

  async open() {
    this.element.hidden = false;
    const found = await this.asked(() => get(this.path));
    if (!found) return;
    const { question, answer, answerable, evidence, kept } = found;
    this.question = h("textarea", { class: "gw-field", rows: "2", "aria-label": "Question" });
    this.answer = h("textarea", { class: "gw-field", rows: "4", "aria-label": "Answer to expect", placeholder: "What a right answer says" });
    this.question.value = question;
    this.answer.value = answer;
    this.none = h("input", { type: "checkbox", checked: !answerable, onchange: () => this.show() });
    this.places = evidence.map((one) => {
      const box = h("input", { type: "checkbox", value: one.id, checked: one.chosen });
      const quote = one.quote ? `“${one.quote.replace(/\s+/g, " ")}”` : "Its words went with the document.";
      return h("label", { class: "ck" }, box, h("span", {}, h("b", {}, `${one.title}, p. ${one.page}`), h("span", { class: "quote" }, quote)));
    });
    this.held = h("div", {}, h("label", {}, h("span", {}, "Answer to expect"), this.answer), evidence.length > 0 && h("fieldset", {}, h("legend", {}, "Evidence"), this.places));
    this.trouble = h("p", { class: "bad", role: "alert", hidden: true });
    this.element.replaceChildren(
      h("label", {}, h("span", {}, "Question"), this.question),
      h("label", { class: "ck" }, this.none, "The documents don’t answer this"),
      this.held,
      this.trouble,
      h("div", { class: "row" }, h("button", { type: "submit", class: "gw-btn sm primary" }, kept ? "Save" : "Keep"), h("button", { type: "button", class: "gw-btn sm quiet", onclick: () => this.close() }, "Cancel"), h("span", { class: "muted" }, "It stays on this machine.")),
    );
    this.show();
    this.element.querySelector("[type=submit]").focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  // What is expected of a question that the documents don't answer is no answer.
  show() {
    this.held.hidden = this.none.checked;
  }

  close() {
    this.element.hidden = true;
    this.closed();
  }

  async keep() {
    const evidence = this.places.map((label) => label.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    const body = { question: this.question.value, answer: this.answer.value, answerable: !this.none.checked, evidence };
    const stored = await this.asked(() => post(this.path, body));
    if (!stored) return;
    this.element.replaceChildren(h("p", { role: "status" }, icon("check", "s16"), "Kept in ", h("a", { href: pageUrl("evaluate", { view: "mine" }) }, "My questions"), "."));
    this.kept();
  }

  // What came of a request; null if it failed, which is said.
  async asked(request) {
    const found = await answered(request);
    if (!found.refused) return found;
    const said = prose(`${found.refused.message} ${found.refused.hint ?? ""}`);
    if (this.trouble?.isConnected) {
      this.trouble.replaceChildren(...said);
      this.trouble.hidden = false;
    } else this.element.replaceChildren(h("p", { class: "bad", role: "alert" }, said));
    return null;
  }
}
