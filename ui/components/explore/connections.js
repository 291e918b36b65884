// The map of connections: the names and passages that the walk of a question went through, as a picture, and the same
// as a list. One node at a time is in the order of the Tab key; the arrows go to the nearest in their direction.

import { h, plural, svg } from "../shared/dom.js";

const KINDS = { asked: "your words", name: "name", passage: "passage", used: "passage given to the writer", cited: "passage cited in the answer" };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LONGEST = 28; // characters of a label
const EDGE = 20; // above and below the nodes, in pixels
const SIDE = 0.11; // of the width, left and right of them: labels lie there
const LINE = 14; // height of a label
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);
const worded = ({ name, title, page }, several) => (name ? { words: name, text: cut(name, LONGEST) } : several ? { words: `${title}, p. ${page}`, text: `${cut(title, LONGEST - 8)}, p. ${page}` } : { words: `p. ${page}`, text: `p. ${page}` });
const named = ({ kind }) => kind === "asked" || kind === "name";

// Whether the line from a node to another goes through a box: the shares of it that lie between its sides meet.
function crosses([x0, y0, x1, y1], [a, b]) {
  let [low, high] = [0, 1];
  for (const [from, by, least, most] of [[a.px, b.px - a.px || 1e-9, x0, x1], [a.py, b.py - a.py || 1e-9, y0, y1]]) {
    low = Math.max(low, Math.min((least - from) / by, (most - from) / by));
    high = Math.min(high, Math.max((least - from) / by, (most - from) / by));
  }
  return low < high;
}

