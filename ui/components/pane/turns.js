// Quarter turns, clockwise, that a person gives to the pages of a document. All places stay in points of the page as the
// PDF displays it; only what is turned is computed here.

export const turnedSize = ([width, height], turn) => (turn % 2 ? [height, width] : [width, height]);

// A box [page, x0, y0, x1, y1] of a page of this size, as it lies on the turned page.
export function turnBox([page, x0, y0, x1, y1], [width, height], turn) {
  if (turn === 1) return [page, height - y1, x0, height - y0, x1];
  if (turn === 2) return [page, width - x1, height - y1, width - x0, height - y0];
  if (turn === 3) return [page, y0, width - x1, y1, width - x0];
  return [page, x0, y0, x1, y1];
}

// A point of the turned page, as it lies on the page.
export function turnBack(x, y, [width, height], turn) {
  if (turn === 1) return [y, height - x];
  if (turn === 2) return [width - x, height - y];
  if (turn === 3) return [width - y, x];
  return [x, y];
}

// Style of an element of the page's own shape (CSS pixels) that lies in one of the turned shape and fills it.
export function turnStyle(width, height, turn) {
  const move = ["", `translateX(${height}px) rotate(90deg)`, `translate(${width}px, ${height}px) rotate(180deg)`, `translateY(${width}px) rotate(270deg)`][turn];
  return `width:${width}px;height:${height}px;${move && `transform:${move}`}`;
}

// What was chosen for each document, for as long as the tab is open.
const KEY = "gw.turns";

const kept = () => JSON.parse(sessionStorage.getItem(KEY) ?? "{}");

export const turnOf = (id) => kept()[id] ?? 0;

export function keepTurn(id, turn) {
  sessionStorage.setItem(KEY, JSON.stringify({ ...kept(), [id]: turn }));
}
