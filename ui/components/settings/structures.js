// Trees and graphs over the library: their state, and building and forgetting them. It is one library for everybody.

import { get, post } from "../shared/api.js";
import { h, prose } from "../shared/dom.js";
import { Part, button, card, line, state } from "./parts.js";

export const PART = "gw-structures";

const EVERY = 1000; // ms between looks at what is being built
const STATES = { ready: ["ok", "check_circle", "Ready"], partly: ["warn", "warning", "In part"], "not built": ["", "remove", "Not built"] };

export class Structures extends Part {
  constructor(built) {
    super(PART, "/settings/structures");
    this.built = built; // called when a structure has been built, or could not be
    this.wanted = null; // what is asked for and not yet agreed to: name, words, go
  }

  take(told) {
    const ran = this.found?.job?.running;
    this.found = { ...this.found, ...told };
    if (ran && !this.found.job?.running) this.built();
  }

  watch() {
    clearTimeout(this.timer);
    if (this.found?.job?.running && !this.error) this.timer = setTimeout(() => this.element.isConnected && this.ask(() => get("/settings/structures", { job: 1 })), EVERY);
  }

  send(name, action) {
    this.wanted = null;
    return this.ask(() => post(`/settings/structures/${action}`, { name }));
  }

  async build({ name, paid }) {
    if (!paid) return this.send(name, "build");
    const told = await this.ask(() => post("/settings/structures/estimate"));
    if (told) this.want(name, told.words, "Read relations", () => this.send(name, "build"));
  }

  forget({ name, paid }) {
    if (!paid) return this.send(name, "forget");
    this.want(name, "What Claude read is deleted. To read it again costs money again.", "Forget", () => this.send(name, "forget"));
  }

  want(name, words, go, act) {
    this.wanted = { name, words, go, act };
    this.draw();
    this.element.querySelector(`[data-focus="agree ${name}"]`)?.focus();
  }

  cancel = () => {
    this.wanted = null;
    this.draw();
  };

  draw() {
    const lines = this.found && card(...this.found.structures.map((one) => this.line(one)));
    const lead = h("p", { class: "lead" }, "Ways to search that Explore compares. What is built once is kept up to date when documents are added, except what costs money.");
    // A button that is gone hands over to another of its line.
    this.fill([h("h2", {}, "Trees and graphs"), lead, this.trouble, lines], (focused) => this.element.querySelector(`[data-focus$=" ${focused.split(" ")[1]}"]`));
    this.watch();
  }

  line(one) {
    const { name, title, said, size, missing, fixed } = one;
    const { job } = this.found;
    const own = job?.name === name ? job : null;
    const told = own && !own.running ? [own.error && `${own.error.message} ${own.error.hint}`, ...own.words].filter(Boolean) : [];
    const wanted = this.wanted?.name === name ? this.wanted : null;
    const words = h("span", {}, [said, size, missing && `${missing}.`, ...told, wanted?.words].filter(Boolean).map((each) => h("span", { class: "ln" }, prose(each))));
    let control;
    if (own?.running) {
      const going = own.stopping ? "Stopping" : own.total ? `Building ${own.done.toLocaleString("en")} of ${own.total.toLocaleString("en")}` : "Building";
      control = [h("span", { role: "status", class: "num" }, going), !own.stopping && button("Stop", `act ${name}`, () => this.send(name, "stop"))];
    } else if (wanted) control = [button("Cancel", `cancel ${name}`, this.cancel), button(wanted.go, `agree ${name}`, wanted.act, "primary")];
    else {
      const build = one.state !== "ready" && !fixed && !job?.running && button("Build", `act ${name}`, () => this.build(one));
      const forget = one.state !== "not built" && !fixed && !job?.running && button("Forget", `forget ${name}`, () => this.forget(one), "quiet");
      control = [state(...STATES[one.state]), forget, build];
    }
    return line(title, words, control.filter(Boolean), { class: "wide" });
  }
}
