// The draft's text with its marks. Offsets count characters as Python does. All of it goes in as text.

import { inLibrary } from "../shared/api.js";
import { h } from "../shared/dom.js";
import { hasChanged } from "../shared/since.js";

const STATUSES = {
  confirmed: ["c", "confirmed"],
  contradicted: ["x", "contradicted"],
  partly: ["p", "partly"],
  elsewhere: ["p", "found elsewhere"],
  not_found: ["n", "not found"],
};
const FAULTS = { total: "doesn’t add up", difference: "doesn’t add up", share: "doesn’t add up", twice: "given twice, differently" };
const JOINED = "\u2060"; // no line ends between a sentence and the word behind it
const FIGURE = /^\P{L}*\d\P{L}*\p{L}{0,3}$/u; // what a column of a table is set flush right for
const OUTSIDE_PLANES = /[\ud800-\udfff]/; // characters that are two units of a JavaScript string

// Whether words that a sentence was held against have changed since.
export const stale = (sentence) => (sentence.citations ?? []).some(hasChanged);

// Whether a sentence, with its own `faults`, is one of those that `filter` asks for.
export const fits = (filter, sentence, faults) => ({ fault: faults.length > 0, since: stale(sentence) })[filter] ?? sentence.status === filter;

export function cutter(text) {
  const all = OUTSIDE_PLANES.test(text) ? Array.from(text) : null;
  return (start, end) => (all ? all.slice(start, end).join("") : text.slice(start, end));
}

