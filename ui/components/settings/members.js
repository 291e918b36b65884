// Who may use this library, for its managers.

import { answered, post } from "../shared/api.js";
import { h } from "../shared/dom.js";
import { Part, button, card, line } from "./parts.js";

export const PART = "gw-members";
const ROLES = { viewer: "Viewer", contributor: "Contributor", manager: "Manager" };
const MEANS = "Viewers read, ask and export. Contributors also add documents, fill reports, grids and checks. Managers also remove documents, save settings and say who may do what. Conversations and reports are private unless shared.";

export class Members extends Part {
  constructor() {
    super(PART, "/members");
  }

  send = (path, body = {}) => this.ask(() => post(`/members/${path}`, body));

  draw() {
    const parts = this.found ? [h("p", { class: "lead" }, MEANS), this.trouble, this.members(), this.library()] : [this.trouble];
    this.fill([h("h2", {}, "Members"), ...parts]);
  }

  choice(role, label, changed) {
    const select = h("select", { class: "gw-field", "aria-label": label, "data-focus": label, onchange: ({ target }) => changed?.(target.value) }, Object.entries(ROLES).map(([value, words]) => h("option", { value }, words)));
    select.value = role;
    return select;
  }

  members() {
    const rows = this.found.members.map((one) => {
      const about = one.email || (one.people === 1 ? "1 person" : `${one.people} people`);
      if (one.owner) return line(one.name, about, h("span", { class: "muted" }, "Owner"));
      const role = this.choice(one.role, `Role of ${one.name}`, (chosen) => this.send("grant", { to: one.to, role: chosen }));
      return line(one.name, about, [role, button("Remove", `remove ${one.to}`, () => this.send("revoke", { to: one.to }), "quiet")]);
    });
    const to = h("input", { class: "gw-field", id: "gw-member", type: "text", required: "", placeholder: "name@example.org", autocomplete: "off", list: "gw-teams" });
    const teams = h("datalist", { id: "gw-teams" }, ["Everyone", ...this.found.teams].map((name) => h("option", { value: name })));
    const role = this.choice("viewer", "Role to give");
    const go = async (event) => {
      event.preventDefault();
      await this.send("grant", { to: to.value, role: role.value });
    };
    const form = h("form", { class: "given", onsubmit: go }, h("span", { class: "fld" }, to, teams), role, h("button", { type: "submit", class: "gw-btn" }, "Add"));
    return card(...rows, line("Add somebody", "The email of an account, a team, or Everyone.", form, { for: "gw-member", class: "wide" }));
  }

  library() {
    const name = h("input", { class: "gw-field", id: "gw-library-name", type: "text", required: "", maxlength: "80", value: this.found.name });
    const renamed = async (event) => {
      event.preventDefault();
      if (await this.send("rename", { name: name.value })) location.reload();
    };
    const form = h("form", { class: "given", onsubmit: renamed }, h("span", { class: "fld" }, name), h("button", { type: "submit", class: "gw-btn" }, "Rename"));
    const shut = button(this.sure ? "Close it to everybody" : "Close library", "close", () => this.shut(), this.sure ? "danger" : "quiet");
    return card(line("Name", "As the list of libraries has it.", form, { for: "gw-library-name", class: "wide" }), line("Close", "Nobody can open it any more. Its files stay; who runs the server can open it again.", shut));
  }

  async shut() {
    if (this.sure) {
      const { refused } = await answered(() => post("/members/remove"));
      if (!refused) return location.assign(location.pathname);
      this.error = refused;
    }
    this.sure = true;
    this.draw();
  }
}
