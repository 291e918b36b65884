// The conversation: fetches it, draws its turns, follows the one that is being written.

import { answered, configure, get, pageUrl, post } from "../shared/api.js";
import { beforeAsking, holdAsking, send, skip, typed } from "../shared/asking.js";
import { closeCitation, listening } from "../shared/bus.js";
import { h } from "../shared/dom.js";
import { keep, takeKept } from "../shared/kept.js";
import { changed } from "../shared/tabs.js";
import { copyLink } from "./copy.js";
import { follow } from "./live.js";
import { nameInAddress, namedInAddress } from "./address.js";
import { Cards } from "./card.js";
import { Cited } from "./cited.js";
import { Earlier } from "./earlier.js";
import { Next } from "./next.js";
import { clampQuestion, editQuestion, rest, tools } from "./question.js";
import { pin, pinned, say, unsay, unsayBusy, waiting } from "./said.js";
import { Scroll } from "./scroll.js";
import { START, Start } from "./start.js";
import { drawTurn, errorCard } from "./turn.js";

const AGAIN = 400; // ms after an answer's events broke off
const LOOK = 2500; // ms between two looks at documents of which an answer saw only a part
const LATER = "gw.later"; // where this tab keeps the turn that is asked again when all is read
const PLACE = "gw.thread"; // where this tab keeps what was being read

export function mount({ parentElement, data, tell }) {
  configure(data);
  const thread = (parentElement.gwThread ??= new Thread(parentElement.querySelector(".gw-thread")));
  thread.tellScript = tell;
  thread.show(data);
  return () => thread.close();
}

class Thread {
  constructor(root) {
    this.root = root;
    this.flow = h("div", { class: "gw-flow", tabindex: "0", role: "log", "aria-label": "Conversation" });
    this.column = h("div", { class: "col" });
    this.flow.append(this.column);
    this.scroll = new Scroll(this.flow);
    this.skip = skip();
    root.append(this.flow, this.scroll.down);
    this.turns = new Map(); // id → { data, element }
    this.path = new Set(); // ids of the turns of the branch that is shown, as far as they are here
    this.before = new Earlier(this.flow, () => this.loadEarlier());
    this.edits = new Set(); // ids of the turns whose question is being edited, which stay until that ends
    this.conversation = undefined;
    this.stopFollowing = new Map();
    this.start = new Start({ ask: (question) => this.tellScript("first", { question }), read: (id) => this.read(id), grown: () => this.cited?.mark(), known: () => this.askHeld() });
    this.cited = new Cited(this.column, (id) => (id === START ? { data: this.start.data, element: this.start.element } : this.turns.get(id)));
    this.cards = new Cards(this.flow, (turn, n) => this.cited.find(turn, n), (turn, n) => copyLink(this.conversation, turn, n));
    this.next = new Next((question) => this.askNext(question));
    this.thoughts = {}; // turn → what was thought of its answer
    this.flow.addEventListener("click", (event) => this.clicked(event));
    this.enough = beforeAsking(() => this.last && this.tellScript("seen", { conversation: this.conversation, after: this.last }));
    this.free = holdAsking(() => this.hold());
    this.unlisten = listening([
      ["gw:opened", (event) => this.cited.opened(event.detail)],
      ["focus", () => this.refresh()],
      ["pagehide", () => keep(PLACE, this.conversation, this.scroll.place())],
      ["gw:changed", ({ detail }) => !detail.here && detail.conversation === this.conversation && this.refresh()],
    ]);
  }

  close() {
    for (const stop of this.stopFollowing.values()) stop();
    this.stopFollowing.clear();
    clearTimeout(this.soon);
    this.cards.close();
    this.before.close();
    this.start.hide();
    this.skip.remove();
    this.enough();
    this.free();
    this.unlisten();
  }

