// Folders that are watched: what each has, when it was last looked through, what could not be read; one is added by its
// path on the machine that the app runs on. Only who may have paths of it read sees this.

import { get, post } from "../shared/api.js";
import { button, h, icon, plural, prose } from "../shared/dom.js";

const REFRESH_MS = 5000;
const ago = (seconds) => (seconds < 90 ? "a moment ago" : seconds < 5400 ? `${Math.round(seconds / 60)} min ago` : new Date(Date.now() - seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }));

export class WatchedFolders {
  constructor(complain, changed) {
    this.complain = complain;
    this.changed = changed;
    this.list = h("ul", { class: "folders" });
    this.field = h("input", { class: "gw-field", "aria-label": "Path of a folder", placeholder: "Path of a folder on this machine", autocomplete: "off", spellcheck: "false" });
    this.said = h("p", { class: "bad", role: "alert", hidden: true });
    const form = h("form", { class: "row", onsubmit: (event) => this.add(event) }, this.field, h("button", { type: "submit", class: "gw-btn sm" }, icon("add", "s16"), "Watch"));
    this.count = h("span", { class: "muted num" });
    this.element = h(
      "details",
      { class: "gw-storage gw-watched", hidden: true },
      h("summary", {}, icon("chevron_right", "s16"), "Watched folders", this.count),
      h("div", { class: "parts" }, h("p", { class: "muted" }, "New files are read, a changed one becomes a new version, and a removed one keeps its document."), this.list, form, this.said),
    );
    this.load();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }

  async load() {
    clearTimeout(this.timer);
    try {
      const { allowed, folders } = await get("/library/folders");
      if (this.closed) return;
      this.element.hidden = !allowed;
      if (!allowed) return;
      this.draw(folders);
    } catch (error) {
      this.complain(error);
    }
    if (!this.closed) this.timer = setTimeout(() => this.load(), REFRESH_MS);
  }

  draw(folders) {
    const key = JSON.stringify(folders);
    this.count.textContent = folders.length ? String(folders.length) : "";
    if (key === this.key || this.list.querySelector(":active")) return;
    this.key = key;
    const held = this.list.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    this.list.replaceChildren(...folders.map((one) => this.row(one)));
    if (held) this.list.querySelector(`[data-act="${CSS.escape(held)}"]`)?.focus();
  }

  row(one) {
    const now = Date.now() / 1000;
    const parts = [plural(one.files, "file"), one.missing && `${one.missing} no longer there`, one.recursive ? "" : "without the folders in it", one.patterns.join(" "), one.scanned ? `looked through ${ago(now - one.scanned)}` : "not looked through yet"];
    const act = (path) => this.act(path, { path: one.path });
    return h(
      "li",
      {},
      h("div", { class: "hd" }, icon("folder_open", "s16"), h("b", { title: one.path }, one.path), h("span", { class: "muted num" }, parts.filter(Boolean).join(" · ")), h("span", { class: "sp" }), button(`Look through ${one.path} now`, "refresh", () => act("look"), { "data-act": `look ${one.path}` }), button(`Stop watching ${one.path}`, "close", () => act("remove"), { "data-act": `remove ${one.path}` })),
      one.error && h("p", { class: "bad" }, prose(`${one.error.message} ${one.error.hint}`)),
      ...one.failed.map((file) => h("p", { class: "bad" }, h("b", {}, file.path), ": ", prose(`${file.error.message} ${file.error.hint}`))),
    );
  }

  async add(event) {
    event.preventDefault();
    if (this.field.value.trim() && (await this.act("add", { path: this.field.value }))) this.field.value = "";
  }

  async act(path, body) {
    try {
      const { refused } = await post(`/library/folders/${path}`, body);
      this.said.hidden = !refused;
      if (refused) this.said.replaceChildren(...prose(`${refused.message} ${refused.hint}`));
      this.changed();
      await this.load();
      return !refused;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }
}
