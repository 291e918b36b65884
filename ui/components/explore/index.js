// Explore: one question over every chunk in scope. What is looked at stands in the address, so that a reload loses
// nothing and a link shows the same.

import { configure, post } from "../shared/api.js";
import { closeCitation } from "../shared/bus.js";
import { h, icon, plural, prose, typing } from "../shared/dom.js";
import { Controls } from "./controls.js";
import { lightOnPage, passage } from "./passage.js";
import { Plot, plotly } from "./plot.js";
import { differences, table } from "./rows.js";

const EXAMPLES = 3;
const VIEWS = { documents: "Documents", passages: "Passages", map: "Map" };
const LEGEND = [
  ["both", "both searches", true],
  ["vector", "meaning only", true],
  ["bm25", "words only", true],
  ["fused", "both together", true],
  ["segment", "filled in by a segment", true],
  ["table", "row of a table", true],
  ["neighbour", "beside a passage", true],
  ["vector", "hollow: found, not given", false],
  ["unseen", "not found", false],
];
const NUMBERS = { relevance: "Relevance", vector: "Meaning", bm25: "Words", fused: "Fused", rerank: "Read" };

// What cannot be searched for comes as an answer in words.
async function ask(path, body) {
  const answer = await post(path, body);
  if (answer.refused) throw Object.assign(new Error(answer.refused.message), { hint: answer.refused.hint });
  return answer;
}

export function mount({ parentElement, data }) {
  configure(data);
  const explore = (parentElement.gwExplore ??= new Explore(parentElement.querySelector(".gw-explore"), data));
  explore.offer(data);
  return () => explore.close();
}

