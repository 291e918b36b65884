// Invisible words over a page's picture, so that they can be selected and copied. SVG text takes the width that it is
// told, so that a word lies exactly over its picture whatever its typeface; the layer scales with the page.

import { get } from "../shared/api.js";

const SVG = "http://www.w3.org/2000/svg";

export function addTextLayer(element, document, page) {
  // Only when the page has stayed for a moment: nobody selects words on a page that rushes past.
  setTimeout(async () => {
    if (!element.isConnected) return;
    const [width, height] = document.pages[page - 1];
    let words;
    try {
      words = await get(`/documents/${document.id}/pages/${page}/words`);
    } catch {
      return; // the page can be read all the same, and whatever fails shows where it is asked for
    }
    if (!element.isConnected) return;
    const layer = svg("svg", { class: "gw-text", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const line of lines(words)) layer.append(drawLine(line));
    element.querySelector("img").after(layer);
  }, 250);
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Words that follow one another on a line, in reading order.
function lines(words) {
  const out = [];
  for (const word of words) {
    const last = out.at(-1)?.at(-1);
    const follows = last && word[0] >= last[0] && Math.abs(word[3] - last[3]) < 0.5 * (word[3] - word[1]);
    if (follows) out.at(-1).push(word);
    else out.push([word]);
  }
  return out;
}

function drawLine(line) {
  const text = svg("text", {});
  for (const [i, [x0, y0, x1, y1, word]] of line.entries()) {
    const next = line[i + 1];
    const near = next && next[0] - x1 < 0.8 * (y1 - y0);
    const end = near ? next[0] : x1; // a blank belongs to the word before it
    const part = svg("tspan", { x: x0, y: y1 - (y1 - y0) * 0.22, "font-size": (y1 - y0) * 0.9, textLength: Math.max(0.1, end - x0), lengthAdjust: "spacingAndGlyphs" });
    part.textContent = next ? `${word} ` : `${word}\n`;
    text.append(part);
  }
  return text;
}
