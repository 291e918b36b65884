// What lies over the words of a page: evidence in yellow, in four strengths, the numbers of citations, and matches of a
// search and the heading that was gone to in another colour. Places are in per cent of the page, so that they are exact at any zoom.

import { h } from "../shared/dom.js";
import { turnBox, turnedSize } from "./turns.js";

const ROOM = 24; // CSS pixels that a number needs beside a cell
const [WIDE, TALL] = [18, 17]; // and what it takes up
const SLIM = 11; // of a digit in a margin that is too narrow for that
const STEP = 6; // between the heights at which room is looked for
const FAR = 15; // of them, upwards and downwards
const APART = 24; // from the middle of one to that of the next, so that a finger meets the right one (WCAG 2.2, 2.5.8)

const share = (a, b) => `${(a / b) * 100}%`;

function percent([width, height], [, x0, y0, x1, y1]) {
  return `left:${share(x0, width)};top:${share(y0, height)};width:${share(x1 - x0, width)};height:${share(y1 - y0, height)}`;
}

// `lit` is { citation, here, peers }: the open one, all of this document, and the numbers in the same claim.
export function drawLights(element, page, { size, turn, z, lit, pick, words }) {
  for (const old of element.querySelectorAll(".gw-highlight, .gw-ring")) old.remove();
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
  drawTags(element, page, { size, turn, z, lit, pick, words });
}

// Numbers in the margin, one for each citation on the page, level with its first line as far as there is room: none lies
// over another, nor over a word while a place without one is near; a cell without such a place has a number only while it
// is open, beside it.
export function drawTags(element, page, { size, turn, z, lit, pick, words }) {
  const focused = element.contains(document.activeElement) && document.activeElement.dataset.n;
  for (const old of element.querySelectorAll(".gw-tag")) old.remove();
  if (!lit.here.length) return;
  const [width, height] = turnedSize(size, turn).map((points) => points * z);
  const pixels = (box) => turnBox(box, size, turn).slice(1).map((points) => points * z);
  const cited = lit.here.flatMap((item) => item.boxes.filter((box) => box[0] === page));
  const printed = (words ? words.map((word) => [page, ...word]) : cited).map(pixels);
  const placed = [];
  const over = (boxes, [x0, y0, x1, y1]) => boxes.some(([a0, b0, a1, b1]) => a0 < x1 && a1 > x0 && b0 < y1 && b1 > y0);
  const alone = ([x0, y0, x1, y1]) => {
    const beside = Math.max(0, APART - (x1 - x0)) / 2;
    return [x0 - beside, y0 - (APART - TALL) / 2, x1 + beside, y1 + (APART - TALL) / 2];
  };
  for (const item of lit.here) {
    const own = item.boxes.filter((box) => box[0] === page).map(pixels);
    if (!item.n || !own.length) continue;
    const open = lit.citation?.n === item.n;
    const [x0, y0, , y1] = own[0];
    const [, top, end, bottom] = own.at(-1);
    const [wide, middle] = [String(item.n).length > 2 ? WIDE + 6 : WIDE, (y0 + y1) / 2];
    const at = (x, y, across = wide) => [x, y - TALL / 2, x + across, y + TALL / 2];
    // On its own line: beside others where the margin has room, slim where it has little, in the other margin, behind its
    // words; then below, above, and wherever near there is room. Within a table a number would read as a value.
    const places = [0, 1, 2].map((column) => at(6 * z + column * Math.max(wide + 2, APART), middle));
    places.splice(1, 0, at(2, middle));
    if (item.n < 10) places.push(at(1, middle, SLIM));
    places.push(at(width - wide - 2, middle));
    if (!item.cell) places.push(at(end + 3, (top + bottom) / 2));
    for (const by of [1, 2, 3, -1, -2]) places.push(at(6 * z, middle + by * APART), at(2, middle + by * APART));
    for (let step = 0; step <= FAR; step++) for (const y of [middle + step * STEP, middle - step * STEP]) places.push(...(item.cell ? [] : [at(x0 - wide - 3, y)]), at(2, y), at(width - wide - 2, y));
    if (open && item.cell && own.length === 1 && words) places.unshift(at(x0 - ROOM + 2, middle));
    const inside = (place) => place[0] >= 0 && place[1] >= 0 && place[2] <= width && place[3] <= height && !over(placed, alone(place));
    const free = places.find((one) => inside(one) && !over(printed, one));
    if (!free && item.cell && !open) continue; // many cells of one table are cited: their numbers would hide its words
    const place = free ?? places.find(inside) ?? places[0];
    placed.push(alone(place));
    element.append(
      h(
        "button",
        {
          type: "button",
          class: `gw-tag${open ? " on" : lit.peers.includes(item.n) ? " claim" : ""}`,
          "aria-label": `Citation ${item.n}`,
          "data-n": item.n,
          style: `${place[2] - place[0] < WIDE - 1 ? `min-width:${SLIM}px;padding:0;` : ""}left:${share(place[0], width)};top:${share((place[1] + place[3]) / 2, height)}`,
          onclick: () => pick(item.n),
        },
        String(item.n),
      ),
    );
  }
  if (focused) element.querySelector(`.gw-tag[data-n="${focused}"]`)?.focus({ preventScroll: true });
}

// Words of a heading, which are no evidence.
export function drawHeading(element, page, size, boxes) {
  for (const old of element.querySelectorAll(".gw-heading")) old.remove();
  for (const box of boxes) if (box[0] === page) element.querySelector(".face").append(h("i", { class: "gw-heading", style: percent(size, box) }));
}

// Matches of a search on a page: [[number, boxes], …], `current` the number of the one that was gone to.
export function drawMatches(element, page, size, matches, current) {
  for (const old of element.querySelectorAll(".gw-match")) old.remove();
  const face = element.querySelector(".face");
  for (const [number, boxes] of matches) {
    for (const box of boxes) if (box[0] === page) face.append(h("i", { class: `gw-match${number === current ? " on" : ""}`, "data-match": number, style: percent(size, box) }));
  }
}