class Explore {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.state = { question: "", docs: null, c: "", turn: "", a: {}, b: {}, edit: "a", compare: false, axis: "", measure: "relevance", colour: "documents", view: null };
    this.read();
    this.build();
    this.plot = new Plot(this.chart, { pick: (row) => this.open(row, true), selected: (rows) => this.select(rows), moved: (range) => this.moved(range) });
    this.pair = { a: new Plot(this.halves.a, this.plot.events), b: new Plot(this.halves.b, this.plot.events) };
    this.controls = new Controls(this.side, {
      change: (chosen) => this.change({ [this.state.edit]: chosen }),
      edit: (side) => this.change({ edit: side, compare: this.state.compare || side === "b" }),
      compare: () => this.change({ compare: !this.state.compare, edit: this.state.compare ? "a" : this.state.edit }),
      use: () => this.use(),
      reset: () => this.change({ [this.state.edit]: {} }),
    });
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.chart);
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys);
    this.offer(data);
    if (!this.state.question && !this.state.turn && data.turn) Object.assign(this.state, { c: data.conversation, turn: data.turn });
    if (this.state.question || this.state.turn) this.search();
    else this.invite();
  }

  close() {
    removeEventListener("keydown", this.keys);
    this.watch.disconnect();
    clearTimeout(this.resizing);
    for (const plot of [this.plot, this.pair.a, this.pair.b]) plot.close();
    delete document.documentElement.dataset.gwExplorePage;
    this.closed = true;
  }

  offer({ documents, examples }) {
    this.documents = documents;
    this.examples = examples;
    const inside = documents.filter((item) => !this.state.docs || this.state.docs.includes(item.id));
    this.where.textContent = !documents.length ? "No documents" : !this.state.docs && documents.length > 1 ? `All ${plural(documents.length, "document")}` : inside.length === 1 ? inside[0].title : plural(inside.length, "document");
    this.picker.replaceChildren(
      h("label", {}, h("input", { type: "checkbox", checked: !this.state.docs, onchange: () => this.change({ docs: null, view: null }) }), "All documents"),
      ...documents.map((item) => h("label", {}, h("input", { type: "checkbox", checked: Boolean(this.state.docs?.includes(item.id)), onchange: (event) => this.choose(item.id, event.target.checked) }), item.title)),
    );
  }

  build() {
    this.question = h("input", { class: "gw-field q", type: "search", "aria-label": "Question", placeholder: "A question, to see what finds its answer", value: this.state.question, maxlength: "4000" });
    this.where = h("span", {});
    this.picker = h("div", { class: "gw-xdocs" });
    this.scope = h("details", { class: "where" }, h("summary", { class: "gw-btn" }, icon("description", "s16"), this.where), this.picker);
    this.said = h("span", { class: "said muted num", role: "status" });
    const bar = h("form", { class: "qb", role: "search", "aria-label": "Question", onsubmit: (event) => (event.preventDefault(), this.ask(this.question.value)) }, this.question, this.scope, h("button", { type: "submit", class: "gw-btn primary" }, "Search"), h("span", { class: "sp" }), this.said);
    this.side = h("aside", { class: "ctl", "aria-label": "Settings", hidden: true });
    this.chart = h("div", { class: "chart" });
    const group = (label, names, key) => {
      const buttons = Object.entries(names).map(([value, name]) => h("button", { type: "button", "data-value": value, onclick: () => this.change({ [key]: value, view: null }) }, name));
      return h("span", { class: "seg", role: "group", "aria-label": label }, buttons);
    };
    this.views = group("What is shown", VIEWS, "axis");
    this.numbers = group("Height of a point", NUMBERS, "measure");
    this.colours = group("Colour", { documents: "by document", relevance: "by nearness" }, "colour");
    this.zooming = h("button", { type: "button", class: "gw-btn quiet sm", "aria-pressed": "true", onclick: () => this.dragging("zoom") }, "Zoom");
    this.selecting = h("button", { type: "button", class: "gw-btn quiet sm", "aria-pressed": "false", onclick: () => this.dragging("select") }, "Select");
    this.whole = h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => this.moved(null) }, "Whole view");
    this.title = h("h1", {}, "Relevance along the documents");
    this.wrap = h("div", { class: "plot", role: "img", tabindex: "-1" }, this.chart);
    this.list = h("section", { class: "list", "aria-label": "Chunks" });
    this.halves = { a: h("div", { class: "half" }), b: h("div", { class: "half" }) };
    this.captions = { a: h("div", { class: "ct" }), b: h("div", { class: "ct" }) };
    this.totals = { a: h("p", { class: "ms num" }), b: h("p", { class: "ms num" }) };
    this.versus = h("span", { class: "muted num" });
    this.changes = h("div", {});
    const half = (side) => h("div", { class: "cmp" }, this.captions[side], h("div", { role: "img", class: "plot", "aria-label": `Plot of ${side.toUpperCase()}` }, this.halves[side]), this.totals[side]);
    this.two = h("section", { class: "two", "aria-label": "A and B", hidden: true }, h("div", { class: "ph" }, h("h2", {}, "A and B"), this.versus), h("div", { class: "gr2" }, half("a"), half("b")), this.changes);
    this.shown = h(
      "div",
      { class: "shown", hidden: true },
      h(
        "section",
        { class: "first", "aria-label": "Plot" },
        h("div", { class: "ph wide" }, this.title, this.views),
        h("p", { class: "lg" }, LEGEND.map(([step, words, filled]) => h("span", {}, h("i", { class: `dot ${step}${filled ? " in" : ""}`, "aria-hidden": "true" }), words))),
        h("div", { class: "tools" }, this.numbers, this.colours, h("span", { class: "sp" }), this.zooming, this.selecting, this.whole),
        this.wrap,
      ),
      this.two,
      this.list,
    );
    this.note = h("div", { class: "note" });
    this.main = h("div", { class: "cv" }, this.note, this.shown);
    this.aside = h("aside", { class: "pas", "aria-label": "Selected chunk", hidden: true });
    this.root.replaceChildren(bar, this.side, this.main, this.aside);
  }

  // The address

  read() {
    const given = new URLSearchParams(location.search);
    const settings = (name) => Object.fromEntries((given.get(name) ?? "").split(",").filter(Boolean).map((part) => {
      const [key, value] = part.split(":");
      return [key, Number.isNaN(Number(value)) ? value : Number(value)];
    }));
    Object.assign(this.state, { question: given.get("q") ?? "", docs: given.get("docs")?.split(",").filter(Boolean) ?? null, c: given.get("c") ?? "", turn: given.get("turn") ?? "", a: settings("a"), b: settings("b") });
    if (given.get("side") === "b") this.state.edit = "b";
    this.state.compare = given.has("compare");
    if (VIEWS[given.get("show")]) this.state.axis = given.get("show");
    if (NUMBERS[given.get("y")]) this.state.measure = given.get("y");
    if (given.get("colour") === "relevance") this.state.colour = "relevance";
    const view = given.get("view")?.split(",").map(Number);
    if (view?.every(Number.isFinite)) this.state.view = view;
    this.wanted = given.has("chunk") ? Number(given.get("chunk")) : null;
  }

  write() {
    const { question, docs, c, turn, a, b, edit, compare, axis, measure, colour, view } = this.state;
    const settings = (chosen) => Object.entries(chosen).map(([key, value]) => `${key}:${value}`).join(",");
    const parts = { q: question, docs: docs?.join(","), c: question ? "" : c, turn: question ? "" : turn, a: settings(a), b: settings(b), side: edit === "b" ? "b" : "", compare: compare ? "1" : "", show: axis, y: measure === "relevance" ? "" : measure, colour: colour === "documents" ? "" : colour, view: view?.map((v) => Number(v.toPrecision(6))).join(","), chunk: this.row ?? "" };
    const text = new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== "" && value !== undefined && value !== null)).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
    history.replaceState(history.state, "", `${location.pathname}${text ? `?${text}` : ""}`);
  }

  // Asking

  ask(question) {
    Object.assign(this.state, { question: question.trim(), c: "", turn: "", view: null });
    this.row = null;
    this.plot.choose((this.chosen = null));
    this.scope.open = false;
    this.show(false);
    this.search();
  }

  choose(id, on) {
    const before = this.state.docs ?? [];
    const docs = on ? [...before, id] : before.filter((other) => other !== id);
    this.change({ docs: docs.length ? docs : null, view: null });
  }

  change(part) {
    const scope = "docs" in part;
    Object.assign(this.state, part);
    if (scope) {
      this.row = null;
      this.plot.choose((this.chosen = null));
      this.offer(this);
      // What was asked elsewhere in another scope is a question of its own here.
      if (this.state.turn && this.answer) Object.assign(this.state, { question: this.answer.question, c: "", turn: "" });
    }
    if (this.state.question || this.state.turn) this.search();
  }

  body() {
    const { question, docs, c, turn, a, b, edit, compare, axis, measure, colour, view } = this.state;
    return { question, scope: docs ? { doc_ids: docs } : null, c, turn, a, b, edit, compare, axis: this.state.axis, measure, colour, view, width: this.width(), height: Math.max(200, this.chart.clientHeight || 360) };
  }

  // Of the plot, which is not there before the first answer: what the columns beside it will leave.
  width() {
    const beside = innerWidth > 900 ? 236 + (innerWidth > 1360 ? 340 : 290) + 48 : 32;
    return Math.max(300, this.chart.clientWidth || innerWidth - beside);
  }

  // Names and points are laid out for a width: another one asks for them again.
  resized() {
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => this.answer && !this.closed && this.asked && Math.abs(this.asked.width - this.width()) > 100 && this.search(), 200);
  }

  // One request at a time; of those that come meanwhile only the last is sent.
  async search() {
    this.again = this.asking;
    if (this.asking) return;
    this.asking = true;
    const waiting = setTimeout(() => this.wait(), 150);
    try {
      do {
        this.again = false;
        this.write();
        const asked = this.body();
        await plotly(this.data.plotly);
        const answer = await ask("/explore", asked);
        if (this.closed) return;
        if (!this.again) await this.fill(answer, asked);
      } while (this.again && !this.closed);
    } catch (error) {
      this.fail(error);
    } finally {
      clearTimeout(waiting);
      this.asking = false;
      this.root.removeAttribute("aria-busy");
    }
  }

  wait() {
    this.root.setAttribute("aria-busy", "true");
    if (!this.answer) this.note.replaceChildren(h("p", { class: "gw-st run", role: "status" }, h("span", { class: "gw-spin" }), "Comparing the question with every chunk"));
    else this.said.replaceChildren(h("span", { class: "gw-spin" }), "Searching");
  }

  fail(error) {
    const [message, hint] = error.hint === undefined ? [error.message || "Explore failed.", "Reload the page."] : [error.message, error.hint];
    const kept = this.answer ? " What is shown below is what was found before." : "";
    this.said.textContent = "";
    this.note.replaceChildren(h("div", { class: "gw-msg bad", role: "alert" }, icon("error"), h("div", {}, h("b", {}, prose(message)), h("p", {}, prose(`${hint}${kept}`)))));
    if (!this.answer) this.note.append(this.invitation());
  }

  invite() {
    this.note.replaceChildren(this.invitation());
  }

  invitation() {
    const ready = this.documents.length;
    const words = ready ? "Every chunk of your documents is a point: how relevant it is, which search found it, and why it was chosen or not." : "Add a PDF in the Library first; it is read and indexed there.";
    return h(
      "div",
      { class: "gw-empty" },
      icon("search"),
      h("b", {}, ready ? "See what a question finds" : "No document is indexed yet"),
      h("p", {}, words),
      ready > 0 && h("ul", { class: "eg" }, this.examples.slice(0, EXAMPLES).map((text) => h("li", {}, h("button", { type: "button", class: "gw-btn", onclick: () => ((this.question.value = text), this.ask(text)) }, text)))),
    );
  }

  // Drawing

  async fill(answer, asked) {
    const before = this.answer;
    this.answer = answer;
    this.asked = asked;
    const { stats } = answer;
    this.note.replaceChildren(...stats.notes.map((note) => h("p", { class: "gw-hint" }, note)));
    this.shown.hidden = this.side.hidden = this.aside.hidden = false;
    this.root.classList.add("found");
    if (document.activeElement !== this.question) this.question.value = answer.question;
    if (!before && this.state.turn && answer.scope) {
      this.state.docs = answer.scope;
      this.offer(this);
    }
    this.said.textContent = `${stats.chunks.toLocaleString("en")} chunks, ${stats.weighed.toLocaleString("en")} weighed, ${stats.hits} found, ${stats.given} given in ${stats.ms} ms`;
    this.said.title = stats.queries.length > 1 ? `Searched for: ${stats.queries.map((text) => `“${text}”`).join(", ")}` : "";
    const { measure, colour, edit, compare, view } = this.state;
    const axis = this.axis();
    for (const [box, value] of [[this.views, axis], [this.numbers, measure], [this.colours, colour]]) for (const item of box.children) item.setAttribute("aria-pressed", String(item.dataset.value === value));
    this.numbers.hidden = axis === "map";
    this.colours.hidden = axis !== "map";
    this.whole.hidden = !view;
    this.title.textContent = axis === "map" ? "Map of chunks, near ones alike" : answer.scope?.length === 1 || this.documents.length === 1 ? "Relevance along the document" : "Relevance along the documents";
    const names = { segments: plural(stats.segments, "segment"), given: plural(stats.given, "chunk") };
    this.wrap.setAttribute("aria-label", `${this.title.textContent}: ${names.segments} chosen, ${names.given} given to the writer; the table below has the same points`);
    this.controls.show({ known: answer.known, chosen: this.state[edit], at: answer.controls[edit], side: edit, comparing: compare });
    await this.plot.draw(answer.figure);
    if (compare && answer.compare) await this.compare(answer.compare);
    else this.two.hidden = true;
    this.fillList();
    const row = this.wanted ?? this.row ?? (before ? null : answer.rows[0]?.row);
    const fresh = this.wanted !== null;
    this.wanted = null;
    if (row !== null && row !== undefined) this.open(row, fresh, false);
  }

  // What is shown; as long as nobody has chosen, what the number of chunks makes best.
  axis() {
    return this.state.axis || this.answer?.axis || "documents";
  }

  several() {
    return !this.state.docs || this.state.docs.length > 1 ? this.documents.length > 1 : false;
  }

  fillList() {
    const { rows, more } = this.answer;
    table(this.list, { rows, more, chosen: this.chosen, several: this.several(), open: (row, focus) => this.open(row, true, focus), clear: () => this.select(null) });
    this.here();
  }

  async compare(given) {
    this.two.hidden = false;
    const { said, list, left } = differences(given, this.several(), (row, focus) => this.open(row, true, focus));
    this.versus.textContent = said;
    for (const side of ["a", "b"]) {
      const { stats, named } = given[side];
      this.captions[side].replaceChildren(h("b", {}, side.toUpperCase()), h("span", { class: "muted num" }, named));
      this.totals[side].replaceChildren(...[[stats.segments, "segment"], [stats.given, "chunk"], [stats.sources, "source"]].map(([count, noun]) => h("span", {}, h("b", {}, count.toLocaleString("en")), ` ${noun}${count === 1 ? "" : "s"}${noun === "chunk" ? " given" : ""}`)));
      await this.pair[side].draw(given[side].figure);
    }
    this.changes.replaceChildren(list, ...(left ? [left] : []));
  }

  // A chunk

  // `page`: its page is opened too.
  async open(row, page, focus = false) {
    this.row = row;
    this.write();
    this.here();
    for (const plot of [this.plot, ...(this.state.compare ? [this.pair.a, this.pair.b] : [])]) plot.mark(row);
    try {
      const found = await ask("/explore/point", { ...this.body(), row });
      if (this.row !== row || this.closed) return;
      this.found = found;
      if (page) this.show(true, focus);
      else if (this.opened) lightOnPage(found, false);
      this.fillPassage();
    } catch (error) {
      if (this.row === row) this.aside.replaceChildren(h("p", { role: "alert" }, prose(`${error.message} ${error.hint ?? ""}`)));
    }
  }

  fillPassage() {
    const held = this.aside.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") ?? "" : null;
    passage(this.aside, this.found, { opened: this.opened, step: (by) => this.step(by), page: (open) => (this.show(open), this.fillPassage()) });
    if (held === null) return;
    const same = held ? this.aside.querySelector(`[aria-label="${CSS.escape(held)}"]`) : null;
    (same ?? this.aside.querySelector("[aria-pressed]"))?.focus();
  }

  step(by) {
    const next = this.row + by;
    if (next >= 0 && next < this.answer.stats.chunks) this.open(next, false);
  }

  here() {
    for (const line of this.root.querySelectorAll("tr[aria-current]")) line.removeAttribute("aria-current");
    for (const line of this.root.querySelectorAll(`tr[data-row="${this.row}"]`)) line.setAttribute("aria-current", "true");
  }

  // The page beside the plot.
  show(open, focus = false) {
    const changed = Boolean(this.opened) !== open;
    this.opened = open;
    if (open) document.documentElement.dataset.gwExplorePage = "open";
    else delete document.documentElement.dataset.gwExplorePage;
    if (!open) closeCitation();
    else if (this.found) requestAnimationFrame(() => lightOnPage(this.found, focus));
    if (changed) this.fillPassageIfThere();
  }

  fillPassageIfThere() {
    if (this.found && this.row !== null) this.fillPassage();
  }

  // Zoom and selection

  dragging(mode) {
    this.zooming.setAttribute("aria-pressed", String(mode === "zoom"));
    this.selecting.setAttribute("aria-pressed", String(mode === "select"));
    this.plot.dragging(mode);
  }

  moved(range) {
    const view = range && (this.axis() === "map" ? [...range.x, ...range.y] : range.x);
    if (!view && !this.state.view) return;
    this.change({ view });
  }

  select(rows) {
    this.chosen = rows ? new Set(rows) : null;
    this.plot.choose(this.chosen);
    this.fillList();
    const best = rows && (this.answer.rows.find((line) => this.chosen.has(line.row))?.row ?? rows[0]);
    if (best !== null && best !== undefined && rows) this.open(best, true);
  }

  async use() {
    const side = this.state.edit;
    try {
      const { named } = await ask("/explore/use", this.body());
      this.controls.used.textContent = `Chat searches by these now, for this visit: ${named}.`;
    } catch (error) {
      this.controls.used.textContent = `${error.message} ${error.hint ?? ""}`;
    }
    if (side !== this.state.edit) this.controls.used.textContent = "";
  }

  key(event) {
    if (event.key === "Escape" && this.opened && !event.defaultPrevented) {
      this.show(false);
      this.root.querySelector(`tr[data-row="${this.row}"] a`)?.focus();
    } else if (event.key === "Escape" && this.scope.open) this.scope.open = false;
    else if (event.key === "/" && !typing(event)) {
      event.preventDefault();
      this.question.focus();
    }
  }
}
