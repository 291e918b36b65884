// The conversations at the side: found by their words as they are typed, the last used first.

import { answered, configure, get, inLibrary } from "../shared/api.js";
import { listening } from "../shared/bus.js";
import { h, icon, plural, prose } from "../shared/dom.js";
import { free } from "../shared/keys.js";
import { foldSide } from "../shared/side.js";

const WAIT = 150; // ms after the last key

export function mount({ parentElement, data, tell }) {
  configure(data);
  const history = (parentElement.gwHistory ??= new History(parentElement.querySelector(".gw-history")));
  history.show(data, (id) => tell("opened", id));
  return () => history.close();
}

class History {
  constructor(root) {
    this.root = root;
    this.field = h("input", {
      class: "gw-field",
      type: "text",
      placeholder: "Search",
      "aria-label": "Search conversations",
      "aria-describedby": "gw-history-said",
      "aria-keyshortcuts": "/",
      autocomplete: "off",
      oninput: () => this.later(),
      onkeydown: (event) => this.key(event),
    });
    this.wipe = h("button", { type: "button", class: "wipe", "aria-label": "Clear the search", title: "Clear the search", hidden: true, onclick: () => this.clear() }, icon("close", "s14"));
    this.said = h("p", { class: "said", id: "gw-history-said", role: "status" });
    this.list = h("nav", { "aria-label": "Conversations" });
    root.append(h("h2", {}, "Conversations"), h("div", { class: "find" }, icon("search", "s16"), this.field, this.wipe), this.said, this.list);
    this.asked = 0;
    this.all = false;
    this.list.addEventListener("click", (event) => this.clicked(event));
    this.list.addEventListener("pointerdown", () => (this.pressed = true));
    this.unlisten = listening([
      ["gw:changed", () => this.load()],
      ["focus", () => this.load()],
      ["keydown", (event) => this.shortcut(event)],
      ["pointerup", () => setTimeout(() => this.released())], // after the click
      ["pointercancel", () => this.released()],
      ["click", ({ target }) => target.closest?.(".st-key-gw_new button") && foldSide()],
    ]);
  }

  close() {
    clearTimeout(this.timer);
    this.unlisten();
  }

  show({ conversation, revision }, open) {
    this.open = open;
    this.current = conversation;
    this.mark();
    if (revision === this.revision) return;
    this.revision = revision;
    this.load();
  }

  later() {
    this.wipe.hidden = !this.field.value;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), WAIT);
  }

  clear() {
    this.field.value = "";
    this.all = false;
    this.later();
    this.load();
    this.field.focus();
  }

  async load() {
    clearTimeout(this.timer);
    const search = this.field.value.trim();
    const number = ++this.asked;
    const found = await answered(() => get("/conversations", { q: search, ...(this.all && { all: 1 }) }));
    if (number !== this.asked) return; // typed on meanwhile
    if (found.refused) this.say(prose(`${found.refused.message} ${found.refused.hint}`), true);
    else if (this.pressed) this.waiting = () => this.draw(found, search); // a row that goes between press and release is not clicked
    else this.draw(found, search);
  }

  released() {
    this.pressed = false;
    this.waiting?.();
    this.waiting = undefined;
  }

  say(words, bad = false) {
    this.said.replaceChildren(...[words].flat());
    this.said.classList.toggle("bad", bad);
  }

  draw({ total, days }, search) {
    const shown = days.reduce((sum, { items }) => sum + items.length, 0);
    this.say(search ? (total ? `${plural(total, "conversation")} found` : `No conversation mentions “${search}”.`) : total ? "" : "Your conversations appear here.");
    const focused = this.list.contains(document.activeElement) && document.activeElement.dataset.id;
    this.list.replaceChildren(...days.flatMap(({ day, items }) => [h("h3", {}, day), h("ul", {}, items.map((item) => h("li", {}, row(item, search))))]));
    if (total > shown) {
      const more = h("button", { type: "button", class: "gw-linkish" }, `Show ${(total - shown).toLocaleString("en")} more`);
      more.addEventListener("click", () => this.showAll(shown));
      this.list.append(more);
    }
    this.mark();
    if (focused) this.list.querySelector(`[data-id="${focused}"]`)?.focus();
  }

  async showAll(first) {
    this.all = true;
    await this.load();
    this.list.querySelectorAll("a")[first]?.focus();
  }

  mark() {
    for (const link of this.list.querySelectorAll("a")) link.ariaCurrent = link.dataset.id === this.current ? "page" : null;
  }

  clicked(event) {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own
    event.preventDefault();
    this.open(link.dataset.id);
    foldSide();
  }

  key(event) {
    if (event.key === "Escape" && this.field.value) {
      event.stopPropagation();
      this.clear();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      event.stopPropagation(); // or `shortcut` moves on from there
      this.list.querySelector("a")?.focus();
    }
  }

  shortcut(event) {
    if (event.key === "/" && free(event)) {
      event.preventDefault();
      this.field.focus();
      this.field.select();
      return;
    }
    const links = [...this.list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (at < 0 || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    (links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? this.field).focus();
  }
}

function row({ id, title, found }, search) {
  return h("a", { href: inLibrary({ c: id }), "data-id": id, title }, h("span", { class: "ti" }, bold(title, search)), found && h("span", { class: "found" }, bold(found, search)));
}

// ``text`` with what was searched for in bold.
function bold(text, search) {
  const words = search.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return text;
  return text.split(new RegExp(`(${words.join("|")})`, "gi")).map((part, i) => (i % 2 ? h("b", {}, part) : part));
}
