// The conversation: fetches it, draws its turns, follows the one that is being written.

import { ApiError, configure, get, post } from "../shared/api.js";
import { beforeAsking, holdAsking } from "../shared/asking.js";
import { closeCitation, lookAtCitation, openCitation } from "../shared/bus.js";
import { button, h, icon } from "../shared/dom.js";
import { changed } from "../shared/tabs.js";
import { copyLink } from "./copy.js";
import { follow } from "./live.js";
import { Cards } from "./card.js";
import { Next } from "./next.js";
import { clampQuestion, editQuestion, rest, tools } from "./question.js";
import { pin, pinned, say, unsay, unsayBusy } from "./said.js";
import { drawTurn, errorCard } from "./turn.js";
import { markPassage } from "./why.js";

const AGAIN = 400; // ms after an answer's events broke off

export function mount({ parentElement, data, setTriggerValue }) {
  configure(data);
  const thread = (parentElement.gwThread ??= new Thread(parentElement.querySelector(".gw-thread")));
  thread.show(data);
  const enough = beforeAsking(() => thread.last && setTriggerValue("seen", { conversation: data.conversation, after: thread.last }));
  const free = holdAsking(() => thread.hold());
  return () => {
    enough();
    free();
    thread.close();
  };
}

// Without a step of its own in the browser's history.
function nameInAddress(conversation) {
  const named = new URL(location.href);
  named.searchParams.set("c", conversation);
  history.replaceState(history.state, "", named);
}

class Thread {
  constructor(root) {
    this.root = root;
    this.flow = h("div", { class: "gw-flow", tabindex: "0", role: "log", "aria-label": "Conversation" });
    this.column = h("div", { class: "col" });
    this.flow.append(this.column);
    this.down = button("Newest", "keyboard_arrow_down", () => this.follow(), { class: "gw-btn icon gw-down", hidden: true });
    root.append(this.flow, this.down);
    this.turns = new Map(); // id → { data, element }
    this.path = new Set(); // ids of the turns of the branch that is shown
    this.edits = new Set(); // ids of the turns whose question is being edited, which stay until that ends
    this.conversation = undefined;
    this.stopFollowing = new Map();
    this.cards = new Cards(this.flow, (turn, n) => this.find(turn, n), (turn, n) => copyLink(this.conversation, turn, n));
    this.next = new Next((question) => this.askNext(question));
    this.thoughts = {}; // turn → what was thought of its answer
    this.flow.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.flow.addEventListener("click", (event) => this.clicked(event));
    this.listeners = [
      ["gw:opened", (event) => this.opened(event.detail)],
      ["focus", () => this.refresh()],
      ["gw:changed", ({ detail }) => !detail.here && detail.conversation === this.conversation && this.refresh()],
    ];
    for (const [name, listener] of this.listeners) addEventListener(name, listener);
  }

  close() {
    for (const stop of this.stopFollowing.values()) stop();
    this.stopFollowing.clear();
    this.cards.close();
    for (const [name, listener] of this.listeners) removeEventListener(name, listener);
  }

  show({ conversation, revision, empty, scope, name }) {
    this.scope = scope;
    if (conversation !== this.conversation) {
      for (const stop of this.stopFollowing.values()) stop();
      this.stopFollowing.clear();
      this.turns.clear();
      this.edits.clear();
      this.path.clear();
      this.column.replaceChildren();
      this.busy = false;
      this.conversation = conversation;
      if (name) nameInAddress(conversation);
      this.revision = undefined;
      this.following = false;
      this.fresh = true;
    }
    if (!conversation) {
      this.column.replaceChildren(h("div", { class: "gw-empty" }, icon("forum", "s24"), h("b", {}, "Ask your documents"), h("p", {}, empty)));
      closeCitation();
    } else if (revision !== this.revision) {
      const asked = this.revision !== undefined;
      this.revision = revision;
      this.refresh().then(() => asked && changed(conversation));
    }
  }

