// The library's documents. It asks the server by itself, often while something is being read, so that progress needs no
// rerun; what is done to a document goes straight to its route.

import { answered, configure, forgetDocument, get, post } from "../shared/api.js";
import { listening } from "../shared/bus.js";
import { h, icon, plural, showTrouble, troubleBox } from "../shared/dom.js";
import { NEWEST, compare, head, pressed } from "./columns.js";
import { Drawer } from "./drawer.js";
import { pageKey, rowKey } from "./keys.js";
import { Outdated } from "./outdated.js";
import { Outline } from "./outline.js";
import { drawRow, updateRow } from "./row.js";
import { StorageFoot } from "./storage.js";
import { Toast } from "./toast.js";
import { Toolbar } from "./toolbar.js";
import { WatchedFolders } from "./watched.js";
import { within } from "./words.js";

const BUSY_MS = 600;
const IDLE_MS = 4000;
const KEPT = "gw-library"; // search, filters and order of this tab, for a reload

export function mount({ parentElement, data, tell }) {
  configure(data);
  const table = (parentElement.gwLibrary ??= new Library(parentElement.querySelector(".gw-library")));
  table.askOf = (ids) => tell("ask", ids);
  table.askSection = (section) => tell("section", section);
  table.toRead = (id, page) => tell("read", { doc: id, page });
  table.toSettings = (part) => {
    sessionStorage.setItem("gw-settings-part", `gw-${part}`); // where that page begins
    tell("settings", part);
  };
  if (table.revision !== data.revision) {
    table.revision = data.revision;
    table.poll();
  }
  return () => table.close();
}

class Library {
  constructor(root) {
    this.root = root;
    this.rows = new Map(); // id → { data, element }
    this.order = []; // ids as they stand, whatever is filtered out
    this.fresh = new Set();
    this.chosen = new Set();
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    this.show = { search: "", tags: [], folder: "", outline: false, ...kept.show };
    this.sort = kept.sort ?? NEWEST;
    this.body = h("tbody");
    this.table = h("table", { hidden: true, "aria-label": "Documents" }, this.head(), this.body);
    this.table.addEventListener("keydown", (event) => rowKey(this, event));
    this.empty = h("div", { class: "gw-empty", hidden: true }, icon("folder_open", "s24"), h("b", {}, "No documents yet"), h("p", {}, "Drop files above. Reading starts at once."));
    this.none = h("p", { class: "none", role: "status", hidden: true });
    this.trouble = troubleBox();
    this.outdated = new Outdated((ids) => this.change("read", { docs: ids }));
    this.outline = new Outline({ ask: (ids) => this.askOf(ids), open: (id) => this.select(id) });
    this.toolbar = new Toolbar(this);
    this.toast = new Toast({ restore: (ids) => this.restore(ids), finish: (ids) => this.change("finish", { docs: ids }) });
    this.storage = new StorageFoot((error) => this.complain(error));
    this.watched = new WatchedFolders((error) => this.complain(error), () => this.poll());
    this.drawer = new Drawer({ ask: (id) => this.askOf([id]), section: (section) => this.askSection(section), read: (id, page = 1) => this.toRead(id, page), closed: () => this.select(null), rename: (id, title) => this.rename(id, title), change: (ids, path, body) => this.change(path, { docs: ids, ...body }), all: () => this.documents(), remove: (id) => this.remove([id]), complain: (error) => this.complain(error) });
    root.append(this.trouble, this.outdated.element, this.toolbar.element, this.table, this.outline.element, this.none, this.empty, this.watched.element, this.storage.element, this.toast.element, this.drawer.element);
    this.unlisten = listening([["focus", () => this.poll()], ["keydown", (event) => pageKey(this, event)]]);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.unlisten();
    this.drawer.close();
    this.watched.close();
  }

  rename(id, title) {
    forgetDocument(id);
    return this.act(`/documents/${id}/title`, { title });
  }

  documents() {
    return this.order.map((id) => this.rows.get(id).data);
  }

