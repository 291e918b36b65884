// The card over a chip: the cited words, where they stand, the verdict, and the place itself. It opens below the line
// of the chip and never over the claim that it explains; above only where it fits there and not below.

import { getDocument, pictureUrl } from "../shared/api.js";
import { listening } from "../shared/bus.js";
import { h, icon } from "../shared/dom.js";
import { free } from "../shared/keys.js";
import { oneLine, quoted, verdict, where } from "../shared/quoted.js";
import { hasChanged, sinceMark, sinceSides } from "../shared/since.js";

const DELAY = 150;
const RESTING = 3; // CSS pixels that a pointer may move without being elsewhere
const CROP = { width: 440, height: 74, figure: 170 };

export class Cards {
  // `link(turn, n)` copies the address of a citation.
  constructor(flow, find, link) {
    this.flow = flow;
    this.find = find;
    this.link = link;
    this.card = null;
    this.timer = 0;
    this.at = [0, 0]; // where the pointer last moved to
    this.dismissed = null; // where it was as Esc was pressed
    this.hover = matchMedia("(hover: hover)").matches;
    const chip = (event) => event.target.closest?.("a.gw-cite");
    flow.addEventListener("mouseover", (event) => this.hover && chip(event) && this.later(chip(event)));
    flow.addEventListener("mouseout", (event) => chip(event) && this.leave(event.relatedTarget));
    // An answer drawn again under a resting pointer sends mouseout and mouseover: what Esc closed stays closed until the
    // pointer moves away.
    const moved = ({ clientX: x, clientY: y }) => {
      this.at = [x, y];
      if (this.dismissed && Math.hypot(x - this.dismissed[0], y - this.dismissed[1]) > RESTING) this.dismissed = null;
    };
    flow.addEventListener("focusin", (event) => chip(event)?.matches(":focus-visible") && this.show(chip(event)));
    flow.addEventListener("focusout", ({ relatedTarget }) => this.card?.contains(relatedTarget) || this.hide());
    flow.addEventListener("scroll", () => this.card && this.hide(), { passive: true });
    for (const name of ["mouseover", "focusin"]) flow.addEventListener(name, (event) => this.turnTip(event.target.closest?.(".gw-verdict")));
    const escape = (event) => {
      const shown = this.card;
      if (event.key === "Escape") {
        this.hide(); // or what is about to be shown
        this.dismissed = this.at;
      } else if (shown && event.key === "c" && free(event) && document.activeElement === this.chip) this.copyLink();
      else return;
      if (shown) event.stopImmediatePropagation();
    };
    this.unlisten = listening([["pointermove", moved, { capture: true }], ["keydown", escape, { capture: true }]]);
  }

  close() {
    this.hide();
    this.unlisten();
  }

  // A tip opens to the left of its word, or to the right where it would stick out of the column.
  turnTip(verdict) {
    if (!verdict) return;
    const tip = verdict.querySelector(".tip");
    tip.classList.toggle("to-right", verdict.getBoundingClientRect().right + 24 - tip.offsetWidth < this.flow.getBoundingClientRect().left + 4);
  }

  later(chip) {
    clearTimeout(this.timer);
    if (this.chip === chip || this.dismissed) return;
    this.timer = setTimeout(() => this.show(chip), DELAY);
  }

  leave(to) {
    clearTimeout(this.timer);
    if (to && this.card?.contains(to)) return;
    this.timer = setTimeout(() => this.hide(), 120);
  }

  hide() {
    clearTimeout(this.timer);
    const card = this.card;
    this.card = this.chip = null;  // first: what leaves the page loses the focus, which hides the card
    card?.remove();
  }

  show(chip) {
    const found = this.find(chip.dataset.turn, Number(chip.dataset.n));
    if (!found?.citation || !chip.isConnected) return;
    this.hide();
    this.chip = chip;
    this.card = draw(found, chip, () => this.copyLink());
    this.card.addEventListener("mouseenter", () => clearTimeout(this.timer));
    this.card.addEventListener("mouseleave", (event) => this.leave(event.relatedTarget));
    this.flow.append(this.card);
    this.place(chip);
    crop(this.card.querySelector(".gw-crop"), found.citation).catch((error) => this.withoutPicture(error));
  }

  async copyLink() {
    const said = this.card.querySelector(".lk");
    const done = await this.link(this.chip.dataset.turn, Number(this.chip.dataset.n));
    said.replaceChildren(icon(done ? "check" : "error", "s14"), done ? "Link copied" : "The browser blocked it");
  }

  withoutPicture(error) {
    const frame = this.card?.querySelector(".gw-crop");
    if (!frame) return;
    frame.replaceWith(h("p", { class: "gone" }, error.message));
    this.place(this.chip);
  }

