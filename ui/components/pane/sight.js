// Which pictures are asked for first: those of the pages in sight, from the middle outwards, and when these are there those
// above and below.

import { awaited, drawTiles, drawWhole } from "./pictures.js";
import { turnBack } from "./turns.js";

// Asks for what the drawn pages of `pages` (a `Pages`) need, and returns whether one in sight is still waited for: then this
// is to be called again when it has come.
export function fillPictures(pages) {
  const { scrollTop, clientHeight } = pages.desk;
  const top = (page) => pages.tops[page - 1];
  const tall = (page) => pages.sizes[page - 1][1] * pages.scale(page);
  const away = (page) => Math.abs(top(page) + tall(page) / 2 - scrollTop - clientHeight / 2);
  const seen = (page) => top(page) < scrollTop + clientHeight && top(page) + tall(page) > scrollTop;
  const near = [...pages.drawn.keys()].sort((a, b) => away(a) - away(b));
  const sight = near.filter(seen);
  for (const page of sight) pictureOf(pages, page);
  if (sight.some((page) => awaited(pages.drawn.get(page).querySelector(".whole")))) return true;
  for (const page of near) if (!sight.includes(page)) pictureOf(pages, page);
  return false;
}

// Asks for the picture of one page, and where that is too coarse for tiles of the part that is in sight.
export function pictureOf(pages, page) {
  const { scrollTop, scrollLeft, clientHeight, clientWidth } = pages.desk;
  const element = pages.drawn.get(page);
  const [width] = pages.document.pages[page - 1];
  const z = pages.scale(page);
  drawWhole(element.querySelector(".whole"), pages.document, page, width * z);
  const [top, left] = [pages.tops[page - 1], pages.left(page)];
  const sight = [scrollLeft - left, scrollTop - top, scrollLeft + clientWidth - left, scrollTop + clientHeight - top].map((v) => v / z);
  drawTiles(element, pages.document, page, z, onPage(pages, page, sight));
}

// A part of the turned page, in points, as it lies on the page, cut at its edges.
function onPage(pages, page, [x0, y0, x1, y1]) {
  const size = pages.document.pages[page - 1];
  const a = turnBack(x0, y0, size, pages.turn);
  const b = turnBack(x1, y1, size, pages.turn);
  const cut = (v, i) => Math.min(Math.max(v, 0), size[i]);
  return [cut(Math.min(a[0], b[0]), 0), cut(Math.min(a[1], b[1]), 1), cut(Math.max(a[0], b[0]), 0), cut(Math.max(a[1], b[1]), 1)];
}
