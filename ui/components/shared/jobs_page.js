// Page on which work of a kind begins, with the list of what was begun so far: checks, grids.

import { answered, get, inLibrary, post } from "./api.js";
import { button, h, icon, showTrouble, troubleBox } from "./dom.js";
import { when } from "./when.js";

const BUSY_MS = 1000;
const SAMPLE_MS = 400;

// `kind` is the last part of its address and names its list there; `mark` is the query parameter of one. A page has
// `loses`, what is deleted with one, and `outcome`, an element for how far it is.
export class JobsPage {
  constructor(root, { kind, mark, before, sample }) {
    Object.assign(this, { root, kind, mark, before });
    this.trouble = troubleBox();
    this.sample = h("button", { type: "button", class: "gw-btn", onclick: () => this.try() }, icon("play_arrow", "s16"), sample);
    this.trying = h("span", { class: "muted", role: "status" });
    this.list = h("section", { class: "rec", hidden: true });
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }

  say(error) {
    showTrouble(this.trouble, error);
    if (error) this.trouble.scrollIntoView({ block: "nearest" });
  }

  // What cannot be done comes as an answer in words.
  async act(path, body) {
    const answer = await answered(() => post(`/${this.kind}${path}`, body));
    this.say(answer.refused);
    return answer.refused ? null : answer;
  }

  // What a file holds, by `read`; null if the browser can't open it.
  async opened(file, read) {
    try {
      return await read(file);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      this.say({ message: `The browser couldn’t open ${file.name}.`, hint: "Check that it’s still there, then choose it again." });
      return null;
    }
  }

  // The sample document is read first, where it is not in the library yet.
  async try() {
    this.sample.disabled = true;
    for (;;) {
      const made = await this.act("/sample", {});
      if (this.closed) return;
      if (made?.id) return this.open(made.id);
      this.trying.replaceChildren(made ? h("span", { class: "gw-spin" }) : "", made?.words ?? "");
      if (!made) break;
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
    this.sample.disabled = false;
  }

  async load() {
    clearTimeout(this.timer);
    const found = await answered(() => get(`/${this.kind}`));
    if (found.refused) return this.say(found.refused);
    if (this.closed) return;
    this.loaded?.(found);
    const all = found[this.kind];
    const key = JSON.stringify(all);
    if (key !== this.drawn && !this.list.querySelector(".danger")) this.draw(all, key); // no question is open
    if (all.some((one) => !["done", "stopped"].includes(one.state))) this.timer = setTimeout(() => this.load(), BUSY_MS);
  }

  draw(all, key) {
    this.drawn = key;
    this.list.hidden = !all.length;
    this.list.replaceChildren(h("h2", { id: "gw-before" }, this.before), h("ul", { "aria-labelledby": "gw-before" }, all.map((one) => this.row(one))));
  }

  row(one) {
    const open = (event) => {
      event.preventDefault();
      this.open(one.id);
    };
    const remove = button("Delete", "delete", () => this.sure(line, one), { "aria-label": `Delete ${one.name}` });
    const line = h("li", {}, h("a", { href: inLibrary({ [this.mark]: one.id }), onclick: open }, h("b", { title: one.name }, one.name), this.outcome(one), h("span", { class: "muted when" }, when(one.created))), remove);
    return line;
  }

  sure(line, one) {
    const gone = async () => {
      if (!(await this.act(`/${one.id}/delete`, {}))) return;
      line.remove();
      this.load();
    };
    const keep = () => {
      line.replaceWith(this.row(one));
      this.list.querySelector(`[aria-label="${CSS.escape(`Delete ${one.name}`)}"]`)?.focus();
    };
    const no = h("button", { type: "button", class: "gw-btn sm quiet", onclick: keep }, "Keep it");
    line.replaceChildren(h("span", { class: "sure" }, `Delete “${one.name}” with its ${this.loses}?`), h("button", { type: "button", class: "gw-btn sm danger", onclick: gone }, "Delete"), no);
    no.focus();
  }
}
