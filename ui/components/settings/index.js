// The Settings page: fetches what is in force, draws its sections, and changes it for this visit.

import { ApiError, answered, configure, get, post } from "../shared/api.js";
import { errorBox, h, icon, plural } from "../shared/dom.js";
import { Account, PART as ACCOUNT } from "./account.js";
import { All } from "./all.js";
import { answers } from "./answers.js";
import { data, looks } from "./looks.js";
import { Members, PART as MEMBERS } from "./members.js";
import { option, state } from "./parts.js";
import { PART as READING, reading } from "./reading.js";
import { PART as STRUCTURES, Structures } from "./structures.js";

const WAIT = 150; // ms after the last key
const WANTED = "gw-settings-part"; // the part that another page leads to
const PARTS = [["gw-answers", "Answers"], ["gw-retrieval", "Retrieval"], [READING, "Reading documents"], [STRUCTURES, "Trees and graphs"], ["gw-looks", "Appearance"], ["gw-data", "Documents and data"], ["gw-all", "Advanced"]];

export function mount({ parentElement, data: given, tell }) {
  configure(given);
  const page = (parentElement.gwSettings ??= new Page(parentElement.querySelector(".gw-settings"), given));
  page.changed = () => tell("changed", true);
  if (!page.state) page.load().then(() => page.arrive());
  addEventListener("focus", page.look);
  return () => removeEventListener("focus", page.look);
}

const inForce = ({ who, presets, settings, reading, changes }) => JSON.stringify([who, presets, settings, reading, changes]);

class Page {
  constructor(root, { paths, account, manages }) {
    this.root = root;
    this.paths = paths;
    this.account = account ? new Account() : null; // where people sign in
    this.members = manages ? new Members() : null;
    this.state = null;
    this.draft = null; // who is to answer, chosen but not yet in force
    this.tried = null;
    this.all = new All(this);
    this.structures = new Structures(() => this.load());
    this.nav = h("nav", { class: "an", "aria-label": "Settings" }, [...(account ? [[ACCOUNT, "Account"]] : []), ...(manages ? [[MEMBERS, "Members"]] : []), ...PARTS].map(([id, words]) => h("a", { href: `#${id}`, onclick: (event) => this.jump(event, id) }, words)));
    this.column = h("div", { class: "col" });
    this.bar = h("div", { class: "bar", role: "status", hidden: true });
    root.append(this.nav, h("div", { class: "mn" }, h("h1", {}, "Settings"), this.column, this.all.element, this.bar));
  }

  jump(event, id) {
    event.preventDefault(); // the address is the app's own
    this.go(id);
  }

  arrive() {
    const wanted = sessionStorage.getItem(WANTED);
    sessionStorage.removeItem(WANTED);
    if (wanted && this.state) this.go(wanted);
  }

  go(id) {
    const part = this.root.querySelector(`#${id}`);
    if (part === this.all.element) part.open = true;
    part.scrollIntoView({ block: "start" });
    part.setAttribute("tabindex", "-1");
    part.focus({ preventScroll: true });
  }

  load = () => this.ask(() => get("/settings"));

  // Back from another window, where settings may have been changed: drawn anew only if they were.
  look = async () => {
    const before = this.state;
    const found = await answered(() => get("/settings"));
    if (found.refused) return; // what is asked next says so
    if (!before || this.state !== before || inForce(found) === inForce(before)) return;
    this.state = found;
    this.draw();
    this.changed();
  };

  // What comes back is what is in force now. What goes wrong is said, and everything stays as it was.
  async ask(call, after = () => {}) {
    const found = await answered(call);
    this.error = found.refused ?? null;
    if (this.error) {
      this.draw();
      return false;
    }
    this.state = found;
    after();
    this.draw();
    return true;
  }

  async put(path, body, after) {
    if (await this.ask(() => post(`/settings/${path}`, body), after)) this.changed();
  }

  change(changes) {
    this.tried = null;
    const writer = Object.keys(changes).some((key) => key.startsWith("llm.")); // else a choice that is being made stays
    return this.put("change", { changes }, () => writer && (this.draft = null));
  }

  choose(name) {
    const { who } = this.state;
    this.tried = null;
    if (name === "offline") return this.change({ "llm.model": "offline", "llm.base_url": null });
    // Without an address, or a key, there is nothing to change to yet: its fields are shown.
    this.draft = name === who.choice ? null : name;
    if (name === "claude" && who.choice !== "claude") return this.change({ "llm.model": "claude", "llm.base_url": null });
    this.draw();
  }

  preset = (name) => this.put("preset", { name });
  undo = () => this.put("undo", {}, () => (this.draft = this.tried = null));
  keep = () => this.put("keep", {}, () => (this.kept = true));