  show({ conversation, revision, scope, name, reads }) {
    this.root.classList.toggle("reads", reads); // somebody else's, who shares it
    this.skip.hidden = reads;
    if (!this.skip.isConnected) document.querySelector(".stApp").prepend(this.skip);
    this.scope = scope;
    if (conversation !== this.conversation) {
      for (const stop of this.stopFollowing.values()) stop();
      this.stopFollowing.clear();
      this.turns.clear();
      this.edits.clear();
      this.path.clear();
      this.first = "";
      this.before.set(0);
      this.column.replaceChildren();
      this.cards.hide();
      this.unhold();
      this.conversation = conversation;
      if (name) nameInAddress(conversation);
      this.revision = undefined;
      this.scroll.following = false;
      this.fresh = true;
    }
    if (!conversation) {
      if (this.column.firstChild !== this.start.element) {
        this.column.replaceChildren(this.start.element);
        this.opened(false);
        closeCitation();
      }
      this.start.show(scope, revision);
      return;
    }
    this.start.hide();
    if (revision !== this.revision) {
      const asked = this.revision !== undefined;
      this.revision = revision;
      this.refresh().then(() => asked && changed(conversation));
    }
  }

  async refresh() {
    const [asked, since] = [this.conversation, this.first];
    if (!asked) return;
    const talk = await answered(() => get(`/conversations/${asked}`, { since }));
    if (asked !== this.conversation) return;
    // What is shown stays; that it may be out of date is said below it.
    if (talk.refused) return pin(this.column, "stale", errorCard(talk.refused, () => this.refresh()));
    if (since !== this.first) return this.refresh(); // earlier turns came meanwhile
    if (talk.gone) {
      for (const id of [...this.turns.keys()]) this.drop(id);
      this.path.clear();
      this.column.replaceChildren(errorCard(talk.gone));
      return;
    }
    pin(this.column, "stale", null);
    if (!this.turns.size) this.column.replaceChildren(this.before.element);
    this.thoughts = talk.feedback;
    this.first = talk.turns[0]?.id ?? "";
    this.before.set(talk.earlier);
    const path = (this.path = new Set(talk.turns.map((turn) => turn.id)));
    const drawn = [...this.turns.keys()];
    for (const id of drawn) if (!path.has(id) && !this.edits.has(id)) this.drop(id);
    this.place(talk.turns);
    this.tell(talk.title);
    const newest = talk.turns.at(-1);
    if (this.fresh) {
      this.fresh = false;
      if (talk.turns.length) this.scroll.toTop(this.turns.get(talk.turns.at(-1).id).element);
      if (!(await this.reopen())) this.cited.look(talk.turns.at(-1), true);
    } else if (this.cited.current && !path.has(this.cited.current.turn)) {
      this.cited.look(talk.turns.at(-1)); // what was open stands in another version
    } else if (newest && drawn.length && newest.state !== "live" && !drawn.includes(newest.id) && drawn.every((id) => path.has(id))) {
      closeCitation(); // the page follows the newest answer, also one that was finished before it was seen
      this.cited.look(newest);
    }
  }

  // The turns before those that are here; what is being read stays where it is.
  async loadEarlier() {
    const [asked, first] = [this.conversation, this.first];
    const talk = await answered(() => get(`/conversations/${asked}`, { before: first }));
    if (talk.refused) return this.before.say(errorCard(talk.refused, () => this.before.load()));
    if (asked !== this.conversation || first !== this.first) return;
    if (talk.gone || !talk.turns.length || talk.turns.some(({ id }) => this.turns.has(id))) return this.refresh(); // another branch is shown by now
    Object.assign(this.thoughts, talk.feedback);
    const here = [...this.path].map((id) => this.turns.get(id).data);
    this.path = new Set([...talk.turns.map(({ id }) => id), ...this.path]);
    this.first = talk.turns[0].id;
    this.scroll.keeping(this.turns.get(first).element, () => this.place([...talk.turns, ...here]));
    this.before.set(talk.earlier);
    this.tell();
  }

  // All turns back to one that stands before those that are here.
  async loadSince(turn) {
    this.first = turn;
    await this.refresh();
  }

