// The library's documents. It asks the server by itself, often while something is being read, so that progress needs no
// rerun; what is done to a document goes straight to its route.

import { configure, forgetDocument, get, post } from "../shared/api.js";
import { h, icon, plural, prose, typing } from "../shared/dom.js";
import { listKeys } from "../shared/key_list.js";
import { free } from "../shared/keys.js";
import { Drawer } from "./drawer.js";
import { KEYS } from "./keys.js";
import { drawRow, updateRow } from "./row.js";
import { StorageFoot } from "./storage.js";
import { Toast } from "./toast.js";
import { Toolbar } from "./toolbar.js";
import { within } from "./words.js";

const BUSY_MS = 600;
const IDLE_MS = 4000;
const KEPT = "gw-library"; // search, filters and order of this tab, for a reload
const COLUMNS = [
  ["Title", "ti", (item) => item.title.toLowerCase()],
  ["Pages", "r pg", (item) => item.pages],
  ["Tables", "r tb", (item) => item.tables],
  ["Status", "sta", (item) => (item.job ? 0 : item.error ? 1 : item.status !== "ready" ? 2 : 3)],
  ["Size", "r by", (item) => item.bytes],
  ["Tags", "tg", null],
  ["Added", "ad", (item) => item.created],
];
const NEWEST = { column: "Added", down: true };

export function mount({ parentElement, data, setTriggerValue }) {
  configure(data);
  const table = (parentElement.gwLibrary ??= new Library(parentElement.querySelector(".gw-library")));
  table.askOf = (ids) => setTriggerValue("ask", ids);
  if (table.revision !== data.revision) {
    table.revision = data.revision;
    table.poll();
  }
  return () => table.close();
}

