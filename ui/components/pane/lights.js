// What lies over the words of a page: evidence in yellow, in four strengths, the numbers of citations, and matches of a
// search in another colour. Places are in per cent of the page, so that they are exact at any zoom.

import { h } from "../shared/dom.js";
import { turnBox, turnedSize } from "./turns.js";

const ROOM = 24; // CSS pixels that a number needs beside a cell

const share = (a, b) => `${(a / b) * 100}%`;

export function percent([width, height], [, x0, y0, x1, y1]) {
  return `left:${share(x0, width)};top:${share(y0, height)};width:${share(x1 - x0, width)};height:${share(y1 - y0, height)}`;
}

// `lit` is { citation, here, peers }: the open one, all of this document, and the numbers in the same claim.
export function drawLights(element, page, { size, turn, z, lit, pick, words }) {
  for (const old of element.querySelectorAll(".gw-highlight, .gw-ring, .gw-tag")) old.remove();
  const face = element.querySelector(".face");
  const { citation, here, peers } = lit;
  // What is lit for an AI description is the figure: framed, so that its colours can be read.
  const add = (box, item, role) => face.append(h("i", { class: `gw-highlight${item.generated ? " frame" : ""}`, "data-page": page, "data-n": item.n, "data-role": role, style: percent(size, box) }));
  const on = (boxes) => boxes.filter((box) => box[0] === page);
  for (const item of here) {
    if (item.n !== citation?.n && peers.includes(item.n)) for (const box of on(item.boxes)) add(box, item, "claim");
  }
  if (citation) {
    for (const box of on(citation.heads)) add(box, citation, "head");
    for (const box of on(citation.boxes)) add(box, citation, citation.n ? "cited" : "passage");
    if (citation.boxes.length === 1 && on(citation.boxes).length) face.append(h("i", { class: "gw-ring", style: percent(size, citation.boxes[0]) }));
  }
  const items = here.filter((item) => item.n && on(item.boxes).length);
  element.append(...tags(page, items, { size, turn, z, lit, pick, words }));
}

// Numbers in the margin, one for each citation on the page, side by side where they share a line; that of an open cell
// stands beside it where no word is.
function tags(page, items, { size, turn, z, lit, pick, words }) {
  const [width, height] = turnedSize(size, turn);
  const placed = [];
  return items.map((item) => {
    const own = item.boxes.filter((box) => box[0] === page).map((box) => turnBox(box, size, turn));
    const [, x0, y0, , y1] = own[0];
    const middle = (y0 + y1) / 2;
    const open = lit.citation?.n === item.n;
    const peer = lit.peers.includes(item.n);
    const beside = open && item.cell && own.length === 1 && words && free(words, size, turn, x0 - ROOM / z, x0, y0, y1);
    let left = `calc(${share(x0, width)} - ${ROOM - 2}px)`;
    if (!beside) {
      const column = placed.filter((other) => Math.abs(other - middle) < 13).length;
      placed.push(middle);
      left = `calc(${share(6, width)} + ${column * 24}px)`;
    }
    return h(
      "button",
      {
        type: "button",
        class: `gw-tag${open ? " on" : peer ? " claim" : ""}`,
        "aria-label": `Citation ${item.n}`,
        style: `left:${left};top:${share(middle, height)}`,
        onclick: () => pick(item.n),
      },
      String(item.n),
    );
  });
}

// Whether no word stands in a part of the turned page.
function free(words, size, turn, x0, x1, y0, y1) {
  if (x0 < 0) return false;
  return words.every((word) => {
    const [, a0, b0, a1, b1] = turnBox([0, ...word], size, turn);
    return a1 <= x0 || a0 >= x1 - 0.5 || b1 <= y0 + 1 || b0 >= y1 - 1;
  });
}

// Matches of a search on a page: [[number, boxes], …], `current` the number of the one that was gone to.
export function drawMatches(element, page, size, matches, current) {
  for (const old of element.querySelectorAll(".gw-match")) old.remove();
  const face = element.querySelector(".face");
  for (const [number, boxes] of matches) {
    for (const box of boxes) if (box[0] === page) face.append(h("i", { class: `gw-match${number === current ? " on" : ""}`, "data-match": number, style: percent(size, box) }));
  }
}