  // The card's height, after its quote gave up lines where there is no room for all of them. The verdict stays.
  fit(room) {
    const quote = this.card.querySelector("blockquote");
    quote?.style.removeProperty("-webkit-line-clamp");
    const over = this.card.offsetHeight - room;
    if (quote && over > 0) {
      const line = parseFloat(getComputedStyle(quote).lineHeight);
      quote.style.setProperty("-webkit-line-clamp", Math.max(1, Math.floor((quote.offsetHeight - over) / line)));
    }
    return this.card.offsetHeight;
  }

  place(chip) {
    const flow = this.flow.getBoundingClientRect();
    const claim = chip.closest(".gw-claim") ?? chip;
    const lines = [...claim.getClientRects()];
    const top = Math.min(...lines.map((r) => r.top));
    const bottom = Math.max(...lines.map((r) => r.bottom), chip.getBoundingClientRect().bottom);
    const [above, below] = [top - 6 - flow.top, flow.bottom - 4 - bottom - 6];
    const height = this.fit(Math.max(above, below));
    const y = height <= below || below >= above ? bottom + 6 : top - height - 6;
    const column = chip.closest(".col").getBoundingClientRect();
    const left = Math.max(column.left, Math.min(chip.getBoundingClientRect().left - 60, column.right - this.card.offsetWidth));
    this.card.style.top = `${y - flow.top + this.flow.scrollTop}px`;
    this.card.style.left = `${left - flow.left}px`;
  }
}

function draw({ turn, citation }, chip, link) {
  const claim = turn.claims?.[chip.closest(".gw-claim")?.dataset.claim];
  const [tone, sign, word] = verdict(claim?.status, turn.extractive);
  return h(
    "div",
    { class: "gw-card", role: "tooltip", "aria-label": `Citation ${citation.n}` },
    citation.boxes.length ? h("div", { class: "gw-crop gw-paper", style: `height:${citation.generated ? CROP.figure : CROP.height}px` }) : null,
    h(
      "div",
      { class: "in" },
      h("p", { class: "ti" }, h("b", {}, citation.title), h("span", { class: "num" }, where(citation))),
      citation.ocr != null && h("p", { class: "se num" }, `Read by OCR, ${citation.ocr}%`),
      h("p", { class: "se" }, citation.cell || citation.section.join(" › ")),
      citation.generated
        ? h("p", { class: "ai" }, h("b", { class: "gw-st off" }, icon("image", "s16"), "AI description"), h("span", {}, shorten(citation.quote)))
        : h("blockquote", {}, quoted(shorten(citation.quote))),
      chip.classList.contains("added") && h("p", { class: "ad" }, "Added by Groundwork: the answer had no citation here, and these words support it."),
      ...(hasChanged(citation) ? [h("p", { class: "ve" }, sinceMark()), sinceSides(citation)] : []),
      word && h("p", { class: "ve" }, h("span", { class: `gw-st ${tone}` }, icon(sign, "s16"), word), !turn.extractive && h("span", { class: "muted" }, claim.reason)),
      // From the keyboard it is the key C while the chip has the focus: the card itself cannot be entered.
      h("p", { class: "fo" }, h("button", { type: "button", class: "gw-linkish lk", tabindex: "-1", onclick: link }, icon("link", "s14"), "Copy link"), h("span", { class: "ks", "aria-hidden": "true" }, h("kbd", {}, "↵"), h("kbd", {}, "C"), h("kbd", {}, "Esc"))),
    ),
  );
}

const shorten = (text) => {
  const line = oneLine(text);
  return line.length > 320 ? `${line.slice(0, 320)}…` : line;
};

async function crop(frame, citation) {
  if (!frame) return;
  const first = citation.boxes[0];
  const { pages } = await getDocument(citation.doc, first[0]);
  const [width, height] = pages[first[0] - 1];
  // Words are shown as large as they read well, a figure as a whole.
  const whole = Math.min(CROP.width / (first[3] - first[1] + 16), CROP.figure / (first[4] - first[2] + 12), 1.3);
  const z = citation.generated ? whole : Math.max(0.8, Math.min(1.3, CROP.width / width));
  const middle = ((first[1] + first[3]) / 2) * z - CROP.width / 2;
  const x = citation.generated ? middle : Math.min(Math.max(0, first[1] * z - 40), Math.max(0, width * z - CROP.width));
  const y = citation.generated ? ((first[2] + first[4]) / 2) * z - CROP.figure / 2 : Math.max(0, ((first[2] + first[4]) / 2) * z - CROP.height / 2 + 4);
  const page = h("div", { class: "gw-crop-page", style: `width:${width * z}px;height:${height * z}px;left:${-x}px;top:${-y}px` });
  page.append(h("img", { src: pictureUrl(citation.doc, first[0], width * z), alt: "" }));
  for (const [on, x0, y0, x1, y1] of citation.boxes) {
    if (on !== first[0]) continue;
    page.append(h("i", { class: citation.generated ? "frame" : "", style: `left:${x0 * z}px;top:${y0 * z}px;width:${(x1 - x0) * z}px;height:${(y1 - y0) * z}px` }));
  }
  frame.append(page);
}
