// One's sessions and password, and for administrators the people who may sign in.

import { post } from "../shared/api.js";
import { copy } from "../shared/clipboard.js";
import { h, icon } from "../shared/dom.js";
import { when } from "../shared/when.js";
import { Part, button, card, line } from "./parts.js";

export const PART = "gw-account";

const secret = (id, words, complete) => [h("label", { for: id }, words), h("input", { class: "gw-field", id, type: "password", autocomplete: complete, required: "", maxlength: "1000" })];

export class Account extends Part {
  constructor() {
    super(PART, "/account");
  }

  send = (path, body, said) => this.ask(() => post(`/account/${path}`, body), said);

  draw() {
    const said = h("p", { class: "lead", role: "status" }, this.said);
    const { me, people } = this.found ?? {};
    const parts = me ? [h("p", { class: "lead" }, `Signed in as ${me.name} (${me.email}).`), this.trouble, said, this.own(), people && h("h2", { class: "ppl" }, "People"), people && h("p", { class: "lead" }, "Who may sign in. What they may use is said by the managers of each library, under Members."), people && this.link(), people && this.people()] : [this.trouble];
    this.fill([h("h2", {}, "Account"), ...parts]);
  }

  own() {
    const sessions = this.found.sessions.map((one) => line(one.device, `${one.address}, last used ${when(one.used).toLowerCase()}`, one.this ? h("span", { class: "muted" }, "This browser") : button("Sign out", `end ${one.id}`, () => this.send("end", { session: one.id }, "Signed out there."))));
    const change = async (event) => {
      event.preventDefault();
      const [old, fresh] = event.target.querySelectorAll("input");
      await this.send("password", { old: old.value, new: fresh.value }, "Password changed. You are signed out everywhere else.");
    };
    const form = h("form", { class: "server", onsubmit: change }, secret("gw-old", "Current", "current-password"), secret("gw-new", "New", "new-password"), h("button", { type: "submit", class: "gw-btn" }, "Change password"));
    return card(...sessions, this.found.me.password && line("Password", "12 characters or more. A change signs you out everywhere else.", form, { class: "wide" }));
  }

  link() {
    const { link, about } = this.found;
    if (!link) return null;
    const field = h("input", { class: "gw-field", id: "gw-link", type: "text", readonly: "", "aria-label": "Link to pass on" });
    field.value = link;
    const copied = async (event) => (event.target.textContent = (await copy(link)) ? "Copied" : "Copy it by hand");
    return h("div", { class: "gw-msg info made" }, icon("link"), h("div", {}, h("b", {}, `Pass this link on to ${about}. It works once, for 7 days.`), h("div", { class: "row" }, field, button("Copy", "copy", copied))));
  }

  people() {
    const { me, people, invited } = this.found;
    const rows = people.map((one) => {
      const seen = one.blocked ? "blocked" : one.seen ? `last here ${when(one.seen).toLowerCase()}` : "not signed in";
      const reset = !one.blocked && button("Reset link", `reset ${one.email}`, () => this.send("reset", { email: one.email }, "Made a link to choose a new password."), "quiet");
      const block = one.email !== me.email && button(one.blocked ? "Admit again" : "Block", `block ${one.email}`, () => this.send("block", { email: one.email, blocked: !one.blocked }, one.blocked ? "Admitted again." : "Blocked, and signed out everywhere."), "quiet");
      return line(one.name, `${one.email}, ${one.admin ? "administrator, " : ""}${seen}`, [reset, block].filter(Boolean));
    });
    const waiting = invited.map((one) => {
      const until = new Date(one.expires * 1000).toLocaleDateString("en", { day: "numeric", month: "short" });
      const again = button("New link", `invite ${one.email}`, () => this.send("invite", { email: one.email, admin: one.admin }, "The link before no longer works."), "quiet");
      const withdraw = button("Withdraw", `withdraw ${one.email}`, () => this.send("block", { email: one.email }, "The invitation no longer works."), "quiet");
      return line(one.email, `invited, until ${until}`, [again, withdraw]);
    });
    const email = h("input", { class: "gw-field", id: "gw-invite", type: "email", required: "", placeholder: "name@example.org", autocomplete: "off" });
    const admin = h("input", { type: "checkbox" });
    const go = async (event) => {
      event.preventDefault();
      await this.send("invite", { email: email.value, admin: admin.checked }, "Invited.");
    };
    const form = h("form", { class: "given", onsubmit: go }, h("span", { class: "fld" }, email), h("label", { class: "chk" }, admin, "Administrator"), h("button", { type: "submit", class: "gw-btn" }, "Invite"));
    return card(...rows, ...waiting, line("Invite somebody", "Groundwork sends no email: you get a link to pass on.", form, { for: "gw-invite", class: "wide" }));
  }
}
