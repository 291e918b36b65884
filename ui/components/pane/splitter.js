// The border between what stands left of the page viewer and the viewer: dragged, or moved with the arrow keys. How wide
// it was made is kept in the browser for Chat, Reports, Grid, Check and Explore each, and set before the first paint
// (ui/server/web.py).

import { h } from "../shared/dom.js";

const STEP = 32;
const LEAST = 320; // CSS pixels that either side keeps
const PLOT = 352; // and Explore's plot
const root = document.documentElement;

export function splitter() {
  const bar = h("div", { class: "gw-splitter", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": "Width of the page", title: "Drag to resize, double-click to reset" });
  const now = () => Math.round((bar.closest(".st-key-gw_pane") ?? bar.parentElement).getBoundingClientRect().width);
  const split = () => bar.closest(".st-key-gw_split");
  const name = () => (split() ? ["report", "grid", "check"].find((one) => split().querySelector(`.st-key-${one}`)) ?? "chat" : "explore");
  // What the two sides share: in Explore the plot and the page, as the passage beside them keeps its width.
  const room = () => split()?.clientWidth ?? (document.querySelector(".gw-explore .cv")?.clientWidth ?? innerWidth) + now();
  const limits = () => [LEAST, Math.max(LEAST, room() - (split() ? LEAST : PLOT))];
  const say = () => {
    const [least, most] = limits();
    for (const [name, value] of [["min", least], ["max", most], ["now", Math.min(Math.max(now(), least), most)]]) bar.setAttribute(`aria-value${name}`, String(value));
    bar.setAttribute("aria-valuetext", `${now()} pixels`);
  };
  const set = (width) => {
    const [least, most] = limits();
    root.style.setProperty(`--pane-${name()}`, `${Math.round(Math.min(Math.max(width, least), most))}px`);
    say();
  };
  const keep = () => localStorage.setItem(`gw.pane.${name()}`, String(now()));
  const reset = () => {
    root.style.removeProperty(`--pane-${name()}`);
    localStorage.removeItem(`gw.pane.${name()}`);
    say();
  };
  bar.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.focus({ preventScroll: true });
    const [from, width] = [event.clientX, now()];
    const move = ({ clientX }) => set(width + from - clientX);
    bar.addEventListener("pointermove", move);
    const end = () => {
      bar.removeEventListener("pointermove", move);
      keep();
    };
    bar.addEventListener("lostpointercapture", end, { once: true });
  });
  bar.addEventListener("dblclick", reset);
  bar.addEventListener("focus", say);
  bar.addEventListener("keydown", (event) => {
    const [least, most] = limits();
    const to = { ArrowLeft: now() + STEP, ArrowRight: now() - STEP, Home: least, End: most }[event.key];
    if (event.key !== "Enter" && to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined) return reset();
    set(to);
    keep();
  });
  new ResizeObserver(() => bar.isConnected && say()).observe(bar);
  return bar;
}