export class Draft {
  // `select(key, event)` is called with a sentence's number.
  constructor(element, select) {
    this.element = element;
    element.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-key]");
      if (!link || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      select(link.dataset.key, event);
    });
  }

  show({ id, text, blocks, spans, faults }) {
    Object.assign(this, { id, spans, faults, cut: cutter(text), wraps: [] });
    this.at = 0; // the next sentence that is not laid out yet
    const out = [];
    let list = null;
    let table = null;
    for (const block of blocks) {
      if (block.kind !== "item") list = null;
      if (block.kind !== "cell") table = null;
      if (block.kind === "cell") {
        if (table?.number !== block.table) out.push((table = this.table(block)).element);
        this.cell(table, block);
      } else if (block.kind === "item") {
        if (!list) out.push((list = h("ul", { class: "items" })));
        list.append(h("li", { style: `--in:${Math.max(0, block.level - 1)}` }, this.words(block)));
      } else if (block.kind === "heading") out.push(h(`h${Math.min(block.level + 1, 6)}`, {}, this.words(block)));
      else if (block.kind === "code") out.push(h("pre", {}, this.words(block)));
      else out.push(h("p", {}, this.words(block)));
    }
    this.element.replaceChildren(...out);
  }

  table(block) {
    const body = h("table");
    return { number: block.table, row: -1, body, element: h("div", { class: "tb gw-scroll", tabindex: "0", role: "group", "aria-label": "Table" }, body) };
  }

  cell(table, block) {
    const [row, col] = block.cell;
    if (row !== table.row) {
      table.body.append((table.line = h("tr")));
      table.row = row;
      table.col = 0;
    }
    for (; table.col < col; table.col += 1) table.line.append(h("td"));
    const named = block.header && block.span[1] > block.span[0];
    const figure = FIGURE.test(this.cut(...block.span)) && "figure";
    table.line.append(h(named ? "th" : "td", { scope: named && "col", class: figure }, this.words(block)));
    table.col = col + 1;
  }

  // A block's words: its sentences, each in an element of its own, and what stands between them.
  words({ span: [start, end] }) {
    const out = [];
    let at = start;
    for (; this.at < this.spans.length && this.spans[this.at][0] < end; this.at += 1) {
      const [from, to] = this.spans[this.at];
      if (from > at) out.push(...this.pieces(at, from));
      out.push((this.wraps[this.at] = h("span", { class: "w" }, h("span", { class: "s" }, ...this.pieces(from, to)))));
      at = to;
    }
    if (end > at) out.push(...this.pieces(at, end));
    return out;
  }

  // The draft's own characters, with the figures that do not agree.
  pieces(start, end, more = []) {
    const own = this.faults.flatMap(({ n, span, others }) => [[...span, "ft", n], ...others.map((other) => [...other, "fo", n])]);
    const marks = own.filter(([from, to]) => from < end && to > start).map(([from, to, cls, n]) => [Math.max(from, start) - start, Math.min(to, end) - start, cls, n]);
    return pieces(this.cut(start, end), [...marks, ...more]);
  }

  href(key) {
    return inLibrary({ d: this.id, s: key });
  }

  // Draws sentence `n` as it is now: its verdict, its own `faults`, and what was decided.
  mark(n, sentence, filter, faults) {
    const { status, decision, text } = sentence;
    const [start, end] = this.spans[n];
    const revised = Boolean(decision.revised);
    const more = (status === "contradicted" || status === "partly" ? sentence.corrections : []).map((one) => [one.start, one.end, "at"]);
    if (status === "partly") more.push(...sentence.missing.map(([from, to]) => [from, to, "at"]));
    const words = revised ? pieces(text, more) : this.pieces(start, end, more);
    const [mark, word] = STATUSES[status] ?? [status ? "" : "u", ""];
    const decided = [revised && "edited", decision.kind === "left" && "left as it is", decision.note && "noted"].filter(Boolean);
    const off = filter && !fits(filter, sentence, faults);
    const cls = ["s", mark, decision.kind === "left" && "left", off && "off"].filter(Boolean).join(" ");
    const named = word || FAULTS[faults[0]?.kind] || (decision.kind ? "decided" : "no claim");
    const title = named[0].toUpperCase() + named.slice(1);
    const body = word || faults.length || decision.kind || sentence.opinion ? h("a", { class: cls, href: this.href(n), "data-key": String(n), title }, ...words) : h("span", { class: cls }, ...words);
    const tone = { x: "bad", p: "weak", n: "off" }[mark];
    const said = [tone && decision.kind !== "left" ? word : "", ...decided].filter(Boolean).join(", ");
    const shown = said && !off && h("span", { class: `wd ${decision.kind === "left" ? "off" : (tone ?? "ok")}` }, said);
    const own = decision.kind === "left" ? [] : [...new Set(faults.map(({ kind }) => FAULTS[kind]))].map((one) => h("span", { class: "wd own" }, one));
    if (stale(sentence) && decision.kind !== "left") own.unshift(h("span", { class: "wd weak" }, "words changed since"));
    this.wraps[n].replaceChildren(body, ...(shown ? [JOINED, shown] : []), ...own);
  }

  // The element that has sentence `key`.
  link(key) {
    return this.element.querySelector(`a[data-key="${CSS.escape(key)}"]`);
  }

  current(key) {
    for (const old of this.element.querySelectorAll("a[data-key][aria-current]")) old.removeAttribute("aria-current");
    for (const old of this.element.querySelectorAll(".on")) old.classList.remove("on");
    this.link(key)?.setAttribute("aria-current", "true");
    for (const figure of this.element.querySelectorAll(`[data-fault~="${key}"]`)) figure.classList.add("on");
  }

  // Puts what belongs to `key` below the paragraph, item or table that has it.
  below(key, element) {
    const place = this.link(key)?.closest("p, li, pre, h2, h3, h4, h5, h6, .tb");
    if (!place) return element.remove();
    if (place.tagName === "LI") place.append(element);
    else place.after(element);
  }
}

// Text cut at its marks, [start, end, class, sentence of a fault], which may overlap.
function pieces(text, marks) {
  if (!marks.length) return [text];
  const cut = cutter(text);
  const length = Array.from(text).length;
  const ends = [...new Set([0, length, ...marks.flatMap(([start, end]) => [start, end])])].filter((at) => at >= 0 && at <= length).sort((a, b) => a - b);
  return ends.slice(0, -1).map((start, i) => {
    const here = marks.filter(([from, to]) => from <= start && to >= ends[i + 1]);
    const words = cut(start, ends[i + 1]);
    const faults = here.map(([, , , n]) => n).filter((n) => n !== undefined);
    return here.length ? h("span", { class: [...new Set(here.map(([, , cls]) => cls))].join(" "), "data-fault": faults.length > 0 && faults.join(" ") }, words) : words;
  });
}
