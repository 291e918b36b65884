// The table of documents. It asks the server by itself, often while something is being read, so that progress needs no
// rerun; what is done to a document goes straight to its route.

import { configure, forgetDocument, get, post } from "../shared/api.js";
import { h, icon, plural, prose } from "../shared/dom.js";
import { Drawer } from "./drawer.js";
import { drawRow, updateRow } from "./row.js";

const BUSY_MS = 600;
const IDLE_MS = 8000;

export function mount({ parentElement, data, setTriggerValue }) {
  configure(data);
  const table = (parentElement.gwLibrary ??= new Library(parentElement.querySelector(".gw-library")));
  table.ask = (id) => setTriggerValue("ask", id);
  if (table.revision !== data.revision) {
    table.revision = data.revision;
    table.poll();
  }
  return () => table.close();
}

class Library {
  constructor(root) {
    this.rows = new Map(); // id → { data, element }
    this.fresh = new Set();
    this.body = h("tbody");
    this.table = h("table", { hidden: true }, head(), this.body);
    this.empty = h("div", { class: "gw-empty", hidden: true }, icon("folder_open", "s24"), h("b", {}, "No documents yet"), h("p", {}, "Drop PDFs above. Reading starts at once and shows page by page."));
    this.trouble = h("div", { class: "gw-msg bad", role: "alert", hidden: true });
    this.drawer = new Drawer({ ask: (id) => this.ask(id), closed: () => this.select(null) });
    root.append(this.trouble, this.table, this.empty, this.drawer.element);
    this.focus = () => this.poll();
    addEventListener("focus", this.focus);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    removeEventListener("focus", this.focus);
    this.drawer.close();
  }

  async poll() {
    clearTimeout(this.timer);
    let busy = false;
    try {
      const { documents } = await get("/library");
      this.trouble.hidden = true;
      this.show(documents);
      busy = documents.some((item) => item.job || item.removing);
    } catch (error) {
      this.complain(error);
    }
    if (!this.closed) this.timer = setTimeout(() => this.poll(), busy ? BUSY_MS : IDLE_MS);
  }

  complain(error) {
    this.trouble.replaceChildren(icon("error"), h("div", {}, h("b", {}, prose(error.message)), h("p", {}, prose(error.hint))));
    this.trouble.hidden = false;
  }

  show(documents) {
    this.table.hidden = !documents.length;
    this.empty.hidden = documents.length > 0;
    this.count(documents);
    const ids = new Set(documents.map((item) => item.id));
    for (const [id, { element }] of this.rows) {
      if (ids.has(id)) continue;
      element.remove();
      this.rows.delete(id);
      forgetDocument(id);
      if (this.drawer.id === id) this.drawer.close();
    }
    for (const [place, item] of documents.entries()) {
      const shown = this.rows.get(item.id);
      if (shown?.data.job && !item.job && !item.removing && item.status === "ready") this.fresh.add(item.id);
      if (!shown) {
        this.rows.set(item.id, { data: item, element: drawRow(item, this.actions(item.id)) });
      } else if (!updateRow(shown.element, shown.data, item)) {
        const element = drawRow(item, this.actions(item.id), this.fresh.has(item.id));
        if (this.drawer.id === item.id) element.setAttribute("aria-selected", "true");
        shown.element.replaceWith(element);
        shown.element = element;
      }
      const row = this.rows.get(item.id);
      row.data = item;
      if (this.body.children[place] !== row.element) this.body.insertBefore(row.element, this.body.children[place] ?? null);
    }
  }

  // The line beside the page's title is the script's; between reruns it is kept true here.
  count(documents) {
    const line = document.querySelector(".gw-head .muted");
    const pages = documents.reduce((sum, item) => sum + item.pages, 0);
    if (line) line.textContent = documents.length ? `${plural(documents.length, "document")}, ${plural(pages, "page")}` : "";
  }

  actions(id) {
    const then = (path, body) => async () => {
      try {
        await post(`/documents/${id}/${path}`, body?.());
      } catch (error) {
        this.complain(error);
        return;
      }
      this.poll();
    };
    return {
      read: then("read"),
      cancel: then("cancel"),
      remove: then("remove"),
      unlock: (password) => then("read", () => ({ password }))(),
      open: () => this.select(id),
    };
  }

  select(id) {
    for (const [other, { element }] of this.rows) {
      if (other === id) element.setAttribute("aria-selected", "true");
      else element.removeAttribute("aria-selected");
    }
    if (id) this.drawer.open(this.rows.get(id).data);
  }
}

function head() {
  const cell = (words, kind = "") => h("th", { class: kind, scope: "col" }, words);
  return h("thead", {}, h("tr", {}, cell("Title"), cell("Pages", "r"), cell("Tables", "r"), cell("Status"), cell("Size", "r"), h("th", { class: "mo" }, h("span", { class: "vh" }, "Remove"))));
}
