// Versions of a document: which there are, and what is other in it than in an earlier one, old words beside the new.

import { answered, get } from "../shared/api.js";
import { h, plural } from "../shared/dom.js";
import { side, told } from "../shared/since.js";

export class VersionsView {
  constructor(read, item, { read: open }) {
    this.id = read.id;
    this.open = open;
    this.chooser = h("select", { class: "gw-field", "aria-label": "Earlier version", onchange: () => this.compare() });
    this.page = h("button", { type: "button", class: "gw-linkish", onclick: () => this.open(this.chooser.value, 1) }, "Read it");
    this.list = h("ul", { class: "els gw-scroll", tabindex: "0", "aria-label": "Changes" });
    this.element = h("div", { class: "listed versions" }, h("div", { class: "pgnav" }, h("span", {}, "Changed since"), this.chooser, this.page), this.list);
  }

  async show() {
    const { versions, refused } = await answered(() => get(`/documents/${this.id}/versions`));
    if (refused) return this.say(`${refused.message} ${refused.hint ?? ""}`);
    const earlier = versions.filter((one) => one.id !== this.id);
    const when = (one) => new Date(one.created * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
    this.chooser.replaceChildren(...earlier.map((one, at) => h("option", { value: one.id }, `version ${earlier.length - at} of ${versions.length}, ${when(one)}`)));
    if (earlier.length) await this.compare();
    else this.say("There are no earlier versions.");
  }

  say(words) {
    this.list.replaceChildren(h("li", { class: "none", role: "status" }, words));
  }

  async compare() {
    const before = this.chooser.value;
    this.say("Comparing");
    const { total, changes, refused } = await answered(() => get(`/documents/${this.id}/differences`, { before }));
    if (this.chooser.value !== before) return;
    if (refused) return this.say(`${refused.message} ${refused.hint ?? ""}`);
    if (!total) return this.say("All its words are the same.");
    this.list.replaceChildren(...changes.map((one) => this.row(one)), total > changes.length ? h("li", { class: "none" }, `And ${plural(total - changes.length, "change")} more.`) : "");
  }

  row({ old, now }) {
    const of = (name, title, place, none) => (place ? side(name, title, told(place, place.quote), place, { title: `Open page ${place.label}`, onclick: () => this.open(place.doc, place.page) }) : side(name, title, none));
    return h("li", { class: "change" }, h("div", { class: "gw-sides" }, of("then", "Then", old, "Not there yet."), of("now", "Now", now, "Not there any more.")));
  }
}