  async poll() {
    clearTimeout(this.timer);
    const asked = (this.asked = (this.asked ?? 0) + 1);
    let soon = false;
    try {
      const { documents, trash } = await get("/library");
      if (this.closed || asked !== this.asked) return; // a later answer says more
      this.trouble.hidden ||= this.trouble.dataset.from === "poll"; // it answers again
      const pressing = this.root.querySelector(":active") !== null; // what is drawn anew under a press gets no click
      if (!pressing) {
        this.draw(documents);
        this.toast.draw(trash);
      }
      soon = pressing || trash.length > 0 || documents.some((item) => item.job);
    } catch (error) {
      this.complain(error, "poll");
    }
    if (!this.closed) this.timer = setTimeout(() => this.poll(), soon ? BUSY_MS : IDLE_MS);
  }

  complain(error, from = "act") {
    const shut = h("button", { type: "button", class: "gw-btn quiet icon sm", "aria-label": "Dismiss", onclick: () => (this.trouble.hidden = true) }, icon("close", "s16"));
    showTrouble(this.trouble, error, h("span", { class: "sp" }), shut);
    this.trouble.dataset.from = from;
  }

  // What the server knows now: rows that are there stay where they are, new ones go to their place.
  draw(documents) {
    this.toolbar.element.hidden = this.storage.element.hidden = !documents.length;
    this.empty.hidden = documents.length > 0;
    this.count(documents);
    const ids = new Set(documents.map((item) => item.id));
    for (const [id, { element }] of this.rows) {
      if (ids.has(id)) continue;
      element.remove();
      this.rows.delete(id);
      this.chosen.delete(id);
      forgetDocument(id);
      if (this.drawer.id === id) this.drawer.close();
    }
    this.order = this.order.filter((id) => ids.has(id));
    const come = [];
    for (const item of documents) {
      const shown = this.rows.get(item.id);
      if (shown?.data.job && !item.job && item.status === "ready" && item.indexed && !item.error) this.fresh.add(item.id);
      if (!shown) {
        this.rows.set(item.id, { data: item, element: this.row(item) });
        come.push(item.id);
      } else {
        if (!updateRow(shown.element, shown.data, item)) this.redraw(shown, item);
        shown.data = item;
        if (this.drawer.id === item.id) this.drawer.refresh(item);
      }
    }
    this.insert(come);
    this.queue();
    this.outdated.draw(documents);
    this.arrange();
  }

  row(item) {
    const element = drawRow(item, this.actions(item.id), { fresh: this.fresh.has(item.id), checked: this.chosen.has(item.id) });
    if (this.drawer.id === item.id) element.setAttribute("aria-selected", "true");
    return element;
  }

  redraw(shown, item) {
    const held = shown.element.contains(document.activeElement) ? document.activeElement.dataset.f ?? "title" : null;
    const element = this.row(item);
    element.hidden = shown.element.hidden;
    shown.element.replaceWith(element);
    shown.element = element;
    if (held) (element.querySelector(`[data-f="${held}"]`) ?? element.querySelector('[data-f="title"]')).focus();
  }

  head() {
    return head(this.sort, { sortBy: (column) => this.sortBy(column), chooseAll: (on) => this.chooseAll(on) });
  }

  before(a, b) {
    return compare(this.sort, this.rows.get(a).data, this.rows.get(b).data);
  }

  insert(ids) {
    for (const id of ids.sort((a, b) => this.before(a, b))) {
      const at = this.order.findIndex((other) => this.before(id, other) < 0);
      this.order.splice(at < 0 ? this.order.length : at, 0, id);
    }
  }

  // Documents that wait stand in the order in which they are read, in the places that they have.
  queue() {
    if (this.sort.column !== NEWEST.column) return;
    const job = (id) => this.rows.get(id).data.job;
    const waiting = this.order.filter(job).sort((a, b) => this.rows.get(a).data.before - this.rows.get(b).data.before);
    this.order = this.order.map((id) => (job(id) ? waiting.shift() : id));
  }

  sortBy(column) {
    this.sort = pressed(this.sort, column);
    this.order.sort((a, b) => this.before(a, b));
    this.table.tHead.replaceWith(this.head());
    this.table.querySelector(`[data-column="${column}"]`).focus();
    this.changed();
  }

  // Search, filters, order: applied and kept.
  changed() {
    sessionStorage.setItem(KEPT, JSON.stringify({ show: this.show, sort: this.sort }));
    this.arrange();
  }