  // Draws the turns of the path in their order, each new one where it belongs.
  place(turns) {
    const drawn = (turn) => this.turns.get(turn.id)?.element;
    for (const [at, turn] of turns.entries()) {
      const next = drawn(turn)?.isConnected ? null : turns.slice(at + 1).find((other) => drawn(other)?.isConnected);
      this.put(turn, next && drawn(next));
    }
    const ordered = turns.map(({ id }) => [id, this.turns.get(id)]);
    this.turns = new Map([...ordered, ...[...this.turns].filter(([id]) => !this.path.has(id))]);
  }

  // A document is opened to be read.
  read(id) {
    this.opened(true);
    dispatchEvent(new CustomEvent("gw:read", { detail: { doc: id } }));
  }

  // Whether the page stands beside what a new conversation begins with.
  opened(open) {
    if (this.root.classList.contains("is-opened") === open) return;
    this.root.classList.toggle("is-opened", open);
    dispatchEvent(new CustomEvent("gw:pane"));
  }

  // Whether an answer is being written in what is shown.
  get busy() {
    return [...this.path].some((id) => this.turns.get(id)?.data.state === "live");
  }

  // Whether a question that is being sent has to wait, which is said.
  hold() {
    if (!this.column.isConnected) return false; // another thread has taken its place
    if (this.busy) pin(this.column, "held", waiting("The previous answer is still being written.", "Wait, or stop it. Your question stays in the box."));
    else if (this.start.unreadable) {
      this.held = typed();
      pin(this.column, "held", waiting("Nothing has been read yet.", "Your question is asked once a document has been read, unless you change it."));
    } else {
      this.unhold();
      return false;
    }
    return true;
  }

  unhold() {
    this.held = undefined;
    pin(this.column, "held", null);
  }

  // A question that waits for the first document is asked, or given back to its writer.
  askHeld() {
    if (this.held === undefined || this.start.unread) return;
    const held = this.held;
    this.unhold();
    if (typed() === held) send();
  }

  say(id, card, after) {
    const turn = this.turns.get(id)?.element;
    if (turn?.isConnected) say(turn, card, after);
  }

  // A turn of a branch that is not shown (any more).
  drop(id) {
    this.stopFollowing.get(id)?.();
    this.stopFollowing.delete(id);
    this.turns.get(id).element.remove();
    this.turns.delete(id);
    this.edits.delete(id);
  }

  // The turn that a question asked now comes after, "" where none is shown.
  get last() {
    return [...this.path].at(-1) ?? "";
  }

  // What the rest of the page has to know: how many questions there are, and whether one is being answered.
  tell(title) {
    const all = [...this.path].map((id) => this.turns.get(id).data);
    const { busy } = this;
    for (const made of this.column.querySelectorAll("[data-rests]")) rest(made, busy);
    if (!busy) {
      pin(this.column, "held", null);
      unsayBusy();
    }
    this.goOn(all.at(-1));
    this.await(all);
    const conversation = this.conversation;
    dispatchEvent(new CustomEvent("gw:thread", { detail: { conversation, turns: this.before.count + all.length, answered: this.before.count + all.filter(({ blocks }) => blocks?.length).length } }));
    if (title) dispatchEvent(new CustomEvent("gw:titled", { detail: { conversation, title } }));
  }

