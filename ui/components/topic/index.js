// The title row of a conversation: its name, export, and behind a button rename, delete and what it has cost.

import { answered, configure, get, post } from "../shared/api.js";
import { listening } from "../shared/bus.js";
import { composer, h, icon, plural, prose } from "../shared/dom.js";
import { paneButton } from "../shared/layout.js";
import { Exports } from "../shared/exports.js";
import { Popup, shareItem } from "../shared/popup.js";
import { editName } from "../shared/rename.js";
import { changed } from "../shared/tabs.js";

const KINDS = [
  ["md", "Markdown", "Text with footnotes"],
  ["docx", "Word", "For editing"],
  ["pdf", "PDF", "For reading and sharing"],
];

export function mount({ parentElement, data, tell }) {
  configure(data);
  const topic = (parentElement.gwTopic ??= new Topic(parentElement.querySelector(".gw-topic")));
  topic.show(data, (left) => tell("left", left));
  return () => topic.close();
}

class Topic {
  constructor(root) {
    this.root = root;
    this.title = h("h1", { class: "ti" });
    this.exports = new Exports(KINDS, () => `/conversations/${this.conversation}/export`, "conversation");
    this.more = new Popup("More about this conversation", "more_horiz", (panel) => this.fillMore(panel));
    root.append(this.title, h("span", { class: "sp" }), this.exports.element, this.more.element, paneButton());
    this.answered = 0;
    this.unlisten = listening([
      ["gw:thread", (event) => this.counted(event.detail)],
      ["gw:titled", (event) => this.titled(event.detail)],
    ]);
  }

  close() {
    for (const popup of [this.exports, this.more]) popup.close();
    this.unlisten();
  }

  // `leave` tells the script that the conversation was deleted, here (`gone` false) or elsewhere.
  show({ conversation, title, own, shared, shares }, leave) {
    Object.assign(this, { shared, shares });
    this.leave = (gone) => leave({ conversation, gone });
    if (conversation !== this.conversation) {
      this.stopEditing?.();
      this.answered = this.turns = 0;
      for (const popup of [this.exports, this.more]) popup.close();
    }
    this.conversation = conversation;
    this.name(title);
    this.more.element.hidden = !conversation || !own;
    this.gate();
  }

  name(title) {
    this.given = title;
    this.title.title = title; // it may be cut off
    if (!this.stopEditing) this.title.replaceChildren(title || "New conversation");
  }

  counted({ conversation, turns, answered }) {
    if (conversation !== this.conversation) return;
    Object.assign(this, { turns, answered });
    this.gate();
  }

  titled({ conversation, title }) {
    if (conversation === this.conversation) this.name(title);
  }

  gate() {
    this.exports.disable(this.answered ? "" : this.turns ? "Export: the first answer is still being written" : "Export: no questions yet");
  }

  fillMore(panel) {
    const spent = h("div", { class: "spent num" });
    const rename = h("button", { type: "button", class: "item", onclick: () => this.rename() }, icon("edit", "s16"), "Rename");
    const remove = h("button", { type: "button", class: "item", onclick: () => this.confirm(panel) }, icon("delete", "s16"), "Delete conversation");
    const share = this.shares && shareItem(this.shared, "read", () => this.share(!this.shared));
    panel.replaceChildren(...[rename, share, remove, spent].filter(Boolean));
    this.fillSpent(spent);
  }

  // Nothing stands here while nothing was ever spent.
  async fillSpent(box) {
    const spent = await answered(() => get(`/conversations/${this.conversation}/spending`));
    if (spent.refused) return box.append(h("p", { class: "said bad" }, prose(`${spent.refused.message} ${spent.refused.hint}`)));
    if (spent.gone) return this.leave(true);
    if (!spent.all) return;
    const line = (name, usd) => h("p", {}, h("span", {}, name), h("b", {}, usd));
    box.append(line("This conversation", spent.here), line("Total spent", spent.all));
    box.append(h("ul", {}, spent.parts.map((part) => h("li", {}, part))));
  }

  async share(shared) {
    if (await this.tried("share", { shared })) return;
    this.shared = shared;
    this.more.close(true);
    changed(this.conversation);
  }

  rename() {
    this.more.close();
    const keep = (title) => title && this.keepTitle(title);
    this.stopEditing = editName(this.title, this.given, keep, (back) => {
      this.stopEditing = null;
      this.name(this.given);
      if (back) this.more.button.focus();
    });
  }

  async keepTitle(title) {
    const before = this.given;
    this.name(title);
    const failed = await this.tried("title", { title });
    if (failed) this.name(before);
    else changed(this.conversation);
  }

  confirm(panel) {
    const keep = h("button", { type: "button", class: "gw-btn sm", onclick: () => this.more.close(true) }, "Cancel");
    const remove = h("button", { type: "button", class: "gw-btn sm danger", onclick: () => this.remove() }, "Delete");
    const what = this.turns > 1 ? `${plural(this.turns, "question")} and their answers will be deleted too.` : "Its question and answer will be deleted too.";
    panel.replaceChildren(h("p", { class: "sure" }, h("b", {}, "Delete this conversation?"), ` ${what} You can’t undo this.`), h("div", { class: "row" }, remove, keep));
    keep.focus();
  }

  async remove() {
    const id = this.conversation;
    if (await this.tried("delete")) return;
    this.more.close();
    this.leave(false);
    changed(id);
    composer()?.focus(); // what had the focus is gone
  }

  // Whether a request failed, which is then said in the panel, or by the page where the conversation is gone.
  async tried(what, body) {
    const { gone, refused } = await answered(() => post(`/conversations/${this.conversation}/${what}`, body));
    if (gone) this.leave(true);
    if (!refused) return Boolean(gone);
    if (!this.more.open) this.more.show();
    this.more.panel.replaceChildren(h("p", { class: "said bad", role: "alert" }, prose(`${refused.message} ${refused.hint}`)));
    return true;
  }
}
