// Where the conversation stands in its window: a new question at the top, or what is being written followed to its end.

import { button } from "../shared/dom.js";

const AT_END = 60; // px from the end that count as at it
const SETTLED = 250; // ms without scrolling after which the way to the end is offered

export class Scroll {
  constructor(flow) {
    this.flow = flow;
    this.following = false;
    this.down = button("Newest", "keyboard_arrow_down", () => this.follow(), { class: "gw-btn icon gw-down", hidden: true });
    flow.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  scrolled() {
    const atEnd = this.flow.scrollHeight - this.flow.scrollTop - this.flow.clientHeight < AT_END;
    if (!atEnd) this.following = false;
    clearTimeout(this.later);
    if (atEnd) this.down.hidden = true;
    else if (this.down.hidden) this.later = setTimeout(() => this.offer(), SETTLED);
  }

  // Not under a pointer that is just pressing what the button would cover.
  offer() {
    if (this.flow.querySelector(":active")) this.later = setTimeout(() => this.offer(), SETTLED);
    else this.down.hidden = false;
  }

  // What is shown has become longer.
  grown() {
    if (this.following) this.toEnd();
    else this.scrolled();
  }

  // A new question goes to the top and stays there: what is being read does not move while text arrives below.
  toTop(turn) {
    this.following = false;
    const first = turn.previousElementSibling.hidden; // nothing stands before it
    this.flow.scrollTo({ top: first ? 0 : turn.offsetTop + 20, behavior: "instant" });
    this.scrolled();
  }

  follow() {
    this.toEnd();
    this.following = true;
  }

  toEnd() {
    this.flow.scrollTo({ top: this.flow.scrollHeight, behavior: "instant" });
  }

  // How far an element's top is below the upper edge of the window, in px.
  topOf(element) {
    return element.getBoundingClientRect().top - this.flow.getBoundingClientRect().top;
  }

  // The turn at the upper edge of the window, and how far its top is from that; undefined where there is none.
  place() {
    const edge = this.flow.getBoundingClientRect().top;
    const turn = [...this.flow.querySelectorAll(".gw-turn")].find((one) => one.getBoundingClientRect().bottom > edge);
    return turn && { turn: turn.dataset.turn, top: this.topOf(turn) };
  }

  // Puts an element's top where `topOf` said that it was, or another one's.
  goTo(element, top) {
    this.following = false;
    this.flow.scrollBy({ top: this.topOf(element) - top, behavior: "instant" });
    this.scrolled();
  }

  // Does what changes the height above an element, which stays where it is.
  keeping(element, change) {
    const top = this.topOf(element);
    change();
    this.goTo(element, top);
  }
}