  // Draws a turn, or draws it anew where it is no longer what is shown; a new one before `anchor`, or at the end.
  put(turn, anchor = null) {
    const shown = this.turns.get(turn.id);
    turn.thought = this.thoughts[turn.id];
    const same = (a) => JSON.stringify([a.state, a.unsearched, a.partly, a.thought?.helpful]);
    const there = shown?.element.isConnected;
    if (there && this.edits.has(turn.id)) return; // what is being typed stays
    const followed = turn.state !== "live" || this.stopFollowing.has(turn.id);
    if (there && followed && same(shown.data) === same(turn)) {
      if (String(shown.data.versions) === String(turn.versions)) return;
      shown.data.versions = turn.versions;
      shown.element.querySelector(".gw-tools")?.replaceWith(tools(turn, this.actions(turn)));
      return;
    }
    const element = drawTurn(turn, this.actions(turn));
    const focused = shown?.element.contains(document.activeElement);
    if (there) shown.element.replaceWith(element);
    else if (anchor) anchor.before(element);
    else this.column.append(element, ...pinned(this.column));
    this.turns.set(turn.id, { data: turn, element });
    if (there) this.cited.mark();
    if (focused) element.focus({ preventScroll: true });
    clampQuestion(element.querySelector(".gw-q"));
    if (turn.state === "live" && !this.stopFollowing.has(turn.id)) {
      if (!this.fresh) closeCitation(); // the page follows the newest answer
      this.stopFollowing.set(turn.id, follow(turn, element, () => this.grown(turn), (whole) => this.finished(whole), () => this.lost(turn.id)));
      if (!this.edits.size) this.scroll.toTop(element); // what is being typed stays in sight
    }
  }

  actions(turn) {
    return {
      everywhere: () => this.everywhere(turn),
      retry: () => this.again(turn, turn.question).then((failed) => failed && this.say(turn.id, failed, ".gw-line")),
      edit: () => this.edit(turn),
      show: (other, step) => this.showVersion(turn, other, step),
      stop: () => this.stop(turn),
      later: {
        wanted: sessionStorage.getItem(LATER) === turn.id,
        wish: (on) => (on ? sessionStorage.setItem(LATER, turn.id) : sessionStorage.removeItem(LATER)),
      },
      thought: { given: this.thoughts[turn.id], told: (feedback) => (turn.thought = this.thoughts[turn.id] = feedback ?? undefined) },
      conversation: this.conversation,
    };
  }

  edit(turn) {
    const ids = [...this.turns.keys()];
    const below = ids.length - 1 - ids.indexOf(turn.id);
    const head = this.turns.get(turn.id).element.querySelector(".gw-ask");
    this.edits.add(turn.id);
    const ask = (question) => this.again(turn, question, () => this.edits.delete(turn.id));
    const ended = () => {
      this.edits.delete(turn.id);
      this.refresh();
    };
    editQuestion(head, turn, { ask, ended, below });
  }

  // The question goes to each document on its own, as the column of a grid.
  async everywhere(turn) {
    unsay(this.column);
    const made = await answered(() => post("/grids/ask", { question: turn.standalone || turn.question }));
    if (made.refused) this.say(turn.id, errorCard(made.refused), ".gw-line");
    else location.assign(pageUrl("grid", { g: made.id }));
  }

  // Whether it could not be stopped.
  async stop(turn) {
    unsay(this.column);
    const { refused } = await answered(() => post(`/answers/${turn.id}/stop`));
    if (refused) this.say(turn.id, errorCard(refused), ".gw-live");
    return Boolean(refused);
  }

  // What could be asked next stands below the last answer, as soon as that is written.
  goOn(last) {
    if (this.busy || last?.state !== "complete") this.next.hide();
    else this.next.show(this.conversation, last.id, this.turns.get(last.id).element);
  }

  // While the rest of a document is read, what became of it is looked at; an answer that is wanted anew then is asked
  // for, unless something was asked after it.
  await(all) {
    clearTimeout(this.soon);
    const reading = ({ partly }) => partly?.some(({ state }) => state === "reading");
    if (all.some(reading)) this.soon = setTimeout(() => this.refresh(), LOOK);
    const last = all.at(-1);
    for (const { id } of all) this.turns.get(id).element.querySelector(".gw-partly label")?.toggleAttribute("hidden", id !== last.id);
    if (!last?.partly?.length || reading(last) || sessionStorage.getItem(LATER) !== last.id || this.busy) return;
    sessionStorage.removeItem(LATER);
    if (last.partly.some(({ state }) => state === "ready")) this.actions(last).retry();
  }

  // What was offered to go on with. An error comes back as a card.
  askNext(question) {
    return this.send({ question, after: this.last });
  }

