// A plot on a canvas, while a slider is dragged: Plotly lays everything out anew at each answer, which takes several
// frames. The figure is the same; its axes, which do not move, stay Plotly's, and when the slider is let go it draws.

const ROUND = 2 * Math.PI;
const ring = (corners, turn) => Array.from({ length: corners }, (_, at) => [Math.cos(turn + (at * ROUND) / corners), Math.sin(turn + (at * ROUND) / corners)]);
const CORNERS = {
  square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
  diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
  pentagon: ring(5, -Math.PI / 2),
  "triangle-up": ring(3, -Math.PI / 2).map(([x, y]) => [x * 1.15, y]),
  "triangle-down": ring(3, Math.PI / 2).map(([x, y]) => [x * 1.15, y]),
};
const DASH = /^[\d.]+(px)?( [\d.]+(px)?)*$/;

export class Sketch {
  constructor(node) {
    this.node = node;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "sketch";
    this.canvas.setAttribute("aria-hidden", "true");
  }

  // Draws `data` and `layout` (their colours resolved) over the plot that stands there; false where that cannot be.
  show(data, layout, chosen, marked, ink) {
    const { xaxis, yaxis, width, height } = this.node._fullLayout ?? {};
    if (!xaxis || data.length !== 2) return false;
    const own = Array.isArray(layout.xaxis.tickvals); // the numbers of the axis move too
    const same = (now, then) => Math.abs(now[0] - then[0]) + Math.abs(now[1] - then[1]) < 1e-6 * Math.abs(then[1] - then[0]);
    if (!same(layout.yaxis.range, yaxis.range) || !(own || same(layout.xaxis.range, xaxis.range))) return false;
    const scale = devicePixelRatio || 1;
    const { canvas } = this;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    if (!canvas.isConnected) this.node.append(canvas);
    this.pen = canvas.getContext("2d");
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.area = { left: xaxis._offset, top: yaxis._offset, width: xaxis._length, height: yaxis._length };
    this.x = { range: layout.xaxis.range, paper: (share) => this.area.left + share * this.area.width };
    this.y = { range: layout.yaxis.range, paper: (share) => this.area.top + (1 - share) * this.area.height };
    const shapes = layout.shapes ?? [];
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(this.area.left, this.area.top - 2, this.area.width, this.area.height + 4);
    this.pen.clip();
    for (const shape of shapes.filter(({ layer }) => layer === "below")) this.shape(shape);
    for (const trace of data) this.trace(trace, chosen);
    for (const trace of data) this.ring(trace, trace.customdata.indexOf(marked), ink);
    for (const shape of shapes.filter(({ layer }) => layer !== "below")) this.shape(shape);
    this.pen.restore();
    for (const words of layout.annotations ?? []) this.words(words, layout.font);
    if (own) this.ticks(layout.xaxis, layout.font);
    this.node.classList.add("sketched");
    this.node.classList.toggle("ticked", own);
    return true;
  }

  hide() {
    this.canvas.remove();
    this.node.classList.remove("sketched", "ticked");
  }

  at(axis, value, ref) {
    const { range, paper } = this[axis];
    return paper(ref === "paper" ? value : (value - range[0]) / (range[1] - range[0]));
  }

  shape({ type, xref, yref, x0, x1, y0, y1, line, fillcolor, opacity = 1 }) {
    const [left, right, high, low] = [this.at("x", x0, xref), this.at("x", x1, xref), this.at("y", y1, yref), this.at("y", y0, yref)];
    this.pen.globalAlpha = opacity;
    if (type === "rect" && fillcolor) {
      this.pen.fillStyle = fillcolor;
      this.pen.fillRect(left, high, right - left, low - high);
    }
    if (line?.width) {
      Object.assign(this.pen, { strokeStyle: line.color, lineWidth: line.width });
      this.pen.setLineDash(DASH.test(line.dash ?? "") ? line.dash.split(" ").map(parseFloat) : []);
      this.pen.beginPath();
      this.pen.moveTo(left, low);
      this.pen.lineTo(right, high);
      this.pen.stroke();
      this.pen.setLineDash([]);
    }
    this.pen.globalAlpha = 1;
  }

  trace({ x, y, customdata, marker }, chosen) {
    const of = (value, at) => (Array.isArray(value) ? value[at] : value);
    for (let at = 0; at < x.length; at += 1) {
      const symbol = of(marker.symbol, at);
      this.pen.globalAlpha = chosen && !chosen.has(Number(customdata[at])) ? 0.2 : 1;
      this.mark(symbol.replace("-open", ""), symbol.endsWith("-open"), this.at("x", x[at]), this.at("y", y[at]), of(marker.size, at) / 2, of(marker.color, at), marker.line?.width ?? 0);
    }
    this.pen.globalAlpha = 1;
  }

  mark(symbol, open, x, y, radius, colour, line) {
    const { pen } = this;
    Object.assign(pen, { fillStyle: colour, strokeStyle: colour, lineWidth: line });
    pen.beginPath();
    if (symbol === "line-ew") {
      pen.moveTo(x - radius * 1.4, y);
      pen.lineTo(x + radius * 1.4, y);
    } else if (CORNERS[symbol]) {
      for (const [dx, dy] of CORNERS[symbol]) pen.lineTo(x + dx * radius, y + dy * radius);
      pen.closePath();
    } else pen.arc(x, y, radius, 0, ROUND);
    if (!open && symbol !== "line-ew") pen.fill();
    if (line) pen.stroke();
  }

  ring({ x, y }, at, ink) {
    if (at < 0) return;
    Object.assign(this.pen, { strokeStyle: ink, lineWidth: 2 });
    this.pen.beginPath();
    this.pen.arc(this.at("x", x[at]), this.at("y", y[at]), 9, 0, ROUND);
    this.pen.stroke();
  }

  words({ text, x, y, xref, yref, xanchor, yanchor, xshift = 0, yshift = 0, font }, { family }) {
    const lines = text.split("<br>");
    const step = font.size * 1.3;
    const top = this.at("y", y, yref) - yshift - (lines.length - 1) * (yanchor === "bottom" ? step : step / 2);
    Object.assign(this.pen, { fillStyle: font.color, font: `${font.size}px ${family}`, textAlign: xanchor, textBaseline: yanchor });
    lines.forEach((line, at) => this.pen.fillText(line, this.at("x", x, xref) + xshift, top + at * step));
  }

  ticks({ tickvals, ticktext, tickcolor }, { family, size, color }) {
    const { pen } = this;
    const foot = this.area.top + this.area.height;
    Object.assign(pen, { fillStyle: color, strokeStyle: tickcolor, lineWidth: 1, font: `${size}px ${family}`, textAlign: "center", textBaseline: "top" });
    tickvals.forEach((value, at) => pen.fillText(ticktext[at], this.at("x", value), foot + 5));
  }
}
