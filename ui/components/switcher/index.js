// The name of the library beside the logo, which opens a list of others. It also writes the library into the page's
// address, since Streamlit's own links do not name it, always without a step of its own in the browser's history.

import { answered, configure, get, post } from "../shared/api.js";
import { h, icon, prose } from "../shared/dom.js";
import { Popup } from "../shared/popup.js";

const ROLES = { viewer: "Viewer", contributor: "Contributor", manager: "Manager" };

export function mount({ parentElement, data }) {
  configure(data);
  const switcher = (parentElement.gwSwitcher ??= new Switcher(parentElement.querySelector(".gw-switcher")));
  switcher.show(data);
  return () => switcher.close();
}

class Switcher {
  constructor(root) {
    this.root = root;
    this.popup = new Popup("Libraries", "unfold_more", (panel) => this.fill(panel));
    this.name = h("span", {});
    this.popup.button.className = "gw-btn lib";
    this.popup.button.replaceChildren(this.name, icon("unfold_more", "s16"));
    root.append(this.popup.element);
    // Who signs out leaves nothing behind in the tab, nor do pages that keep their place when they are left.
    const clear = () => sessionStorage.clear();
    const leaves = ({ target }) => target.getAttribute("action")?.endsWith("/gw/auth/sign-out");
    document.addEventListener("submit", (event) => leaves(event) && addEventListener("pagehide", clear, { once: true }));
  }

  close() {
    this.popup.close();
  }

  // Called for each page that is opened.
  show({ library, title }) {
    this.library = library;
    this.name.textContent = title || "No library";
    this.popup.button.setAttribute("aria-label", `${this.name.textContent}: switch library`);
    this.popup.button.title = this.name.textContent;
    const address = new URL(location.href);
    if (!library || address.searchParams.get("l") === library) return;
    address.searchParams.set("l", library);
    history.replaceState(history.state, "", address);
  }

  async fill(panel) {
    panel.setAttribute("aria-label", "Switch library");
    panel.replaceChildren(h("p", { class: "said", role: "status" }, "Loading"));
    const found = await answered(() => get("/libraries"));
    if (found.refused) return this.say(panel, found.refused);
    const { libraries, closed = [] } = found;
    const shared = libraries.filter((one) => !one.own || one.people > 1);
    const alone = libraries.filter((one) => one.own && one.people === 1);
    const part = (words, rows) => (rows.length ? [h("h3", {}, words), h("ul", {}, rows)] : []);
    this.said = h("p", { class: "said bad", role: "alert" });
    panel.replaceChildren(
      ...part("Shared with you", shared.map((one) => this.row(one))),
      ...part("Yours alone", alone.map((one) => this.row(one))),
      ...part("Not open to you", closed.map((one) => this.shut(one))),
      this.said,
      this.making(),
    );
    panel.querySelector("a[aria-current], a, button")?.focus();
  }

  row({ id, name, owner, own, role, people }) {
    const whose = own ? "yours" : owner;
    const here = id === this.library;
    return h("li", {}, h("a", { class: "item", href: `?l=${id}`, "aria-current": here ? "true" : null, onclick: (event) => this.opened(event, id) }, icon("folder_open", "s16"), h("span", { class: "t" }, h("b", { title: name }, name), h("small", {}, [whose, people > 1 ? `open to ${people} people` : "only you"].filter(Boolean).join(" · "))), h("span", { class: "role" }, ROLES[role])));
  }

  // For administrators: entering makes them a manager, which is in the log.
  shut({ id, name, owner }) {
    return h("li", {}, h("button", { type: "button", class: "item", title: "Become a manager of it. The log says so.", onclick: () => this.tried(() => post("/libraries/enter", { library: id })) }, icon("lock", "s16"), h("span", { class: "t" }, h("b", {}, name), h("small", {}, owner)), h("span", { class: "role" }, "Enter")));
  }

  making() {
    const field = h("input", { class: "gw-field", type: "text", maxlength: "80", required: "", placeholder: "Name of a new library", "aria-label": "Name of a new library" });
    const made = (event) => {
      event.preventDefault();
      this.tried(() => post("/libraries/new", { name: field.value }));
    };
    return h("form", { class: "row", onsubmit: made }, field, h("button", { type: "submit", class: "gw-btn sm" }, icon("add", "s16"), "New library"));
  }

  async tried(call) {
    const told = await answered(call);
    if (told.refused) this.said.replaceChildren(...prose(`${told.refused.message} ${told.refused.hint}`));
    else this.go(told.id);
  }

  say(panel, { message, hint }) {
    panel.replaceChildren(h("p", { class: "said bad", role: "alert" }, prose(`${message} ${hint}`)));
  }

  opened(event, id) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a tab of its own
    event.preventDefault();
    this.go(id);
  }

  // A page of its own: nothing of the library before stays in it.
  go(id) {
    location.assign(`${location.pathname}?l=${id}`);
  }
}