  async refresh() {
    const asked = this.conversation;
    if (!asked) return;
    let talk;
    try {
      talk = await get(`/conversations/${asked}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // What is shown stays; that it may be out of date is said below it.
      if (asked === this.conversation) pin(this.column, "stale", errorCard(error, () => this.refresh()));
      return;
    }
    if (asked !== this.conversation) return;
    if (talk.gone) {
      for (const id of [...this.turns.keys()]) this.drop(id);
      this.path.clear();
      this.column.replaceChildren(errorCard(talk.gone));
      return;
    }
    pin(this.column, "stale", null);
    if (!this.turns.size) this.column.replaceChildren();
    this.thoughts = talk.feedback;
    const path = (this.path = new Set(talk.turns.map((turn) => turn.id)));
    for (const id of [...this.turns.keys()]) if (!path.has(id) && !this.edits.has(id)) this.drop(id);
    for (const turn of talk.turns) this.put(turn);
    this.tell(talk.title);
    if (this.fresh) {
      this.fresh = false;
      if (talk.turns.length) this.toTop(talk.turns.at(-1).id);
      if (!(await this.reopen())) this.look(talk.turns.findLast((turn) => turn.citations?.length), true);
    } else if (this.current && !path.has(this.current.turn)) {
      this.look(talk.turns.findLast((turn) => turn.citations?.length)); // what was open stands in another version
    }
  }

  // Whether a question that is being sent has to wait, which is said.
  hold() {
    if (!this.busy) return false;
    const hint = "Wait for it or stop it. Your question stays in the field.";
    pin(this.column, "held", errorCard({ message: "The answer before is still being written.", hint }));
    return true;
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
    this.busy = all.some(({ state }) => state === "live");
    for (const made of this.column.querySelectorAll("[data-rests]")) rest(made, this.busy);
    if (!this.busy) {
      pin(this.column, "held", null);
      unsayBusy();
    }
    this.goOn(all.at(-1));
    const conversation = this.conversation;
    dispatchEvent(new CustomEvent("gw:thread", { detail: { conversation, turns: all.length, answered: all.filter(({ blocks }) => blocks?.length).length } }));
    if (title) dispatchEvent(new CustomEvent("gw:titled", { detail: { conversation, title } }));
  }

  // Draws a turn, or draws it anew where it is no longer what is shown.
  put(turn) {
    const shown = this.turns.get(turn.id);
    turn.thought = this.thoughts[turn.id];
    const same = (a) => JSON.stringify([a.state, a.unsearched, a.thought?.helpful]);
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
    else this.column.append(element, ...pinned(this.column));
    this.turns.set(turn.id, { data: turn, element });
    if (focused) element.focus({ preventScroll: true });
    clampQuestion(element.querySelector(".gw-q"));
    if (turn.state === "live" && !this.stopFollowing.has(turn.id)) {
      this.stopFollowing.set(turn.id, follow(turn, element, () => this.grown(turn), (whole) => this.finished(whole), () => this.lost(turn.id)));
      if (!this.edits.size) this.toTop(turn.id); // what is being typed stays in sight
    }
  }

  actions(turn) {
    return {
      retry: () => this.again(turn, turn.question).then((failed) => failed && this.say(turn.id, failed, ".gw-tally")),
      edit: () => this.edit(turn),
      show: (other, step) => this.showVersion(turn, other, step),
      stop: () => this.stop(turn),
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

  // Whether it could not be stopped.
  async stop(turn) {
    unsay(this.column);
    try {
      await post(`/answers/${turn.id}/stop`);
      return false;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.say(turn.id, errorCard(error), ".gw-live");
      return true;
    }
  }

  // What could be asked next stands below the last answer, as soon as that is written.
  goOn(last) {
    if (this.busy || last?.state !== "complete") this.next.hide();
    else this.next.show(this.conversation, last.id, this.turns.get(last.id).element);
  }

  // An error comes back as a card.
  async askNext(question) {
    unsay(this.column);
    try {
      const asked = await post(`/conversations/${this.conversation}/questions`, { question, scope: this.scope, after: this.last });
      if (asked.refused ?? asked.gone) throw new ApiError(200, asked.refused ?? asked.gone);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return errorCard(error);
    }
    await this.refresh();
    changed(this.conversation);
    this.turns.get(this.last)?.element.focus({ preventScroll: true }); // what had the focus is gone
    return null;
  }

  // Another version of a question, which is shown from now on. An error comes back as a card.
  async again(turn, question, taken = () => {}) {
    unsay(this.column);
    try {
      const asked = await post(`/conversations/${this.conversation}/questions`, { question, scope: this.scope, instead_of: turn.id });
      if (asked.refused ?? asked.gone) throw new ApiError(200, asked.refused ?? asked.gone);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return errorCard(error);
    }
    taken();
    await this.refresh();
    changed(this.conversation);
    this.turns.get(this.last)?.element.focus({ preventScroll: true }); // what had the focus is gone
    return null;
  }

  // The branch through another version of a turn; it stands where the turn stood, and so does the focus.
  async showVersion(turn, other, step) {
    const top = this.turns.get(turn.id).element.getBoundingClientRect().top;
    unsay(this.column);
    try {
      const { refused, gone } = await post(`/conversations/${this.conversation}/shown`, { turn: other });
      if (refused ?? gone) throw new ApiError(200, refused ?? gone);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.say(turn.id, errorCard(error), ".gw-ask");
      return;
    }
    await this.refresh();
    changed(this.conversation);
    const shown = this.turns.get(other)?.element;
    if (!shown) return; // changed again meanwhile
    this.flow.scrollBy({ top: shown.getBoundingClientRect().top - top, behavior: "instant" });
    shown.querySelector(`[data-step="${step}"]`)?.focus({ preventScroll: true });
  }

  finished(whole) {
    this.stopFollowing.get(whole.id)?.();
    this.stopFollowing.delete(whole.id);
    this.put(whole);
    this.tell();
    this.grown(whole);
    if (!this.current && whole.citations?.length) this.look(whole);
  }

  // Nothing more is told about an answer, as after a restart of the server: what became of it is asked once more.
  lost(id) {
    const later = setTimeout(() => {
      this.stopFollowing.delete(id);
      this.refresh();
    }, AGAIN);
    this.stopFollowing.set(id, () => clearTimeout(later));
  }

  // Beside an answer of which nothing has been opened stands the page of its first citation.
  look(turn, fresh = false) {
    if (turn) lookAtCitation({ turn: turn.id, n: turn.citations[0].n, citations: turn.citations, fresh });
    else closeCitation();
  }

  find(turnId, n) {
    const turn = this.turns.get(turnId)?.data;
    return turn && { turn, citation: turn.citations?.find((item) => item.n === n) };
  }

  clicked(event) {
    const chip = event.target.closest("a.gw-cite");
    if (!chip) return;
    event.preventDefault();
    this.cards.hide();
    this.open(chip.dataset.turn, Number(chip.dataset.n), chip, event.shiftKey);
  }

  open(turnId, n, chip = null, focus = false) {
    const found = this.find(turnId, n);
    if (!found?.citation) return;
    const claim = chip?.closest(".gw-claim")?.dataset.claim;
    const peers = claim === undefined ? [] : [...this.turns.get(turnId).element.querySelectorAll(`.gw-claim[data-claim="${claim}"] a.gw-cite`)].map((a) => Number(a.dataset.n));
    openCitation({ turn: turnId, n, citations: found.turn.citations, peers, focus });
  }

  // The pane has opened a citation (from a chip, or by its own next and previous) or a passage that was found.
  opened({ turn, n, passage }) {
    this.current = turn ? { turn, n } : null;
    this.mark();
    markPassage(this.column, passage);
    const query = new URL(location.href);
    if (turn) query.searchParams.set("cite", `${turn}-${n}`);
    else query.searchParams.delete("cite");
    history.replaceState(history.state, "", query);
  }

  mark() {
    for (const old of this.column.querySelectorAll("a.gw-cite[aria-current], .gw-claim.is-active")) {
      old.removeAttribute("aria-current");
      old.classList.remove("is-active");
    }
    const shown = this.current && this.turns.get(this.current.turn);
    if (!shown) return;
    for (const chip of shown.element.querySelectorAll(`a.gw-cite[data-n="${this.current.n}"]`)) {
      chip.setAttribute("aria-current", "true");
      const claim = chip.closest(".gw-claim");
      if (claim) for (const part of shown.element.querySelectorAll(`.gw-claim[data-claim="${claim.dataset.claim}"]`)) part.classList.add("is-active");
    }
  }

  // The citation that the address names is opened: after a reload, or by a link (`copyLink`), which may lead to an answer
  // of a version that is not shown.
  async reopen() {
    const address = new URL(location.href);
    const { t, n: number = "", cite } = Object.fromEntries(address.searchParams);
    const [turn, n] = t ? [t, number] : (cite?.split("-") ?? []);
    if (t) {
      for (const name of ["t", "n"]) address.searchParams.delete(name);
      history.replaceState(history.state, "", address);
      if (!this.turns.has(t) && !(await this.showLinked(t))) return false;
      this.toTop(t);
      if (!number && this.turns.get(t).data.citations?.length) return this.look(this.turns.get(t).data, true), true;
    }
    if (!turn || !this.find(turn, Number(n))?.citation) return false;
    const chip = this.turns.get(turn).element.querySelector(`a.gw-cite[data-n="${n}"]`);
    this.open(turn, Number(n), chip);
    chip?.scrollIntoView({ block: "center" });
    return true;
  }

  async showLinked(turn) {
    try {
      const { refused, gone } = await post(`/conversations/${this.conversation}/shown`, { turn });
      if (refused ?? gone) throw new ApiError(200, refused ?? gone);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      pin(this.column, "linked", errorCard({ message: "The answer that the link names cannot be shown.", hint: error.message }));
      return false;
    }
    await this.refresh();
    return this.turns.has(turn);
  }

  scrolled() {
    const atEnd = this.flow.scrollHeight - this.flow.scrollTop - this.flow.clientHeight < 60;
    this.down.hidden = atEnd;
    if (!atEnd) this.following = false;
  }

  grown(turn) {
    this.mark();
    if (turn.id === this.current?.turn) dispatchEvent(new CustomEvent("gw:more", { detail: { turn: turn.id, citations: turn.citations } }));
    if (this.following) this.toEnd();
    else this.scrolled();
  }

  // A new question goes to the top and stays there: what is being read does not move while text arrives below.
  toTop(id) {
    this.following = false;
    const { element } = this.turns.get(id);
    const first = element === this.column.firstElementChild;
    this.flow.scrollTo({ top: first ? 0 : element.offsetTop + 20, behavior: "instant" });
    this.scrolled();
  }

  follow() {
    this.toEnd();
    this.following = true;
  }

  toEnd() {
    this.flow.scrollTo({ top: this.flow.scrollHeight, behavior: "instant" });
  }
}
