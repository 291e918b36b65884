// Invisible words over a page's picture, so that they can be selected and copied. SVG text takes the width that it is
// told, so that a word lies exactly over its picture whatever its typeface; the layer scales and turns with the page.

import { answered } from "../shared/api.js";
import { svg } from "../shared/dom.js";
import { getWords } from "./pictures.js";

const LATER = 200; // ms: nobody selects words on a page that rushes past
const BUSY = 1000; // ms for which words wait for a browser that has more to do

// Resolves to the words once they lie there, or to nothing where the page has gone meanwhile.
export async function addTextLayer(element, document, page) {
  await new Promise((done) => setTimeout(done, LATER));
  if (!element.isConnected) return null;
  const words = await answered(() => getWords(document, page));
  if (words.refused) return null; // the page can be read all the same, and whatever fails shows where it is asked for
  await idle(); // a thousand words take a frame or two
  if (!element.isConnected) return null;
  const [width, height] = document.pages[page - 1];
  const layer = svg("svg", { class: "gw-text", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const line of lines(words)) layer.append(drawLine(line, words));
  element.querySelector(".tiles").after(layer);
  element.gwWords = words;
  return words;
}

const idle = () => new Promise((done) => (window.requestIdleCallback ? requestIdleCallback(done, { timeout: BUSY }) : setTimeout(done)));

// Numbers of words that follow one another on a line, in reading order.
function lines(words) {
  const out = [];
  for (const [i, word] of words.entries()) {
    const last = words[out.at(-1)?.at(-1)];
    const follows = last && word[0] >= last[0] && Math.abs(word[3] - last[3]) < 0.5 * (word[3] - word[1]);
    if (follows) out.at(-1).push(i);
    else out.push([i]);
  }
  return out;
}

function drawLine(line, words) {
  const text = svg("text", {});
  for (const [place, i] of line.entries()) {
    const [x0, y0, x1, y1, word, after] = words[i];
    const next = words[line[place + 1]];
    const near = after && next && next[0] - x1 < 0.8 * (y1 - y0);
    const end = near ? next[0] : x1; // a blank belongs to the word before it
    const part = svg("tspan", { x: x0, y: y1 - (y1 - y0) * 0.22, "font-size": (y1 - y0) * 0.9, textLength: Math.max(0.1, end - x0), lengthAdjust: "spacingAndGlyphs", "data-i": i });
    part.textContent = after ? `${word} ` : word;
    text.append(part);
  }
  return text;
}
