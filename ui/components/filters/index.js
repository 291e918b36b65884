// Pages and kinds that the next questions search, and by what. Pages are checked while they are typed; only what is good is kept.

import { configure, get } from "../shared/api.js";
import { beforeAsking } from "../shared/asking.js";
import { h } from "../shared/dom.js";

const CHECK = 200; // ms after the last key
const KEEP = 700;
const HINT = "Counted from the first page";
const BY = {
  auto: "By meaning, words and names",
  hybrid: "By meaning and words",
  graph: "From name to name",
  outline: "By meaning, of whole sections too",
  overview: "Themes, each with quotes",
  vector: "Ignores exact words",
  bm25: "Ignores meaning",
};

export function mount({ parentElement, data, tell }) {
  configure(data);
  const filters = (parentElement.gwFilters ??= new Filters(parentElement.querySelector(".gw-filters")));
  filters.show(data, (narrowed) => tell("narrowed", narrowed), (mode) => tell("mode", mode));
  return () => {
    filters.enough();
    filters.close();
  };
}

class Filters {
  constructor(root) {
    this.kept = null; // the pages that are in force, as typed
    this.kinds = [];
    this.field = h("input", {
      class: "gw-field",
      type: "text",
      placeholder: "All, or 3-7, 12",
      "aria-label": "Pages",
      "aria-describedby": "gw-pages-said",
      autocomplete: "off",
      oninput: () => this.typed(),
      onchange: () => this.check(true),
    });
    this.said = h("p", { id: "gw-pages-said", class: "said", role: "status" }, HINT);
    this.row = h("div", { class: "kinds", role: "group", "aria-label": "Kinds of passages; choose none to search all" });
    this.mode = h("select", { class: "gw-field", "aria-label": "Search by", "aria-describedby": "gw-mode-said", title: "Search by", onchange: () => this.choose(this.mode.value) });
    this.by = h("p", { id: "gw-mode-said", class: "said" });
    root.append(this.field, this.said, this.row, this.mode, this.by);
    this.enough = beforeAsking(() => this.asked());
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.later);
  }

  show({ conversation, pages, kinds, longest, known, mode, modes }, keep, choose) {
    this.choose = choose;
    if (this.mode.childElementCount !== Object.keys(modes).length) this.mode.replaceChildren(...Object.entries(modes).map(([value, name]) => h("option", { value }, name)));
    this.mode.value = mode;
    this.by.textContent = BY[mode] ?? "As published";
    const other = conversation !== this.conversation;
    if (other) this.close(); // what was typed for another conversation is not for this one
    this.conversation = conversation;
    this.keep = ({ pages, kinds, asked = false }) => keep({ conversation, pages, kinds, asked });
    this.kinds = kinds;
    if (other || pages !== this.kept) {
      this.kept = pages;
      if (other || document.activeElement !== this.field) this.field.value = pages;
      this.longest = undefined;
    }
    if (longest !== this.longest) {
      this.longest = longest;
      this.check(false);
    }
    if (!this.row.childElementCount) {
      for (const [kind, words] of Object.entries(known)) {
        const name = words[0].toUpperCase() + words.slice(1);
        this.row.append(h("button", { type: "button", class: "gw-btn sm", "data-kind": kind, onclick: () => this.toggle(kind) }, name));
      }
    }
    for (const button of this.row.children) button.setAttribute("aria-pressed", String(kinds.includes(button.dataset.kind)));
  }

  toggle(kind) {
    this.kinds = this.kinds.includes(kind) ? this.kinds.filter((other) => other !== kind) : [...this.kinds, kind];
    this.keep({ pages: this.kept, kinds: this.kinds });
  }

  typed() {
    this.sent = undefined; // what went with a question, which a look that began before it must not put in force again
    this.close();
    this.timer = setTimeout(() => this.check(false), CHECK);
    this.later = setTimeout(() => this.check(true), KEEP);
  }

  // A question is on its way: what is typed holds for it, looked at or not. The script says what is wrong with it, each
  // time that it is asked.
  asked() {
    if (this.field.value === this.kept) return;
    this.close();
    this.sent = this.field.value;
    this.keep({ pages: this.sent, kinds: this.kinds, asked: true });
  }

  // Says what the field means, or what is wrong with it; with `keep`, puts what is good in force.
  async check(keep) {
    const text = this.field.value;
    const { conversation, longest } = this;
    const { words, wrong } = await get("/pages", { text, last: longest || "" }).catch((error) => ({ words: "", wrong: `${error.message} ${error.hint}` }));
    if (text !== this.field.value || conversation !== this.conversation) return; // typed on, or gone elsewhere, meanwhile
    if (longest !== this.longest) return this.check(keep);
    this.said.textContent = wrong || (words ? `Only ${words}` : HINT);
    this.said.classList.toggle("bad", Boolean(wrong));
    if (wrong) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
    if (keep) this.close();
    if (keep && !wrong && text !== this.kept && text !== this.sent) {
      this.kept = text;
      this.keep({ pages: text, kinds: this.kinds });
    }
  }
}
