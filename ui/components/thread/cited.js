// The citations of the turns: which one is open, opening one, and its marks in the text.

import { closeCitation, lookAtCitation, openCitation } from "../shared/bus.js";
import { citeInAddress } from "./address.js";
import { START } from "./start.js";

export class Cited {
  // `shown(id)` is a turn that is shown, as `{ data, element }`.
  constructor(column, shown) {
    this.column = column;
    this.shown = shown;
    this.current = null; // { turn, n } of the one that is open
  }

  find(id, n) {
    const turn = this.shown(id)?.data;
    return turn && { turn, citation: turn.citations?.find((item) => item.n === n) };
  }

  open(id, n, chip = null, focus = false) {
    const found = this.find(id, n);
    if (!found?.citation) return;
    const claim = chip?.closest(".gw-claim")?.dataset.claim;
    const peers = claim === undefined ? [] : [...this.shown(id).element.querySelectorAll(`.gw-claim[data-claim="${claim}"] a.gw-cite`)].map((a) => Number(a.dataset.n));
    openCitation({ turn: id, n, citations: found.turn.citations, peers, focus });
  }

  // One that the address names, put in sight unless what was being read before is; whether it is there.
  reopen(id, n, insight) {
    if (!this.find(id, n)?.citation) return false;
    const chip = this.shown(id).element.querySelector(`a.gw-cite[data-n="${n}"]`);
    this.open(id, n, chip);
    if (insight) chip?.scrollIntoView({ block: "center" });
    return true;
  }

  // Beside an answer of which nothing has been opened stands the page of its first citation; beside one without any,
  // nothing is lit.
  look(turn, fresh = false) {
    const cites = Boolean(turn?.citations?.length);
    this.looked = cites ? turn.id : null;
    if (cites) lookAtCitation({ turn: turn.id, n: turn.citations[0].n, citations: turn.citations, fresh });
    else closeCitation();
  }

  // The pane has opened one, from a chip or by its own next and previous.
  opened({ turn, n }) {
    this.current = turn ? { turn, n } : null;
    this.mark();
    if (turn !== START) citeInAddress(turn, n);
  }

  // The text of an answer has become longer.
  grown(turn) {
    this.mark();
    if (!this.current && turn.citations?.length && this.looked !== turn.id) this.look(turn);
    if (turn.id === this.current?.turn) dispatchEvent(new CustomEvent("gw:more", { detail: { turn: turn.id, citations: turn.citations } }));
  }

  mark() {
    for (const old of this.column.querySelectorAll("a.gw-cite[aria-current], .gw-claim.is-active")) {
      old.removeAttribute("aria-current");
      old.classList.remove("is-active");
    }
    const shown = this.current && this.shown(this.current.turn);
    if (!shown) return;
    for (const chip of shown.element.querySelectorAll(`a.gw-cite[data-n="${this.current.n}"]`)) {
      chip.setAttribute("aria-current", "true");
      const claim = chip.closest(".gw-claim");
      if (claim) for (const part of shown.element.querySelectorAll(`.gw-claim[data-claim="${claim.dataset.claim}"]`)) part.classList.add("is-active");
    }
  }
}