  async setKey(key) {
    await this.put("key", { key }, () => (this.tried = null));
    if (!this.error && this.draft !== "server") {
      if (this.state.who.choice === "offline") await this.change({ "llm.model": "claude" });
      await this.tryKey();
    }
  }

  forgetKey() {
    return this.put("forget", {}, () => (this.tried = null));
  }

  async tryKey() {
    this.tried = { waiting: true, words: "Asking the model" };
    this.draw();
    const found = await answered(() => post("/settings/try"));
    this.tried = found.refused ? { works: false, words: found.refused.message, hint: found.refused.hint } : found;
    await this.load(); // what the trial cost
    this.changed();
  }

  value(key) {
    return this.state.settings.find((item) => item.key === key).value;
  }

  // A field that is checked as it is typed; with `keep` that is called for what is good as soon as the field is left, or
  // on Enter. `wrong()` tells whether something is wrong with it now.
  typed(key, value, { id, keep = null, allowed = "", placeholder = "" }) {
    const field = h("input", { class: "gw-field", id, type: "text", autocomplete: "off", spellcheck: "false", placeholder, title: allowed, "data-focus": `set ${key}`, "aria-describedby": `${id}-said` });
    field.value = value;
    const said = h("span", { class: "said", id: `${id}-said`, role: "alert" });
    let timer = 0;
    const check = async () => {
      clearTimeout(timer);
      const typed = field.value;
      let wrong;
      try {
        const found = await post("/settings/check", { key, value: typed });
        wrong = found.refused?.message ?? found.wrong;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        wrong = `${error.message} ${error.hint}`;
      }
      if (field.value !== typed) return true; // typed on meanwhile
      said.textContent = wrong;
      field.setAttribute("aria-invalid", String(Boolean(wrong)));
      return Boolean(wrong);
    };
    const done = async () => {
      if (field.value !== value && !(await check())) keep(field.value);
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(check, WAIT);
    });
    if (keep) {
      field.addEventListener("change", done);
      field.addEventListener("keydown", (event) => event.key === "Escape" && ((field.value = value), check()));
    }
    return { field, wrong: check, element: h("span", { class: "fld" }, field, said) };
  }

  draw() {
    const focused = this.root.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    const error = this.error && errorBox(this.error);
    if (!this.state) {
      this.column.replaceChildren(error);
      return;
    }
    this.column.replaceChildren(...[error, this.account?.element, this.members?.element, answers(this), this.retrieval(), reading(this), this.structures.element, looks(this), data(this)].filter(Boolean));
    this.all.show(this.state.settings);
    this.drawBar();
    if (focused) this.root.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (error) error.scrollIntoView({ block: "nearest" });
  }

  retrieval() {
    const { on, all } = this.state.presets;
    const offline = this.state.who.choice === "offline";
    const cards = all.map(({ name, title, said, cost, steps, words, model }) =>
      option(
        "preset",
        {
          name,
          title,
          said: model && offline ? `${said} Choose a model under Answers first.` : said,
          off: model && offline,
          on: on === name,
          side: h("span", { class: "cost num" }, icon("schedule", "s14"), cost),
          foot: h("span", { class: "pst", title: words.join("\n") }, steps.map((step) => h("i", {}, step))),
        },
        this.preset,
      ),
    );
    const own = !on && h("p", { class: "lead" }, "You use custom settings: see Advanced.");
    return h("section", { id: "gw-retrieval" }, h("h2", {}, "Retrieval"), h("p", { class: "lead" }, "Each preset changes settings listed under Advanced."), h("div", { class: "opts four", role: "radiogroup", "aria-label": "Retrieval" }, cards), own);
  }

  drawBar() {
    const { changes, data: at } = this.state;
    if (changes) this.kept = false;
    this.bar.hidden = !changes && !this.kept;
    if (this.bar.hidden) return;
    const close = h("button", { type: "button", class: "gw-btn sm quiet", onclick: () => ((this.kept = false), this.drawBar()) }, "Close");
    const keep = h("button", { type: "button", class: "gw-btn sm primary", "data-focus": "keep", title: `Saves to ${at.config}, for everyone who uses this library`, onclick: this.keep }, "Save");
    const undo = h("button", { type: "button", class: "gw-btn sm", "data-focus": "undo", onclick: this.undo }, "Undo all");
    this.bar.replaceChildren(...(changes ? [h("span", {}, h("b", {}, plural(changes, "setting")), ` ${changes === 1 ? "differs" : "differ"} for this visit only`), undo, keep] : [state("ok", "check_circle", `Saved in ${at.config}`), close]));
  }
}