  // Another version of a question, which is shown from now on. An error comes back as a card.
  again(turn, question, taken = () => {}) {
    return this.send({ question, instead_of: turn.id }, (made) => {
      taken();
      if (turn.id === this.first) this.first = made; // which takes its place
    });
  }

  async send(body, taken = () => {}) {
    unsay(this.column);
    const asked = await answered(() => post(`/conversations/${this.conversation}/questions`, { ...body, scope: this.scope }));
    if (asked.refused ?? asked.gone) return errorCard(asked.refused ?? asked.gone);
    taken(asked.turn);
    await this.refresh();
    changed(this.conversation);
    this.turns.get(this.last)?.element.focus({ preventScroll: true }); // what had the focus is gone
    return null;
  }

  // The branch through another version of a turn; it stands where the turn stood, and so does the focus.
  async showVersion(turn, other, step) {
    const top = this.scroll.topOf(this.turns.get(turn.id).element);
    unsay(this.column);
    const failed = await this.switchTo(other);
    if (failed) return this.say(turn.id, errorCard(failed), ".gw-ask");
    if (turn.id === this.first) this.first = other; // which takes its place
    await this.refresh();
    changed(this.conversation);
    const shown = this.turns.get(other)?.element;
    if (!shown) return; // changed again meanwhile
    this.scroll.goTo(shown, top);
    shown.querySelector(`[data-step="${step}"]`)?.focus({ preventScroll: true });
  }

  // Makes the branch through a turn the one that is shown, which is fetched by `refresh`. An error comes back.
  async switchTo(turn) {
    const { refused, gone } = await answered(() => post(`/conversations/${this.conversation}/shown`, { turn }));
    return refused ?? gone;
  }

  finished(whole) {
    this.stopFollowing.get(whole.id)?.();
    this.stopFollowing.delete(whole.id);
    this.put(whole);
    this.tell();
    this.grown(whole);
    if (!this.cited.current && whole.id === this.last) this.cited.look(whole);
  }

  // Nothing more is told about an answer, as after a restart of the server: what became of it is asked once more.
  lost(id) {
    const later = setTimeout(() => {
      this.stopFollowing.delete(id);
      this.refresh();
    }, AGAIN);
    this.stopFollowing.set(id, () => clearTimeout(later));
  }

  clicked(event) {
    const chip = event.target.closest("a.gw-cite");
    if (!chip) return;
    event.preventDefault();
    this.cards.hide();
    if (chip.dataset.turn === START) this.opened(true);
    this.cited.open(chip.dataset.turn, Number(chip.dataset.n), chip, event.shiftKey);
  }

  // The citation that the address names is opened: after a reload, or by a link (`copyLink`), which may lead to an answer
  // of a version that is not shown.
  async reopen() {
    const { linked, turn, n, number } = namedInAddress();
    if (linked) {
      if (!this.turns.has(turn) && !(await this.showLinked(turn))) return false;
      this.scroll.toTop(this.turns.get(turn).element);
      if (!number && this.turns.get(turn).data.citations?.length) return this.cited.look(this.turns.get(turn).data, true), true;
    }
    const place = linked ? null : takeKept(PLACE, this.conversation);
    for (const wanted of [turn, place?.turn]) if (wanted && !this.turns.has(wanted) && this.before.count) await this.loadSince(wanted);
    const left = place && this.turns.get(place.turn)?.element;
    const opened = Boolean(turn) && this.cited.reopen(turn, n, !left);
    if (left) this.scroll.goTo(left, place.top);
    return opened;
  }

  async showLinked(turn) {
    const failed = await this.switchTo(turn);
    if (failed) {
      pin(this.column, "linked", errorCard({ message: "This link’s answer can’t be shown.", hint: failed.message }));
      return false;
    }
    await this.loadSince(turn);
    return this.turns.has(turn);
  }

  grown(turn) {
    this.cited.grown(turn);
    this.scroll.grown();
  }
}
