// Evaluate: questions with known answers under one configuration, or two side by side. What is looked at stands in the
// address, so that a reload loses nothing and a link shows the same.

import { answered, configure, get, inLibrary, pageUrl, post, save } from "../shared/api.js";
import { closeCitation, openCitation } from "../shared/bus.js";
import { button, fromHtml, h, icon, plural, showTrouble, troubleBox, typing } from "../shared/dom.js";
import { claims, JudgeForm } from "./judge.js";
import { rows } from "./measures.js";
import { MINE, Mine } from "./mine.js";
import { NewRun } from "./new_run.js";

const when = (seconds) => new Date(seconds * 1000).toLocaleString("en", { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

// One's own set grows: its runs are told apart by what it was. Where that is not enough, their time tells them apart.
function titled(run, runs) {
  const alike = runs.filter((other) => other.title === run.title && other.cases === run.cases && (run.own ? other.own : other.set === run.set));
  return [run.title, run.own && plural(run.cases, "question"), alike.length > 1 && when(run.created)].filter(Boolean).join(" · ");
}

const BUSY_MS = 1000;
const SHOWN = { harm: "Worst first", better: "Best first", all: "As in the set" };

export function mount({ parentElement, data }) {
  configure(data);
  const page = (parentElement.gwEvaluate ??= new Evaluate(parentElement.querySelector(".gw-evaluate")));
  page.load();
  return () => page.close();
}

const made = ({ searched, writer, done }) => (searched ? `${plural(done, "question")} searched, no answers written.` : `${writer}, ${plural(done, "question")} answered.`);

const hits = (pages) => (pages.length ? h("ol", { class: "found" }, pages.map((page) => h("li", {}, page))) : h("p", { class: "muted" }, "Nothing was found."));

class Evaluate {
  constructor(root) {
    this.root = root;
    this.state = Object.fromEntries(new URLSearchParams(location.search));
    this.order = "harm";
    this.trouble = troubleBox();
    this.bar = h("div", { class: "ebar" });
    this.body = h("div", { class: "ebody gw-scroll", tabindex: "-1" });
    this.side = h("aside", { class: "eside gw-scroll", "aria-label": "Question", hidden: true });
    this.maker = new NewRun({ add: (name, data) => this.act("/evaluate/sets", { name, data }), run: (body) => this.start(body) });
    this.judge = new JudgeForm({ judge: (body) => this.act("/evaluate/judge", body), say: (error) => this.say(error) });
    this.mine = new Mine({ act: (path, body) => this.act(path, body), run: async () => (await this.load(), this.maker.open(MINE)), say: (error) => this.say(error) });
    root.append(this.bar, h("div", { class: "emain" }, this.trouble, this.maker.element, this.judge.element, this.body), this.side);
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys);
  }

  close() {
    clearTimeout(this.timer);
    removeEventListener("keydown", this.keys);
    delete document.documentElement.dataset.gwEvaluatePage;
    this.closed = true;
  }

  say(error) {
    showTrouble(this.trouble, error);
  }

  // What cannot be done comes as an answer in words.
  async act(path, body) {
    const answer = await answered(() => post(path, body));
    this.say(answer.refused);
    await this.load();
    return answer.refused ? null : answer;
  }

  async start(body) {
    const started = await this.act("/evaluate/run", body);
    if (started) {
      this.wanted = started.run;
      this.maker.close();
      await this.load();
    }
  }

  async load() {
    clearTimeout(this.timer);
    const known = await answered(() => get("/evaluate"));
    if (known.refused) return this.say(known.refused);
    this.known = known;
    if (this.closed) return;
    const { runs, jobs, trouble } = this.known;
    if (trouble) this.say(trouble);
    const { wanted } = this;
    const made = wanted && runs.find((run) => run.id === wanted);
    if (made) {
      this.wanted = null;
      const shown = runs.find((run) => run.id === this.state.a);
      const beside = shown?.set === made.set && shown.searched === made.searched && shown.id !== made.id && !(made.own && shown.title === made.title);
      this.go({ ...(beside ? { b: made.id } : { a: made.id, b: "" }), case: "", view: "" }, false);
    }
    if (!runs.some((run) => run.id === this.state.a)) Object.assign(this.state, { a: runs[0]?.id ?? "", b: "" });
    const set = runs.find((run) => run.id === this.state.a)?.set;
    const own = runs.find((run) => run.id === this.state.a);
    if (!runs.some((run) => run.id === this.state.b && run.set === set && run.searched === own.searched)) this.state.b = "";
    this.maker.offer(this.known, set);
    this.drawBar();
    const key = JSON.stringify([this.state.view, this.state.a, this.state.b, runs.filter((run) => [this.state.a, this.state.b].includes(run.id)).map((run) => [run.done, run.verdicts]), jobs.some((job) => job.by)]);
    if (key !== this.drawn) await this.drawTable(key);
    if (!this.closed && jobs.length) this.timer = setTimeout(() => this.load(), BUSY_MS);
  }

  go(change, draw = true) {
    Object.assign(this.state, change);
    const query = Object.fromEntries(Object.entries(this.state).filter(([, value]) => value));
    history.replaceState(history.state, "", `${location.pathname}${inLibrary(query)}`);
    if (draw) this.load();
  }

  drawBar() {
    const { runs, sets, jobs } = this.known;
    const own = runs.find((run) => run.id === this.state.a);
    const set = sets.find((one) => one.id === own?.set || one.set_id === own?.set);
    const menu = (side, among, empty) => {
      const options = among.map((run) => h("option", { value: run.id, selected: run.id === this.state[side] }, `${titled(run, runs)}${run.done < run.cases ? ` (${run.done} of ${run.cases})` : ""}`));
      return h("label", { class: `pick ${side}` }, h("b", { "aria-hidden": "true" }, side.toUpperCase()), h("select", { class: "gw-field", "aria-label": side === "a" ? "Run A" : "Run B", onchange: (event) => this.go({ [side]: event.target.value, case: "", view: "" }) }, empty && h("option", { value: "" }, empty), options));
    };
    const busy = jobs[0];
    const work = busy && h("span", { class: "busy num", role: "status" }, h("span", { class: "gw-spin" }), busy.stopping ? "Stopping…" : `${busy.title}: ${busy.done} of ${busy.total || "…"}`, jobs.length > 1 && `, ${jobs.length - 1} waiting`);
    const parts = [
      own && h("label", { class: "pick set" }, h("select", { class: "gw-field", "aria-label": "Set of questions", onchange: (event) => this.go({ a: runs.find((run) => run.set === event.target.value)?.id ?? "", b: "", case: "", view: "" }) }, sets.filter((one) => runs.some((run) => run.set === one.set_id)).map((one) => h("option", { value: one.set_id, selected: one.set_id === set?.set_id }, `${one.name} · ${plural(one.cases, "question")}`)))),
      own && menu("a", runs.filter((run) => run.set === own.set), ""),
      own && h("span", { class: "muted" }, "against"),
      own && menu("b", runs.filter((run) => run.set === own.set && run.id !== own.id && run.searched === own.searched), "nothing"),
      h("span", { class: "sp" }),
      work,
      busy && !busy.stopping && h("button", { type: "button", class: "gw-btn sm", onclick: () => this.act("/evaluate/stop", {}) }, icon("stop", "s16"), "Stop"),
      own && own.done < own.cases && !busy && h("button", { type: "button", class: "gw-btn sm", onclick: () => this.start({ set: own.set, run: own.id, configuration: own.name, within: own.within }) }, icon("play_arrow", "s16"), "Go on"),
      own && h("button", { type: "button", class: "gw-btn sm", onclick: () => save("/evaluate/run.csv", "run.csv", { a: own.id }).catch((error) => this.say(error)) }, icon("download", "s16"), "CSV"),
      own && !own.searched && h("button", { type: "button", class: "gw-btn sm", onclick: () => this.judge.open([this.state.a, this.state.b].filter(Boolean)) }, icon("check", "s16"), "Judge"),
      this.state.b && h("button", { type: "button", class: "gw-btn sm", onclick: () => save("/evaluate/compare.html", "comparison.html", { a: this.state.a, b: this.state.b }).catch((error) => this.say(error)) }, icon("download", "s16"), "Page"),
      h("button", { type: "button", class: "gw-btn sm", "aria-pressed": String(this.state.view === MINE), onclick: () => this.go({ view: this.state.view === MINE ? "" : MINE, case: "" }) }, icon("push_pin", "s16"), "My questions"),
      h("button", { type: "button", class: "gw-btn primary sm", onclick: () => this.maker.open() }, icon("add", "s16"), "New run"),
    ].filter(Boolean);
    const key = JSON.stringify([runs, sets, this.state.view, this.state.a, this.state.b, busy ? 1 : 0, busy?.stopping]);
    if (this.barred === key && busy) {
      this.bar.querySelector(".busy")?.replaceWith(work);
      return;
    }
    if (this.barred === key) return;
    const held = this.bar.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    this.barred = key;
    this.bar.replaceChildren(...parts);
    if (held) this.bar.querySelector(`[aria-label="${held}"]`)?.focus();
  }

  async drawTable(key) {
    if (this.state.view === MINE) {
      this.drawn = key;
      await this.mine.draw();
      this.body.replaceChildren(this.mine.element);
      this.show(null);
      return;
    }
    if (!this.state.a) {
      this.drawn = key;
      this.body.replaceChildren(this.welcome());
      this.show(null);
      return;
    }
    const found = await answered(() => get("/evaluate/table", { a: this.state.a, b: this.state.b ?? "" }));
    if (found.refused) {
      this.early = true; // what two runs have in common may still come
      return this.say(found.refused);
    }
    if (this.closed) return;
    if (this.early) this.trouble.hidden = true;
    this.early = false;
    this.drawn = key;
    this.found = found;
    this.body.replaceChildren(
      h("h1", {}, found.headline || found.runs[0].title),
      h("p", { class: "muted" }, found.runs.length > 1 ? `${found.runs.some((run) => run.cases > found.shared) ? `Compared on ${plural(found.shared, "question")} that both runs have. ` : ""}Bars show where the true difference lies, 19 times in 20; each row has its own scale. Better or worse is said only where chance is unlikely among all these measures together.` : `${made(found.runs[0])} Choose a run B to compare it with.`),
      rows(found),
      h("div", { class: "qh" }, h("h2", {}, found.runs.length > 1 ? "Questions that differ" : "Questions"), (this.counted = h("span", { class: "muted num" })), h("span", { class: "sp" }), this.orders()),
      (this.list = h("div", { class: "qs" })),
    );
    this.drawCases();
    if (this.state.case) await this.show(this.state.case);
    else this.show(null);
  }

  orders() {
    return h("span", { class: "seg", role: "group", "aria-label": "Order" }, Object.entries(SHOWN).map(([order, words]) => h("button", { type: "button", "aria-pressed": String(order === this.order), onclick: (event) => {
      this.order = order;
      for (const one of event.target.parentElement.children) one.setAttribute("aria-pressed", String(one === event.target));
      this.drawCases();
    } }, words)));
  }

  drawCases() {
    const { cases, runs } = this.found;
    const two = runs.length > 1;
    const differ = two && this.order !== "all" ? cases.filter((one) => one.harm) : cases;
    const sign = { harm: 1, better: -1, all: 0 }[this.order];
    this.shown = [...differ].sort((a, b) => sign * (a.harm - b.harm));
    if (this.order === "all") this.shown.sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
    this.counted.textContent = two ? `${differ.length} of ${cases.length}` : plural(cases.length, "question");
    const dot = ({ words, tone }) => h("td", { class: `st ${tone}` }, h("i", { "aria-hidden": "true" }), words);
    const bar = (harm) => h("td", { class: "hm", "aria-hidden": "true" }, h("i", { class: harm < 0 ? "bad" : "ok", style: `width:${Math.min(1, Math.abs(harm)) * 30}px` }));
    const body = this.shown.map((one) =>
      h("tr", { "data-case": one.id, "aria-selected": one.id === this.state.case && "true", onclick: () => this.go({ case: one.id }, false) ?? this.show(one.id) }, two && bar(one.harm), h("td", { class: "qu" }, h("button", { type: "button" }, one.question)), one.states.map(dot)),
    );
    const head = h("tr", {}, two && h("th", { class: "hm" }, h("span", { class: "gw-unseen" }, "Harm")), h("th", {}, "Question"), two ? [h("th", {}, "A"), h("th", {}, "B")] : h("th", {}, "Outcome"));
    this.list.replaceChildren(this.shown.length ? h("table", { "aria-label": "Questions" }, h("thead", {}, head), h("tbody", {}, body)) : h("p", { class: "none" }, "Every question came out the same."));
  }

  welcome() {
    return h("div", { class: "gw-empty" }, icon("check_circle", "s24"), h("b", {}, "Measure what your settings do"), h("p", {}, "Bring questions with known answers, as a spreadsheet with the columns question, answer, document and page, or a published set. Each is asked of your library; then two configurations stand side by side."), h("button", { type: "button", class: "gw-btn primary", onclick: () => this.maker.open() }, "Choose questions"));
  }

  async show(id) {
    this.state.case = id ?? "";
    for (const row of this.list?.querySelectorAll("tr[data-case]") ?? []) row.toggleAttribute("aria-selected", row.dataset.case === id);
    const again = Boolean(id) && this.side.dataset.case === id; // something else has changed: what is open stays so
    if (!again) this.page(false);
    this.side.dataset.case = id ?? "";
    this.side.hidden = !id;
    this.root.classList.toggle("asked", Boolean(id));
    if (!id) return;
    let found;
    try {
      found = await get("/evaluate/case", { a: this.state.a, b: this.state.b ?? "", case: id });
    } catch (error) {
      this.say(error);
      return;
    }
    if (found.refused || this.state.case !== id) return;
    const opened = new Set(again ? this.details().filter(([, one]) => one.open).map(([name]) => name) : []);
    const at = this.shown.findIndex((one) => one.id === id);
    this.side.replaceChildren(
      h("div", { class: "nav" }, h("span", { class: "muted num" }, at < 0 ? "" : `${at + 1} of ${this.shown.length}`), h("span", { class: "sp" }), (this.closer = h("button", { type: "button", class: "gw-btn sm", hidden: !document.documentElement.dataset.gwEvaluatePage, onclick: () => this.page(false) }, "Close page")), button("Previous question", "keyboard_arrow_up", () => this.step(-1)), button("Next question", "keyboard_arrow_down", () => this.step(1)), button("Close question", "close", () => this.go({ case: "" }, false) ?? this.show(null))),
      h("h2", {}, found.question),
      h("p", { class: "exp" }, "Expected: ", h("b", {}, found.answerable ? found.reference || "an answer" : "no answer"), found.evidence.length > 0 && h("span", { class: "muted" }, ` (${found.evidence.join("; ")})`)),
      ...found.sides.map((side, i) => this.answer(side, found.sides.length > 1 ? "AB"[i] : "")),
      h("a", { class: "gw-btn", href: pageUrl("explore", { q: found.question }) }, icon("search", "s16"), "Open in Explore"),
    );
    for (const [name, one] of this.details()) one.open = opened.has(name);
  }

  // What can be unfolded beside a question, by name: a run that ends meanwhile draws it anew.
  details() {
    return [...this.side.querySelectorAll("details")].map((one) => [`${one.closest("section").getAttribute("aria-label")} ${one.firstChild.textContent}`, one]);
  }

  answer(side, letter) {
    const { state, answer, error, seconds, measures, judged, pages } = side;
    const text = h("div", { class: "gw-answer" }, (answer?.blocks ?? []).map(fromHtml));
    text.addEventListener("click", (event) => this.cite(event, answer));
    return h(
      "section",
      { class: "ans", "aria-label": letter ? `Answer ${letter}` : "Answer" },
      h("div", { class: "ah" }, letter && h("b", { class: "ab" }, letter), h("span", { class: `st ${state.tone}` }, h("i", { "aria-hidden": "true" }), state.words), h("span", { class: "sp" }), seconds !== undefined && h("span", { class: "muted num" }, `${seconds.toFixed(1)} s`)),
      error ? h("p", { class: "err" }, `${error.message} ${error.hint}`) : pages ? hits(pages) : text,
      measures && h("details", {}, h("summary", {}, "Measures"), h("dl", { class: "num" }, measures.map(({ title, value }) => h("div", {}, h("dt", {}, title), h("dd", {}, value))))),
      judged?.map(claims),
    );
  }

  cite(event, answer) {
    const chip = event.target.closest("a.gw-cite");
    if (!chip) return;
    event.preventDefault();
    const n = Number(chip.dataset.n);
    const citations = answer.citations.filter((one) => one.n === n);
    this.page(true);
    openCitation({ turn: "", n, citations, peers: [], focus: true });
  }

  page(open) {
    if (this.closer) this.closer.hidden = !open;
    if (open) document.documentElement.dataset.gwEvaluatePage = "open";
    else if (document.documentElement.dataset.gwEvaluatePage) {
      delete document.documentElement.dataset.gwEvaluatePage;
      closeCitation();
    }
  }

  step(by) {
    const at = this.shown.findIndex((one) => one.id === this.state.case);
    const next = this.shown[at + by];
    if (!next) return;
    this.go({ case: next.id }, false);
    this.show(next.id);
    this.list.querySelector(`tr[data-case="${CSS.escape(next.id)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (typing(event) || event.defaultPrevented) return;
    if (event.key === "Escape" && document.documentElement.dataset.gwEvaluatePage) this.page(false);
    else if (event.key === "Escape" && this.state.case) this.go({ case: "" }, false) ?? this.show(null);
    else if (this.state.case && (event.key === "j" || event.key === "k")) this.step(event.key === "j" ? 1 : -1);
  }
}
