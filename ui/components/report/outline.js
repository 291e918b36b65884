// The outline: every section with its state, by shape and word.

import { h, icon } from "../shared/dom.js";

const WORDS = { accepted: "Accepted", draft: "Draft", gap: "Gap", empty: "Empty", waiting: "Waits", working: "Filling", failed: "Failed", stopped: "Stopped", heading: "" };

export class Outline {
  constructor(root, report) {
    this.root = root;
    this.report = report;
    this.progress = h("div", { class: "pr" });
    this.list = h("ul");
    this.below = h("button", { type: "button", class: "gw-btn quiet sm addsec", onclick: () => this.ask(true) }, icon("add", "s16"), "Add below it");
    this.field = h("input", { class: "gw-field", type: "text", "aria-label": "Heading of the new section", placeholder: "Heading", maxlength: "300", hidden: true });
    this.adding = h("button", { type: "button", class: "gw-btn quiet sm addsec", onclick: () => this.ask() }, icon("add", "s16"), "Add section");
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.end();
      if (event.key === "Enter") this.add();
    });
    this.field.addEventListener("blur", () => this.field.value.trim() || this.end());
    root.append(this.progress, this.list, this.adding, this.below, this.field);
  }

  draw() {
    const { data, current } = this.report;
    const filled = data.sections.filter((one) => one.filled);
    const count = (...states) => filled.filter((one) => states.includes(one.state)).length;
    const bar = (kind, n) => n > 0 && h("i", { class: kind, style: `flex:${n}` });
    this.progress.replaceChildren(
      h("b", { class: "num" }, `${count("accepted")} of ${filled.length} accepted`),
      h("div", { class: "bars", "aria-hidden": "true" }, bar("ok", count("accepted")), bar("draft", count("draft")), bar("gap", count("gap", "failed", "stopped")), bar("", count("empty", "waiting", "working"))),
    );
    const held = this.list.contains(document.activeElement) ? document.activeElement.dataset.section : null;
    this.list.replaceChildren(...data.sections.map((one) => this.row(one, one.id === current && !this.report.setup)));
    if (held) this.list.querySelector(`[data-section="${held}"]`)?.focus();
    if (this.seen !== current) this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" });
    this.seen = current;
  }

  row(one, here) {
    const state = one.state;
    const sign = { accepted: icon("check", "s14"), working: h("span", { class: "gw-spin" }) }[state];
    const open = (event) => {
      event.preventDefault();
      this.report.open(one.id);
    };
    return h(
      "li",
      {},
      h(
        "a",
        { href: `#section-${one.number}`, class: state, "data-section": one.id, "data-state": state, "aria-current": here ? "true" : null, style: `padding-left:${8 + 14 * (one.level - 1)}px`, onclick: open },
        state === "heading" ? null : h("span", { class: `dt ${state}` }, sign),
        h("span", { class: "t", title: one.heading }, `${one.number}. ${one.heading}`),
        h("span", { class: "s" }, WORDS[state]),
      ),
    );
  }

  ask(below = false) {
    this.under = below;
    this.field.hidden = false;
    this.adding.hidden = this.below.hidden = true;
    this.field.focus();
  }

  end() {
    this.field.hidden = true;
    this.field.value = "";
    this.adding.hidden = this.below.hidden = false;
    (this.under ? this.below : this.adding).focus();
  }

  async add() {
    const heading = this.field.value.trim();
    if (!heading) return;
    const made = await this.report.act("/sections", { heading, after: this.report.current, below: this.under });
    if (!made) return;
    this.field.value = "";
    this.end();
    this.report.open(made.id);
  }
}