  shownIds() {
    const words = this.show.search.toLowerCase().split(/\s+/).filter(Boolean);
    return this.order.filter((id) => {
      const { data } = this.rows.get(id);
      const text = [data.title, data.name, data.folder, ...data.tags].join(" ").toLowerCase();
      const tags = data.tags.map((tag) => tag.toLowerCase());
      const folder = this.show.folder;
      return words.every((word) => text.includes(word)) && this.show.tags.every((tag) => tags.includes(tag.toLowerCase())) && (!folder || (folder === "/" ? !data.folder : within(data, folder)));
    });
  }

  arrange() {
    const shown = new Set(this.shownIds());
    const { outline } = this.show;
    this.table.hidden = outline || !this.order.length;
    this.outline.element.hidden = !outline || !this.order.length;
    if (outline) this.outline.draw(this.documents(), shown);
    for (const [place, id] of this.order.entries()) {
      const { element } = this.rows.get(id);
      element.hidden = !shown.has(id);
      if (this.body.children[place] !== element) this.body.insertBefore(element, this.body.children[place] ?? null);
    }
    for (const id of [...this.chosen]) if (!shown.has(id)) this.choose(id, false);
    this.none.hidden = shown.size > 0 || !this.order.length;
    this.none.replaceChildren("No document matches. ", h("button", { type: "button", class: "gw-linkish", onclick: () => this.toolbar.reset() }, "Show all"));
    this.toolbar.draw(this.documents(), [...shown], this.chosen);
    const all = this.table.querySelector("thead input");
    all.checked = shown.size > 0 && this.chosen.size === shown.size;
    all.indeterminate = this.chosen.size > 0 && !all.checked;
  }

  // The line beside the page's title is the script's; between reruns it is kept true here.
  count(documents) {
    const line = document.querySelector(".gw-head .muted");
    const pages = documents.reduce((sum, item) => sum + item.pages, 0);
    const busy = documents.filter((item) => item.job).length;
    const words = documents.length ? `${plural(documents.length, "document")}, ${plural(pages, "page")}${busy ? `, ${busy} being read` : ""}` : "";
    if (line && line.textContent !== words) line.textContent = words;
  }

  async act(path, body) {
    const { refused } = await answered(() => post(path, body));
    if (refused) this.complain(refused);
    else this.trouble.hidden = true;
    await this.poll();
    return !refused;
  }

  change(path, body) {
    return this.act(`/library/${path}`, body);
  }

  async remove(ids) {
    const shown = this.shownIds();
    const next = shown.slice(shown.indexOf(ids.at(-1)) + 1).find((id) => !ids.includes(id)) ?? shown.find((id) => !ids.includes(id));
    if (!(await this.change("remove", { docs: ids }))) return;
    this.toast.take(() => this.focusOn(next));
  }

  async restore(ids) {
    if (await this.change("restore", { docs: ids })) this.focusOn(ids[0]);
  }

  focusOn(id) {
    const row = this.show.outline ? this.outline.row(id) : this.rows.get(id)?.element.querySelector('[data-f="title"]');
    (row ?? this.toolbar.search).focus();
  }

  actions(id) {
    return {
      read: () => this.act(`/documents/${id}/read`),
      cancel: () => this.act(`/documents/${id}/cancel`),
      remove: () => this.remove([id]),
      unlock: (password) => this.act(`/documents/${id}/read`, { password }),
      open: () => this.select(id),
      settings: (part) => this.toSettings(part),
      only: (tag) => this.toolbar.only(tag),
      check: (event) => this.check(id, event.target.checked, event.shiftKey),
    };
  }

  // With Shift, all from the one before to this one.
  check(id, on, range) {
    const shown = this.shownIds();
    const [from, to] = [shown.indexOf(this.last), shown.indexOf(id)].sort((a, b) => a - b);
    for (const one of range && from >= 0 ? shown.slice(from, to + 1) : [id]) this.choose(one, on);
    this.last = id;
    this.arrange();
  }

  choose(id, on) {
    if (on) this.chosen.add(id);
    else this.chosen.delete(id);
    const { element } = this.rows.get(id);
    element.querySelector('[data-f="check"]').checked = on;
    element.classList.toggle("chosen", on);
  }

  chooseAll(on) {
    for (const id of this.shownIds()) this.choose(id, on);
    this.arrange();
  }

  select(id) {
    for (const [other, { element }] of this.rows) element.ariaSelected = other === id ? "true" : null;
    if (id) this.drawer.open(this.rows.get(id).data);
    else if (this.left && this.rows.has(this.left)) this.focusOn(this.left);
    this.left = id;
  }
}
