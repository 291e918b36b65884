// What could be asked next, below the last answer: questions that the server has tried already, each with what is
// `shown` of it.

import { answered, get } from "../shared/api.js";
import { h, prose } from "../shared/dom.js";

const MOST = 3;

export class Next {
  // `ask(question)` resolves to an error's card, or to nothing when it was asked.
  constructor(ask) {
    this.ask = ask;
    this.known = new Map(); // turn → questions
    this.turn = "";
  }

  // Stands below the turn in `element`, and nowhere else. Nothing of it moves what is above.
  async show(conversation, turn, element) {
    if (this.turn === turn && this.box?.isConnected) return;
    this.hide();
    this.turn = turn;
    let found = this.known.get(turn);
    if (!found) {
      found = await answered(() => get(`/conversations/${conversation}/questions/${turn}/suggestions`));
      if (found.refused) found = { questions: [], trouble: `${found.refused.message} ${found.refused.hint}` };
      if (found.questions.length) this.known.set(turn, found);
    }
    if (this.turn !== turn || !element.isConnected) return; // asked on meanwhile
    if (found.trouble) this.box = h("p", { class: "gw-hint" }, "No follow-up questions could be suggested: ", prose(found.trouble));
    else if (found.questions.length) this.box = this.draw(found.questions);
    else return;
    element.append(this.box);
  }

  hide() {
    this.box?.remove();
    this.box = null;
    this.turn = "";
  }

  draw(questions) {
    const items = questions.slice(0, MOST).map(({ question, shown }) => h("li", {}, h("button", { type: "button", class: "gw-next-q", title: shown === question ? null : question, onclick: (event) => this.pressed(event, question) }, shown)));
    return h("section", { class: "gw-next", "aria-label": "Ask next" }, h("ul", {}, items));
  }

  async pressed({ currentTarget }, question) {
    const box = this.box;
    currentTarget.disabled = true;
    const failed = await this.ask(question);
    currentTarget.disabled = false;
    box.querySelector(".gw-msg")?.remove();
    if (failed) box.append(failed);
  }
}