export class Connections {
  // `events`: name(node) was chosen; passage(row, focus) to open; leave()
  constructor(root, events) {
    this.events = events;
    this.root = root;
    this.nodes = [];
    this.pen = document.createElement("canvas").getContext("2d");
    this.picture = svg("svg", { class: "web", role: "application", "aria-label": "Map of connections", "aria-describedby": "gw-x-web", onkeydown: (event) => this.key(event) });
    this.hint = h("p", { class: "muted keys", id: "gw-x-web" }, ["↑", "↓", "←", "→"].map((key) => h("kbd", {}, key)), " move, ", h("kbd", {}, "Enter"), " opens, ", h("kbd", {}, "Esc"), " leaves");
    this.note = h("p", { class: "muted" });
    this.body = h("tbody");
    const head = ["Name or passage", "Kind", "Linked with"].map((name) => h("th", { scope: "col" }, name));
    this.list = h("details", { class: "aslist" }, h("summary", {}, "As a list"), h("table", { class: "xt" }, h("thead", {}, h("tr", {}, head)), this.body));
    root.replaceChildren(this.picture, h("div", { class: "ph" }, this.note, this.hint), this.list);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.picture);
  }

  close() {
    this.watch.disconnect();
  }

  show({ nodes, links, sentences }, several) {
    const held = this.picture.contains(document.activeElement);
    const at = this.nodes[this.at]?.key;
    this.sentences = sentences;
    this.nodes = nodes.map((node, id) => ({ ...node, id, linked: [], ...worded(node, several) }));
    this.links = links;
    for (const [one, other, sentence] of links) {
      this.nodes[one].linked.push({ node: this.nodes[other], sentence });
      this.nodes[other].linked.push({ node: this.nodes[one], sentence });
    }
    for (const node of this.nodes) {
      const [names, passages] = [true, false].map((of) => node.linked.filter(({ node: other }) => named(other) === of).length);
      node.said = `${node.words}, ${KINDS[node.kind]}, ${named(node) ? plural(passages, "passage") : plural(names, "name")}`;
    }
    this.at = Math.max(0, this.nodes.findIndex(({ key }) => key === at));
    this.note.textContent = this.nodes.length ? `${plural(this.nodes.filter(named).length, "name")}, ${plural(this.nodes.filter((node) => !named(node)).length, "passage")}. Larger ones are nearer to the question.` : "No name of the question, or of the passage nearest to it, leads anywhere.";
    this.picture.toggleAttribute("hidden", !this.nodes.length);
    this.list.hidden = this.hint.hidden = !this.nodes.length;
    this.body.replaceChildren(...this.nodes.map((node) => this.line(node)));
    this.drawn = 0;
    this.draw();
    if (held) this.focus(this.at);
  }

  line(node) {
    const button = h("button", { type: "button", class: "gw-linkish", onclick: ({ detail }) => this.choose(node, detail === 0) }, node.words);
    return h("tr", {}, h("th", { scope: "row" }, button), h("td", {}, KINDS[node.kind]), h("td", { class: "what" }, node.linked.map(({ node: other }) => other.words).join(" · ")));
  }

  // Drawing

  draw() {
    const { width, height } = this.picture.getBoundingClientRect();
    if (width < 40 || !this.nodes.length || this.drawn === `${width} ${height}`) return;
    const held = this.picture.contains(document.activeElement);
    this.drawn = `${width} ${height}`;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const node of this.nodes) {
      node.r = (named(node) ? 4 : 5) + 6 * node.size;
      node.px = width * (SIDE + node.x * (1 - 2 * SIDE));
      node.py = EDGE + node.y * (height - 2 * EDGE);
    }
    this.label(width, height);
    this.lines = this.links.map(([one, other, , way]) => {
      const [a, b] = [this.nodes[one], this.nodes[other]];
      return svg("line", { x1: a.px, y1: a.py, x2: b.px, y2: b.py, class: [named(a) && named(b) && "same", way && "way"].filter(Boolean).join(" ") });
    });
    this.picture.replaceChildren(svg("g", { class: "links", "aria-hidden": "true" }, this.lines), ...[...this.nodes].reverse().map((node) => this.mark(node)));
    this.current(this.match);
    if (held) this.focus(this.at);
  }

  mark(node) {
    const { px, py, r, words, text, spot } = node;
    const shape = named(node) ? svg("circle", { class: "shape", cx: px, cy: py, r }) : svg("rect", { class: "shape", x: px - r, y: py - 0.8 * r, width: 2 * r, height: 1.6 * r, rx: 3 });
    node.element = svg(
      "g",
      { class: `node ${node.kind}${spot.fits ? "" : " quiet"}`, role: "button", tabindex: node.id === this.at ? "0" : "-1", "aria-label": node.said, onclick: () => this.choose(node), onfocus: () => this.stand(node), onblur: () => this.light(null), onpointerenter: () => this.light(node), onpointerleave: () => this.light(null) },
      svg("title", {}, named(node) ? words : `${node.title}, p. ${node.page}: ${node.begins}`),
      svg("circle", { class: "hit", cx: px, cy: py, r: Math.max(12, r + 3) }),
      shape,
      svg("text", { x: spot.x, y: spot.y + 11, "aria-hidden": "true" }, text),
    );
    return node.element;
  }

  // Places of the labels: your words first, then the heaviest, each where it covers nothing, and no path if it can be;
  // one that fits nowhere waits until its node is looked at.
  label(width, height) {
    const taken = this.nodes.map(({ px, py, r }) => [px - r, py - r, px + r, py + r]);
    const free = ([x0, y0, x1, y1]) => x0 >= 0 && y0 >= 0 && x1 <= width && y1 <= height && taken.every((box) => box[2] <= x0 || box[0] >= x1 || box[3] <= y0 || box[1] >= y1);
    const paths = this.links.filter((link) => link[3]).map(([one, other]) => [this.nodes[one], this.nodes[other]]);
    const ui = getComputedStyle(this.root);
    for (const node of [...this.nodes].sort((a, b) => (b.kind === "asked") - (a.kind === "asked"))) {
      this.pen.font = `${node.kind === "asked" ? 620 : 450} ${ui.fontSize} ${ui.fontFamily}`;
      const [long, gap] = [this.pen.measureText(node.text).width + 2, node.r + 3];
      const middle = node.py - LINE / 2;
      const along = [node.px - long / 2, node.px - node.r, node.px + node.r - long];
      const ways = [[node.px + gap, middle], [node.px - gap - long, middle], ...[node.py + gap - 1, node.py - gap - LINE + 1].flatMap((y) => along.map((x) => [x, y]))];
      const box = ([x, y]) => [x, y, x + long, y + LINE];
      const fits = ways.filter((way) => free(box(way)));
      const found = fits.find((way) => !paths.some((path) => crosses(box(way), path))) ?? fits[0];
      const [x, y] = found ?? ways[node.px + gap + long > width ? 1 : 0];
      if (found) taken.push(box(found));
      node.spot = { x: Math.max(0, x), y, fits: Boolean(found) };
    }
  }

  // What a node is linked with stands out.
  light(node) {
    const near = new Set(node ? [node.id, ...node.linked.map(({ node: other }) => other.id)] : []);
    this.picture.classList.toggle("lit", Boolean(node));
    for (const other of this.nodes) other.element.classList.toggle("near", near.has(other.id));
    this.links.forEach(([one, other], at) => this.lines[at].classList.toggle("near", one === node?.id || other === node?.id));
  }

  // The node that is open; where its page closes, the focus goes back to it.
  current(match) {
    this.match = match;
    for (const node of this.nodes) node.element?.toggleAttribute("data-open", Boolean(match?.(node)));
  }

  held() {
    return this.picture.checkVisibility() ? this.picture.querySelector("[data-open]") : null;
  }

  // Moving

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const here = this.nodes[this.at];
    if (ARROWS[event.key]) {
      event.preventDefault();
      const next = this.beside(here, ARROWS[event.key]);
      if (next) this.focus(next.id);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(here, true);
    } else if (event.key === "Escape" && this.events.leave()) event.preventDefault();
  }

  beside(here, [right, down]) {
    const far = (node) => {
      const [dx, dy] = [node.px - here.px, node.py - here.py];
      const [along, across] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
      return along > 1 ? along + 2 * across : Infinity;
    };
    const best = this.nodes.reduce((found, node) => (far(node) < far(found) ? node : found), here);
    return best === here ? null : best;
  }

  focus(id) {
    this.nodes[id]?.element?.focus();
  }

  stand(node) {
    this.nodes[this.at]?.element.setAttribute("tabindex", "-1");
    node.element.setAttribute("tabindex", "0");
    this.at = node.id;
    this.light(node);
  }

  choose(node, focus = false) {
    this.at = node.id;
    if (named(node)) this.events.name(node, focus);
    else this.events.passage(node.row, focus);
  }

  // What the chosen name stands in, as a panel; `light(citation)` opens a sentence's page.
  tell(panel, node, light) {
    const turn = `name-${node.key}`;
    const held = (of) => node.linked.filter(({ node: other }) => named(other) === of);
    const places = [...held(false), ...held(true)].map(({ sentence }) => this.sentences[sentence]);
    const citations = [...new Set(places)].filter(Boolean).map((place, at) => ({ ...place, n: at + 1 }));
    const pressed = (n) => ({ detail }) => light({ turn, n, citations, peers: [], focus: detail === 0 });
    const beside = held(true).map(({ node: other }) => h("li", {}, h("button", { type: "button", class: "gw-btn sm", onclick: ({ detail }) => (this.focus(other.id), this.choose(other, detail === 0)) }, other.words)));
    panel.replaceChildren(
      h("div", { class: "ph" }, h("h2", { tabindex: "-1" }, node.words)),
      h("p", { class: "sec muted" }, `${KINDS[node.kind]}, ${plural(citations.length, "sentence")}`),
      h("ul", { class: "said-in", "aria-label": "Where it stands" }, citations.map(({ n, quote, label, title }) => h("li", {}, h("button", { type: "button", "data-path": turn, "data-n": n, onclick: pressed(n) }, h("span", { class: "q" }, quote), h("span", { class: "muted num" }, `p. ${label} of ${title}`))))),
      beside.length ? h("h3", {}, "In one sentence with it") : "",
      beside.length ? h("ul", { class: "beside" }, beside) : "",
    );
  }
}
