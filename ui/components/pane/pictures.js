// The picture of a page: one for the whole page, and over it, where that would be too coarse for the zoom and the screen,
// tiles of the part that is in sight.

import { answered, get, getFile, pictureUrl, url } from "../shared/api.js";
import { h, prose } from "../shared/dom.js";

const WHOLE = 1920; // pixels of width up to which a page is one picture
const AREA = 12e6; // and pixels in all
const UNDER = 1280; // width of the picture below tiles

let tiles = { side: 1024, widths: [] };

export function configureTiles(given) {
  tiles = given;
}

const limit = ([width, height]) => Math.min(WHOLE, Math.sqrt((AREA * width) / height));

const tiled = (size, pixels) => pixels > limit(size) * 1.02;

const coarse = (size, cssWidth) => tiled(size, cssWidth * devicePixelRatio);

// How wide the picture of a whole page is, in CSS pixels, for a face that is so wide.
const wholeWidth = (size, cssWidth) => (coarse(size, cssWidth) ? Math.min(UNDER, limit(size)) / devicePixelRatio : cssWidth);

// Shows page `page` of the document in `image` for a face so many CSS pixels wide. A sharper picture takes the place of
// the old one only when it has arrived.
export function drawWhole(image, document, page, cssWidth) {
  const size = document.pages[page - 1];
  if (coarse(size, cssWidth) && Number(image.dataset.width) >= UNDER) return;
  const width = wholeWidth(size, cssWidth);
  const source = pictureUrl(document.id, page, width);
  if (image.dataset.src === source) return;
  image.dataset.src = source;
  image.dataset.width = Math.round(width * devicePixelRatio);
  if (!image.src) {
    image.addEventListener("error", () => broken(image, source, document.id), { once: true });
    image.src = source;
    return;
  }
  image.gwNext?.removeAttribute("src");
  const next = (image.gwNext = new Image());
  next.onload = () => image.dataset.src === source && (image.src = source);
  next.src = source;
}

// Whether a picture was asked for that is not there yet.
export const awaited = (image) => image.hasAttribute("src") && !image.complete;

// Resolves when the picture is in the browser's cache, or cannot be had.
export function fetchWhole(document, page, cssWidth) {
  return new Promise((done) => {
    const image = new Image();
    image.onload = image.onerror = done;
    image.src = pictureUrl(document.id, page, wholeWidth(document.pages[page - 1], cssWidth));
  });
}

// Nothing more is fetched for a page that has gone out of sight.
export function dropPictures(face) {
  for (const image of face.querySelectorAll("img")) {
    if (!image.complete) image.removeAttribute("src");
    image.gwNext?.removeAttribute("src");
  }
}

// A picture that cannot be had says why on its page; of a document that was removed, `gw:removed` is told.
async function broken(image, source, id) {
  if (!image.isConnected || !image.getAttribute("src")) return;
  const { refused } = await answered(() => getFile(source));
  if (!refused) image.src = `${source}&again`;
  else if (refused.code === "removed") dispatchEvent(new CustomEvent("gw:removed", { detail: id }));
  else image.closest(".gw-page")?.append(h("p", { class: "gw-page-error", role: "alert" }, prose(`${refused.message} ${refused.hint}`)));
}

// Tiles over `face` for the part [x0, y0, x1, y1] of the page (points) that is in sight, `z` CSS pixels per point.
export function drawTiles(face, document, page, z, [x0, y0, x1, y1]) {
  const size = document.pages[page - 1];
  const [width, height] = size;
  const pixels = width * z * devicePixelRatio;
  const box = face.querySelector(".tiles");
  const wide = tiles.widths.find((w) => w >= pixels * 0.98) ?? tiles.widths.at(-1);
  if (box && (!tiled(size, pixels) || box.dataset.width !== String(wide))) box.replaceChildren();
  if (!box || !tiled(size, pixels) || x1 <= x0 || y1 <= y0) return;
  box.dataset.width = wide;
  const scale = wide / width;
  const last = (points, end) => Math.min(Math.ceil((points * scale) / tiles.side), Math.ceil((end * scale) / tiles.side)) - 1;
  const seen = new Set();
  for (let row = Math.max(0, Math.floor((y0 * scale) / tiles.side)); row <= last(y1, height); row++) {
    for (let column = Math.max(0, Math.floor((x0 * scale) / tiles.side)); column <= last(x1, width); column++) seen.add(`${column}-${row}`);
  }
  for (const old of [...box.children]) {
    if (seen.delete(old.dataset.at)) continue;
    if (!old.complete) old.removeAttribute("src");
    old.remove();
  }
  for (const at of seen) box.append(tile(document, page, wide, at, [wide, height * scale]));
}

function tile(document, page, wide, at, [across, down]) {
  const [column, row] = at.split("-").map(Number);
  const share = (a, b) => `${(a / b) * 100}%`;
  const image = h("img", { alt: "", "data-at": at, draggable: "false", style: `left:${share(column * tiles.side, across)};top:${share(row * tiles.side, down)}` });
  image.addEventListener("load", () => {
    image.style.width = share(image.naturalWidth, across);
    image.style.height = share(image.naturalHeight, down);
  });
  image.src = url(`/documents/${document.id}/pages/${page}/tiles/${wide}/${at}.png`);
  return image;
}

// Words of a page: [x0, y0, x1, y1, text, after], fetched once.
const words = new Map();

export function getWords(document, page) {
  const of = document.pages.length; // they are numbered anew when more of it is read
  const key = `${document.id} ${page} ${of}`;
  if (!words.has(key)) {
    const asked = get(`/documents/${document.id}/pages/${page}/words`, { of });
    words.set(key, asked);
    asked.catch(() => words.delete(key));
    if (words.size > 200) words.delete(words.keys().next().value);
  }
  return words.get(key);
}
