// Explore: one question over every chunk in scope. What is looked at stands in the address, so that a reload loses
// nothing and a link shows the same.

import { answered, configure, post } from "../shared/api.js";
import { closeCitation, listening, openCitation } from "../shared/bus.js";
import { h, plural, prose } from "../shared/dom.js";
import { free } from "../shared/keys.js";
import { markStep, stepsAt } from "../shared/path.js";
import { read, write } from "./address.js";
import { Comparison } from "./comparison.js";
import { Connections } from "./connections.js";
import { Controls } from "./controls.js";
import { how } from "./how.js";
import { counted, failure, invitation, questions, waiting } from "./notes.js";
import { lightOnPage, passage } from "./passage.js";
import { Plot, plotly } from "./plot.js";
import { Rows } from "./rows.js";
import { label, name, room, sheet } from "./sheet.js";

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
    this.data = data;
    const given = read(location.search);
    this.state = { edit: "a", axis: "", measure: "relevance", colour: "documents", view: null, ...given.state };
    this.row = given.chunk;
    this.named = given.chunk !== null;
    const events = { pick: (row) => this.open(row, true), selected: (rows) => this.select(rows), moved: (range) => this.moved(range) };
    this.two = new Comparison(events);
    this.at = sheet(root, this.state.question, this.two.root, { ask: (question) => this.ask(question), change: (part) => this.change(part), drag: (mode) => this.drag(mode), whole: () => this.moved(null), how: (body) => this.tell(body) });
    this.at.moved.open = Object.keys({ ...this.state.a, ...this.state.b }).length > 0 || this.state.compare;
    this.plot = new Plot(this.at.chart, events);
    this.net = new Connections(this.at.net, { name: (node, focus) => this.tellName(node, focus), passage: (row, focus) => this.open(row, true, focus), leave: () => this.leave() });
    this.rows = new Rows(this.at.list, { open: (row, focus) => this.open(row, true, focus), pick: (rows) => this.pick(rows), only: (alone) => ((this.alone = alone), this.fillList()) });
    this.controls = new Controls(this.at.settings, {
      change: (chosen) => this.change({ [this.state.edit]: chosen }),
      edit: (side) => this.change({ edit: side, compare: this.state.compare || side === "b" }),
      settled: () => this.settled(),
      compare: () => this.change({ compare: !this.state.compare, edit: this.state.compare ? "a" : this.state.edit }),
      use: () => this.use(),
      reset: () => this.change({ [this.state.edit]: {} }),
    });
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.at.chart);
    this.unlisten = listening([["keydown", (event) => this.key(event)], ["gw:opened", ({ detail }) => markStep(root, (this.shining = detail))]]);
    this.offer(data);
    const [first] = data.asked;
    if (!this.state.question && !this.state.turn && first?.c === data.conversation) Object.assign(this.state, { c: first.c, turn: first.turn });
    if (this.documents.length && (this.state.question || this.state.turn)) this.search();
    else {
      this.at.note.replaceChildren(this.invitation());
      plotly(data.plotly).catch(() => {}); // ahead of the first question, which asks for it again and says what is wrong
    }
  }

  close() {
    this.unlisten();
    this.watch.disconnect();
    clearTimeout(this.resizing);
    for (const drawn of [this.plot, this.two, this.net]) drawn.close();
    delete document.documentElement.dataset.gwExplorePage;
    this.closed = true;
  }

  offer({ documents, asked, examples }) {
    Object.assign(this, { documents, examples, questions: asked });
    this.drawScope();
  }

  drawScope() {
    const { documents } = this;
    const { docs, sections } = this.state;
    const inside = this.inside();
    this.at.where.textContent = sections.length ? sections.map(({ path }) => `“${path.at(-1)}”`).join(", ") : !documents.length ? "No documents" : !docs && documents.length > 1 ? `All ${plural(documents.length, "document")}` : inside.length === 1 ? inside[0].title : plural(inside.length, "document");
    this.at.picker.replaceChildren(
      h("label", {}, h("input", { type: "checkbox", checked: !docs, onchange: () => this.change({ docs: null, sections: [], view: null }) }), "All documents"),
      ...documents.map((item) => h("label", {}, h("input", { type: "checkbox", checked: Boolean(docs?.includes(item.id)), onchange: (event) => this.choose(item.id, event.target.checked) }), item.title)),
    );
  }

  inside() {
    return this.documents.filter((item) => !this.state.docs || this.state.docs.includes(item.id));
  }

  invitation() {
    return invitation({ ready: this.documents.length > 0, asked: this.questions, examples: this.examples, again: (item) => this.look(item), ask: (text) => ((this.at.question.value = text), this.ask(text)) });
  }

  // Asking

  ask(question) {
    Object.assign(this.state, { question: question.trim(), c: "", turn: "", view: null });
    this.anew();
    this.at.scope.open = false;
    this.show(false);
    this.search();
  }

  // A question that was asked in Chat, as it was searched for there.
  look({ c, turn }) {
    Object.assign(this.state, { question: "", docs: null, sections: [], c, turn, view: null });
    this.anew();
    this.show(false);
    this.search();
  }

  choose(id, on) {
    const before = this.state.docs ?? [];
    const docs = on ? [...before, id] : before.filter((other) => other !== id);
    this.change({ docs: docs.length ? docs : null, sections: [], view: null });
  }

  change(part) {
    Object.assign(this.state, part);
    if ("docs" in part) {
      this.anew();
      this.drawScope();
      // What was asked elsewhere in another scope is a question of its own here.
      if (this.state.turn && this.answer) Object.assign(this.state, { question: this.answer.question, c: "", turn: "" });
    }
    if (this.state.question || this.state.turn) this.search();
  }

  // Another question, or other documents: what was open and selected is not there.
  anew() {
    this.row = this.spot = null;
    this.stale = true;
    this.alone = false;
    this.plot.choose((this.chosen = null));
    this.at.aside.replaceChildren();
  }

  body() {
    const { question, docs, sections, c, turn, a, b, edit, compare, axis, measure, colour, view, kinds } = this.state;
    return { kinds, question, scope: docs || sections.length ? { doc_ids: docs, sections } : null, c, turn, a, b, edit, compare, axis, measure, colour, view, row: this.row, ...this.size() };
  }

  // To measure it makes the browser lay the page out, which is not for each step of a slider.
  size() {
    return this.left ? { width: this.asked.width, height: this.asked.height } : room(this.at.chart);
  }

  // Names and points are laid out for a width: another one asks for them again.
  resized() {
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => this.answer?.figure && !this.closed && this.asked && Math.abs(this.asked.width - room(this.at.chart).width) > 100 && this.search(), 200);
  }

  async searchOnce() {
    this.keep();
    const asked = { ...this.body(), draft: this.state.axis !== "connections" && (!this.answer || this.stale) };
    const [answer] = await Promise.all([ask("/explore", asked), plotly(this.data.plotly)]);
    if (this.closed || this.follow(answer)) return;
    if (!this.again) await this.fill(answer, asked);
    if (answer.draft) this.again = true;
  }

  // One request at a time; of those that come meanwhile only the last is sent.
  async search() {
    this.again = this.asking;
    if (this.asking) return;
    this.asking = true;
    const waits = setTimeout(() => this.wait(), 150);
    try {
      do {
        this.again = false;
        try {
          await this.searchOnce();
        } catch (error) {
          if (this.again) continue; // what was asked meanwhile is still to be sent
          this.at.said.textContent = "";
          this.at.note.replaceChildren(failure(error, Boolean(this.answer)), ...(this.answer ? [] : [this.invitation()]));
        }
      } while (this.again && !this.closed);
    } finally {
      clearTimeout(waits);
      this.asking = false;
      this.at.root.removeAttribute("aria-busy");
      this.at.shown.classList.remove("stale");
    }
  }

  wait() {
    this.at.root.setAttribute("aria-busy", "true");
    this.at.shown.classList.toggle("stale", Boolean(this.stale));
    if (!this.answer) this.at.note.replaceChildren(waiting(this.inside().length));
    else this.at.said.replaceChildren(h("span", { class: "gw-spin" }), this.stale ? "Comparing the question with every chunk" : "Searching");
  }

  // Drawing

  // While a slider is dragged its answers are only sketched: all the rest follows when it is let go.
  follow(answer) {
    if (!this.controls.dragged || answer.draft || this.stale || this.state.compare || !this.answer) return false;
    if (answer.figure && !this.plot.sketch(answer.figure)) return false;
    this.left = answer;
    this.at.said.textContent = counted(answer.stats);
    return true;
  }

  settled() {
    const { left } = this;
    this.left = null;
    this.keep();
    if (left && !this.asking && !this.closed) this.fill(left, this.asked);
  }

  // In the address; not at each step of a slider, since a browser takes its time for that.
  keep() {
    if (!this.controls.dragged) write(this.state, this.row);
  }

  async fill(answer, asked) {
    this.answer = answer;
    this.asked = asked;
    this.stale = false;
    const { stats } = answer;
    this.at.note.replaceChildren(...stats.notes.map((note) => h("p", { class: "gw-hint" }, note)));
    this.at.shown.hidden = this.at.side.hidden = this.at.aside.hidden = false;
    this.at.shown.classList.remove("stale");
    this.at.root.classList.add("found");
    if (document.activeElement !== this.at.question) this.at.question.value = answer.question;
    if (this.state.turn && JSON.stringify([answer.scope, answer.sections]) !== JSON.stringify([this.state.docs, this.state.sections])) {
      Object.assign(this.state, { docs: answer.scope, sections: answer.sections });
      this.drawScope();
    }
    questions(this.at.asked, this.questions, this.state.turn, (item) => this.look(item));
    this.at.how.hidden = !this.state.turn;
    if (this.at.how.dataset.of !== this.state.turn) this.at.how.open = false;
    this.at.how.dataset.of = this.state.turn;
    // What the searches alone have found is shown where it stays, so that nothing jumps when the rest is there.
    this.at.said.replaceChildren(...(answer.draft ? [h("span", { class: "gw-spin" }), "Search done; now reading the best passages"] : [counted(stats)]));
    this.at.said.title = stats.queries.length > 1 ? `Searched for: ${stats.queries.map((text) => `“${text}”`).join(", ")}` : "";
    label(this.at, this.state, this.axis(), this.answer.scope?.length === 1 || this.documents.length === 1, stats, answer.connected);
    const { edit, compare } = this.state;
    this.controls.show({ known: answer.known, chosen: this.state[edit], at: answer.controls[edit], side: edit, comparing: compare });
    // What was opened while this was on its way stays open; the best of a draft need not be the best.
    if (this.row === asked.row && !answer.draft) this.row = answer.passage?.row ?? null;
    name(this.at, answer.figure?.layout.meta?.documents);
    if (answer.figure) await this.plot.draw(answer.figure, this.row);
    else this.net.show(answer.connections, this.inside().length > 1);
    this.spot &&= (!answer.figure && this.net.nodes.find(({ key }) => key === this.spot.key)) || null;
    if (this.spot) this.tellName(this.spot, false);
    if (compare && answer.compare) await this.two.show(answer.compare, this.row, this.inside().length > 1, (row, focus) => this.open(row, true, focus));
    else this.two.root.hidden = true;
    this.fillList();
    if (answer.passage && answer.passage.row === this.row) this.opens(answer.passage, this.named, false);
    if (!answer.draft) this.named = false;
    this.keep();
  }

  // What is shown: the server chooses as long as nobody has, and where there are no connections.
  axis() {
    return this.answer?.axis ?? "documents";
  }

  fillList() {
    const { rows, more } = this.answer;
    this.rows.show({ rows, more, chosen: this.chosen ?? null, alone: this.alone, several: this.inside().length > 1, kinds: this.state.kinds });
    this.here();
  }

  // A chunk

  // `page`: its page is opened too.
  async open(row, page, focus = false) {
    this.row = row;
    this.spot = this.sentence = null;
    write(this.state, row);
    this.here();
    for (const drawn of [this.plot, this.two]) drawn.mark(row);
    const found = await answered(() => post("/explore/point", this.body()));
    if (this.row !== row || this.closed) return;
    if (found.refused) this.at.aside.replaceChildren(h("p", { role: "alert" }, prose(`${found.refused.message} ${found.refused.hint ?? ""}`)));
    else this.opens(found, page, focus);
  }

  opens(found, page, focus) {
    const moved = this.found?.id !== found.id;
    this.found = found;
    if (page) this.show(true, focus);
    else if (this.opened && moved && !this.sentence) lightOnPage(found, false);
    this.fillPassage();
  }

  fillPassage() {
    const { aside } = this.at;
    if (this.spot) return;
    const held = aside.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") ?? "" : null;
    passage(aside, this.found, { kinds: this.state.kinds, opened: this.opened, step: (by) => this.step(by), page: (open) => (this.show(open), this.fillPassage()), light: (sentence) => this.show(true, false, sentence) });
    if (this.shining) markStep(aside, this.shining);
    if (held === null) return;
    const same = held ? aside.querySelector(`[aria-label="${CSS.escape(held)}"]`) : null;
    (same ?? aside.querySelector("[aria-pressed]"))?.focus();
  }

  // A name of the map, in place of the chunk.
  tellName(node, focus) {
    this.spot = node;
    this.net.current((other) => other === node);
    this.net.tell(this.at.aside, node, (sentence) => this.show(true, false, sentence));
    if (this.shining) markStep(this.at.aside, this.shining);
    if (focus) this.at.aside.querySelector(".said-in button")?.focus();
  }

  // From the map, unless a page is to be closed first.
  leave() {
    if (!this.opened) this.at.views.querySelector('[aria-pressed="true"]').focus();
    return !this.opened;
  }

  step(by) {
    const next = this.row + by;
    if (next >= 0 && next < this.answer.stats.chunks) this.open(next, false);
  }

  here() {
    for (const line of this.at.root.querySelectorAll("tr[aria-current]")) line.removeAttribute("aria-current");
    for (const line of this.at.root.querySelectorAll(`tr[data-row="${this.row}"]`)) line.setAttribute("aria-current", "true");
    this.net.current((node) => (this.spot ? node.key === this.spot.key : node.row === this.row));
  }

  async tell(body) {
    await how(body, this.state, (sentence) => this.show(true, false, sentence));
    if (this.shining) markStep(body, this.shining);
  }

  // The page beside the plot: of the chunk, or with a sentence lit.
  show(open, focus = false, sentence = null) {
    const changed = Boolean(this.opened) !== open;
    this.opened = open;
    this.sentence = sentence;
    if (open) document.documentElement.dataset.gwExplorePage = "open";
    else delete document.documentElement.dataset.gwExplorePage;
    if (!open) closeCitation();
    else if (sentence) requestAnimationFrame(() => openCitation(sentence));
    else if (this.found) requestAnimationFrame(() => lightOnPage(this.found, focus));
    if (changed && this.found && this.row !== null) this.fillPassage();
  }

  // Zoom and selection

  drag(mode) {
    this.at.zooming.setAttribute("aria-pressed", String(mode === "zoom"));
    this.at.selecting.setAttribute("aria-pressed", String(mode === "select"));
    this.plot.dragging(mode);
  }

  moved(range) {
    const view = range && (this.axis() === "map" ? [...range.x, ...range.y] : range.x);
    if (!view && !this.state.view) return;
    this.change({ view });
  }

  // A box was drawn: its chunks alone are listed, and the best of them is opened.
  select(rows) {
    this.pick(rows ? new Set(rows) : null);
    this.alone = Boolean(rows);
    this.fillList();
    const best = rows && (this.answer.rows.find((line) => this.chosen.has(line.row))?.row ?? rows[0]);
    if (best !== null && best !== undefined && rows) this.open(best, true);
  }

  // Rows of the table were selected: they stand out in the plot.
  pick(chosen) {
    const ended = this.chosen && !chosen;
    this.chosen = chosen;
    this.plot.choose(chosen);
    if (ended) {
      this.alone = false;
      this.fillList();
    }
  }

  async use() {
    const side = this.state.edit;
    const { named, refused } = await answered(() => post("/explore/use", this.body()));
    if (side !== this.state.edit) this.controls.used.textContent = "";
    else this.controls.used.textContent = refused ? `${refused.message} ${refused.hint ?? ""}` : `Chat now uses these settings, for this visit: ${named}.`;
  }

  key(event) {
    if (event.key === "Escape" && !event.defaultPrevented) {
      if (this.opened) {
        const lit = this.shining;
        this.show(false);
        (stepsAt(this.at.root, lit ?? {})[0] ?? this.net.held() ?? this.at.root.querySelector(`tr[data-row="${this.row}"] a`))?.focus();
      } else if (this.at.scope.open) this.at.scope.open = false;
      else if (this.spot && this.at.aside.contains(document.activeElement)) this.net.focus(this.spot.id);
      else if (this.chosen) this.pick(null);
    } else if (event.key === "/" && free(event)) {
      event.preventDefault();
      this.at.question.focus();
    }
  }
}