class Library {
  constructor(root) {
    this.rows = new Map(); // id → { data, element }
    this.order = []; // ids as they stand, whatever is filtered out
    this.fresh = new Set();
    this.chosen = new Set();
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    this.show = { search: "", tags: [], folder: "", ...kept.show };
    this.sort = kept.sort ?? NEWEST;
    this.body = h("tbody");
    this.table = h("table", { hidden: true, "aria-label": "Documents" }, this.head(), this.body);
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.empty = h("div", { class: "gw-empty", hidden: true }, icon("folder_open", "s24"), h("b", {}, "No documents yet"), h("p", {}, "Drop PDFs above. Reading starts at once and shows page by page."));
    this.none = h("p", { class: "none", role: "status", hidden: true });
    this.trouble = h("div", { class: "gw-msg bad", role: "alert", hidden: true });
    this.stale = h("div", { class: "gw-msg weak", role: "status", hidden: true });
    this.toolbar = new Toolbar(this);
    this.toast = new Toast((ids) => this.restore(ids));
    this.storage = new StorageFoot((error) => this.complain(error));
    this.drawer = new Drawer({ ask: (id) => this.askOf([id]), closed: () => this.select(null), change: (ids, path, body) => this.change(path, { docs: ids, ...body }), all: () => this.documents(), remove: (id) => this.remove([id]) });
    root.append(this.trouble, this.stale, this.toolbar.element, this.table, this.none, this.empty, this.storage.element, this.toast.element, this.drawer.element);
    this.focus = () => this.poll();
    this.keys = (event) => this.pageKey(event);
    addEventListener("focus", this.focus);
    addEventListener("keydown", this.keys);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    removeEventListener("focus", this.focus);
    removeEventListener("keydown", this.keys);
    this.drawer.close();
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
      this.trouble.hidden ||= this.trouble.dataset.from !== "poll";
      this.draw(documents);
      this.toast.draw(trash);
      soon = trash.length > 0 || documents.some((item) => item.job);
    } catch (error) {
      this.complain(error, "poll");
    }
    if (!this.closed) this.timer = setTimeout(() => this.poll(), soon ? BUSY_MS : IDLE_MS);
  }

  complain(error, from = "act") {
    const shut = h("button", { type: "button", class: "gw-btn quiet icon sm", "aria-label": "Dismiss", onclick: () => (this.trouble.hidden = true) }, icon("close", "s16"));
    this.trouble.replaceChildren(icon("error"), h("div", {}, h("b", {}, prose(error.message)), h("p", {}, prose(error.hint ?? ""))), h("span", { class: "sp" }), shut);
    this.trouble.dataset.from = from;
    this.trouble.hidden = false;
  }

  // What the server knows now: rows that are there stay where they are, new ones go to their place.
  draw(documents) {
    this.table.hidden = this.toolbar.element.hidden = this.storage.element.hidden = !documents.length;
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
    this.drawStale(documents);
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

  compare(a, b) {
    const { column, down } = this.sort;
    const value = COLUMNS.find(([name]) => name === column)[2];
    const [x, y] = [value(this.rows.get(a).data), value(this.rows.get(b).data)];
    const by = x < y ? -1 : x > y ? 1 : 0;
    return (down ? -by : by) || this.rows.get(b).data.created - this.rows.get(a).data.created;
  }

  insert(ids) {
    for (const id of ids.sort((a, b) => this.compare(a, b))) {
      const at = this.order.findIndex((other) => this.compare(id, other) < 0);
      this.order.splice(at < 0 ? this.order.length : at, 0, id);
    }
  }

  sortBy(column) {
    const first = column === "Title" || column === "Status";
    this.sort = this.sort.column === column ? { column, down: !this.sort.down } : { column, down: !first };
    this.order.sort((a, b) => this.compare(a, b));
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
    for (const [place, id] of this.order.entries()) {
      const { element } = this.rows.get(id);
      element.hidden = !shown.has(id);
      if (this.body.children[place] !== element) this.body.insertBefore(element, this.body.children[place] ?? null);
    }
    for (const id of [...this.chosen]) if (!shown.has(id)) this.choose(id, false);
    this.none.hidden = shown.size > 0 || !this.order.length;
    this.none.replaceChildren("No document fits what is searched for and filtered. ", h("button", { type: "button", class: "gw-linkish", onclick: () => this.toolbar.reset() }, "Show all"));
    this.toolbar.draw(this.documents(), [...shown], this.chosen);
    const all = this.table.querySelector("thead input");
    all.checked = shown.size > 0 && this.chosen.size === shown.size;
    all.indeterminate = this.chosen.size > 0 && !all.checked;
  }

  drawStale(documents) {
    const old = documents.filter((item) => item.stale && !item.job);
    this.stale.hidden = !old.length;
    const key = old.map((item) => item.id).join();
    if (!old.length || this.stale.dataset.key === key) return;
    this.stale.dataset.key = key;
    const names = old.slice(0, 3).map((item) => `“${item.title}”`).join(", ") + (old.length > 3 ? ` and ${plural(old.length - 3, "other")}` : "");
    const was = old.length === 1 ? "was" : "were";
    this.stale.replaceChildren(
      icon("warning"),
      h("div", {}, h("b", {}, `${plural(old.length, "document")} ${was} built by other settings than those in force.`), h("p", {}, `${names}. Questions can be asked again once ${old.length === 1 ? "it is" : "they are"} up to date; pages that were read are not read again.`), h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", onclick: () => this.change("read", { docs: old.map((item) => item.id) }) }, icon("replay", "s16"), "Bring up to date"))),
    );
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
    try {
      await post(path, body);
      this.trouble.hidden = true;
      return true;
    } catch (error) {
      this.complain(error);
      return false;
    } finally {
      await this.poll();
    }
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
    (this.rows.get(id)?.element.querySelector('[data-f="title"]') ?? this.toolbar.search).focus();
  }

  actions(id) {
    return {
      read: () => this.act(`/documents/${id}/read`),
      cancel: () => this.act(`/documents/${id}/cancel`),
      remove: () => this.remove([id]),
      unlock: (password) => this.act(`/documents/${id}/read`, { password }),
      open: () => this.select(id),
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
    for (const [other, { element }] of this.rows) {
      if (other === id) element.setAttribute("aria-selected", "true");
      else element.removeAttribute("aria-selected");
    }
    if (id) this.drawer.open(this.rows.get(id).data);
    else if (this.left && this.rows.has(this.left)) this.focusOn(this.left);
    this.left = id;
  }

  // Arrow keys go from row to row, Space selects, Delete removes.
  key(event) {
    const row = event.target.closest("tbody tr");
    if (!row || event.target.matches(".gw-field")) return;
    const shown = this.shownIds();
    const at = shown.indexOf(row.dataset.doc);
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 };
    if (event.key in places && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      const id = shown[Math.min(Math.max(places[event.key], 0), shown.length - 1)];
      const part = event.target.dataset.f === "check" ? "check" : "title";
      this.rows.get(id).element.querySelector(`[data-f="${part}"]`).focus();
      if (event.shiftKey) this.check(id, true, false);
    } else if (event.key === " " && event.target.dataset.f === "title") {
      event.preventDefault();
      this.check(row.dataset.doc, !this.chosen.has(row.dataset.doc), event.shiftKey);
    } else if (event.key === "Delete") {
      event.preventDefault();
      this.remove(this.chosen.has(row.dataset.doc) ? [...this.chosen] : [row.dataset.doc]);
    }
  }

  pageKey(event) {
    if (event.key === "Escape" && !event.defaultPrevented) {
      if (!this.drawer.element.hidden) this.drawer.close();
      else if (this.chosen.size && !typing(event)) this.chooseAll(false);
    } else if (event.key === "/" && free(event)) {
      event.preventDefault();
      this.toolbar.search.focus();
    } else if (event.key === "?" && free(event)) {
      event.preventDefault();
      listKeys(KEYS);
    } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      this.toast.undo();
    }
  }

  head() {
    const all = h("input", { type: "checkbox", "aria-label": "Select all", onclick: (event) => this.chooseAll(event.target.checked) });
    const cell = ([name, kind, value]) => {
      if (!value) return h("th", { class: kind, scope: "col" }, name);
      const here = this.sort.column === name;
      const sign = here ? icon(this.sort.down ? "keyboard_arrow_down" : "keyboard_arrow_up", "s14") : null;
      return h("th", { class: kind, scope: "col", "aria-sort": here ? (this.sort.down ? "descending" : "ascending") : null }, h("button", { type: "button", "data-column": name, onclick: () => this.sortBy(name) }, name, sign));
    };
    return h("thead", {}, h("tr", {}, h("th", { class: "ck" }, all), COLUMNS.map(cell), h("th", { class: "mo" }, h("span", { class: "vh" }, "Remove"))));
  }
}
