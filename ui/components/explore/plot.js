// Plotly plots in the colours of the theme in force. The script comes with the app and is loaded when it is needed.

import { Sketch } from "./sketch.js";

const TOKEN = /^var\((--[\w-]+)\)$/;
let loading = null;

export function plotly(address) {
  loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => done(window.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      failed(new Error("The plot couldn’t be loaded."));
    };
    document.head.append(script);
  });
  return loading;
}

// Tokens as the colours that they are now: what light-dark() gives is only known of an element that has it.
function palette(node, known) {
  const probe = document.createElement("i");
  const colour = (token) => {
    if (!known.has(token)) {
      if (!probe.isConnected) node.append(probe);
      probe.style.color = `var(${token})`;
      known.set(token, getComputedStyle(probe).color);
    }
    return known.get(token);
  };
  return { colour, done: () => probe.remove() };
}

function painted(value, colour) {
  if (typeof value === "string") {
    const token = value.match(TOKEN)?.[1];
    return token ? colour(token) : value;
  }
  if (Array.isArray(value)) return value.map((item) => painted(item, colour));
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, painted(item, colour)]));
  return value;
}

// The numbers of a column, which may come packed: {dtype, bdata}.
const ARRAYS = { i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
function column(given) {
  if (given?.bdata === undefined) return given ?? [];
  const bytes = Uint8Array.from(atob(given.bdata), (character) => character.charCodeAt(0));
  return Array.from(new ARRAYS[given.dtype](bytes.buffer));
}

function drawn(trace, colour) {
  const { x, y, customdata, text, marker, ...rest } = trace;
  const packed = marker.color?.bdata === undefined ? {} : { color: column(marker.color) };
  return { ...painted(rest, colour), x: column(x), y: column(y), customdata: column(customdata), text: column(text), marker: { ...painted({ ...marker, ...(packed.color ? { color: null } : {}) }, colour), ...packed } };
}

export class Plot {
  // `events`: pick(row), selected(rows or null), moved(ranges or null)
  constructor(node, events) {
    this.node = node;
    this.events = events;
    this.figure = null;
    this.colours = new Map(); // of the theme in force, by token
    this.sketched = new Sketch(node);
    this.marked = null;
    this.chosen = null;
    this.drag = "zoom";
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(node);
    // The theme is Streamlit's: it sets color-scheme on the app.
    this.theme = new MutationObserver(() => this.recolour());
    const app = document.querySelector(".stApp");
    if (app) this.theme.observe(app, { attributes: true, attributeFilter: ["class", "style"] });
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.recoloured = () => this.recolour();
    this.scheme.addEventListener("change", this.recoloured);
  }

  close() {
    this.watch.disconnect();
    this.theme.disconnect();
    this.scheme.removeEventListener("change", this.recoloured);
    if (this.figure && window.Plotly) window.Plotly.purge(this.node);
    this.figure = null;
  }

  recolour() {
    const now = getComputedStyle(this.node).getPropertyValue("color");
    if (this.figure && now !== this.ink) this.draw(this.figure);
  }

  resized() {
    if (this.figure && window.Plotly && this.node.clientWidth > 40) window.Plotly.Plots.resize(this.node);
  }

  // `marked` is the row of the chunk that has a ring, null for none.
  async draw(figure, marked = this.marked) {
    this.figure = figure;
    this.marked = marked;
    const ink = getComputedStyle(this.node).getPropertyValue("color");
    if (ink !== this.ink) this.colours.clear();
    this.ink = ink;
    const { colour, done } = palette(this.node, this.colours);
    const data = figure.data.map((trace) => drawn(trace, colour));
    if (this.chosen) for (const trace of data) trace.selectedpoints = this.picked(trace);
    this.data = data;
    this.shapes = painted(figure.layout.shapes ?? [], colour);
    this.ring = colour("--text");
    const layout = { ...painted(figure.layout, colour), shapes: this.ringed(), selections: [], dragmode: this.drag, autosize: true, uirevision: null };
    done();
    await window.Plotly.react(this.node, data, layout, { displayModeBar: false, responsive: false, doubleClick: false, scrollZoom: false });
    this.sketched.hide();
    if (!this.listening) {
      this.listening = true;
      this.node.on("plotly_click", (event) => event.points[0]?.customdata !== undefined && this.events.pick(Number(event.points[0].customdata)));
      this.node.on("plotly_selected", (event) => this.selected(event));
      this.node.on("plotly_deselect", () => this.events.selected(null));
      this.node.on("plotly_relayout", (event) => this.relayout(event));
      this.node.on("plotly_doubleclick", () => this.events.moved(null));
    }
  }

  // The same without Plotly, within a frame, until the next `draw`; false where only that can draw it.
  sketch(figure) {
    if (!this.figure) return false;
    const { colour, done } = palette(this.node, this.colours);
    const data = figure.data.map((trace) => drawn(trace, colour));
    const shown = this.sketched.show(data, painted(figure.layout, colour), this.chosen, this.marked, this.ring);
    done();
    return shown;
  }

  relayout(event) {
    if (event["xaxis.range[0]"] === undefined) return;
    const { xaxis, yaxis } = this.node.layout;
    this.events.moved({ x: [...xaxis.range], y: [...yaxis.range] });
  }

  // Plotly says so of every redraw too, then with no points: only what somebody has drawn counts.
  selected(event) {
    if (!event?.selections?.length) return;
    const rows = event.points.map((point) => Number(point.customdata)).filter(Number.isFinite);
    if (rows.length !== this.chosen?.size || !rows.every((row) => this.chosen.has(row))) this.events.selected(rows.length ? rows : null);
  }

  // The chunks that are selected, null for all; they stay so however the plot is drawn anew.
  choose(rows) {
    const same = rows === this.chosen;
    this.chosen = rows;
    if (!this.figure || same) return;
    const selections = rows ? (this.node.layout.selections ?? []) : [];
    window.Plotly.update(this.node, { selectedpoints: this.data.map((trace) => this.picked(trace)) }, { selections });
  }

  picked(trace) {
    if (!this.chosen) return null;
    return trace.customdata.flatMap((row, at) => (this.chosen.has(Number(row)) ? [at] : []));
  }

  dragging(mode) {
    this.drag = mode;
    if (this.figure) window.Plotly.relayout(this.node, { dragmode: mode });
  }

  // A ring around the chunk at `row`, which may be out of sight.
  mark(row) {
    if (row === this.marked) return;
    this.marked = row;
    if (this.figure) window.Plotly.relayout(this.node, { shapes: this.ringed() });
  }

  ringed() {
    const at = this.place(this.marked);
    const ring = at && { type: "circle", xref: "x", yref: "y", xsizemode: "pixel", ysizemode: "pixel", xanchor: at[0], yanchor: at[1], x0: -9, x1: 9, y0: -9, y1: 9, line: { color: this.ring, width: 2 } };
    return ring ? [...this.shapes, ring] : this.shapes;
  }

  place(row) {
    if (row === null || row === undefined) return null;
    for (const trace of this.data) {
      const at = trace.customdata.indexOf(row);
      if (at >= 0) return [trace.x[at], trace.y[at]];
    }
    return null;
  }
}
