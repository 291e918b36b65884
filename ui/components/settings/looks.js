// How it looks and where it lies: theme, keys, data, spend.

import { h, plural } from "../shared/dom.js";
import { setSingleKeys, singleKeys } from "../shared/keys.js";
import { card, line, toggle } from "./parts.js";

const THEMES = ["System", "Light", "Dark"];

// Streamlit keeps its theme in the browser by the path of a page, and reads it when the page is loaded.
const themeKey = (path) => `stActiveTheme-${path}-v2`;

function theme() {
  try {
    const kept = JSON.parse(localStorage.getItem(themeKey(location.pathname)) ?? '"System"');
    return THEMES.includes(kept) ? kept : "System";
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "System"; // something else stands there, which Streamlit does not take either
  }
}

function setTheme(chosen, paths) {
  for (const path of new Set([location.pathname, ...paths, ...paths.map((each) => (each.endsWith("/") ? each : `${each}/`))])) localStorage.setItem(themeKey(path), JSON.stringify(chosen));
  location.reload();
}

export function looks(page) {
  const now = theme();
  const swatch = (name) => {
    const radio = h("input", { type: "radio", name: "gw-theme", value: name, "data-focus": `theme ${name}`, onchange: () => setTheme(name, page.paths) });
    radio.checked = name === now;
    return h("label", { class: `tc${name === now ? " on" : ""}` }, radio, h("span", { class: `sw ${name.toLowerCase()}`, "aria-hidden": "true" }, h("i"), h("i"), h("i")), name);
  };
  const turn = (on) => {
    setSingleKeys(on);
    page.draw();
  };
  return h(
    "section",
    { id: "gw-looks" },
    h("h2", {}, "Appearance and keyboard"),
    card(
      line("Theme", "System follows your device. The page reloads.", h("div", { class: "tcs", role: "radiogroup", "aria-label": "Theme" }, THEMES.map(swatch))),
      line("Single-key shortcuts", "n and p for citations, / to search, ? for the list. Turn off if a screen reader or voice control types single letters.", toggle("Single-key shortcuts", singleKeys(), turn, "keys")),
    ),
  );
}

const size = (bytes) => (bytes < 2 ** 20 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : bytes < 2 ** 30 ? `${Math.round(bytes / 2 ** 20)} MB` : `${(bytes / 2 ** 30).toFixed(1)} GB`);

export function data(page) {
  const { data: at, spent, who } = page.state;
  const leaves = who.choice === "offline" ? ["Answers: nothing."] : [`Answers: your question, the conversation and the passages found, to ${who.host}.`];
  if (at.figures) leaves.push("When a document is read: pictures of its figures, for descriptions.");
  if (at.contexts) leaves.push("When a document is read: parts of its text, for summaries.");
  leaves.push("Pages, fonts and pictures come from this machine. There is no telemetry.");
  return h(
    "section",
    { id: "gw-data" },
    h("h2", {}, "Documents and data"),
    card(
      line("The library", `${plural(at.documents, "document")}, ${plural(at.pages, "page")}, ${plural(at.chunks, "passage")}, ${plural(at.conversations, "conversation")}: ${size(at.bytes)}`, h("code", { class: "at" }, at.home)),
      line("Saved settings", "A text file beside it that you can edit. Environment variables override it.", h("code", { class: "at" }, at.config)),
      line("What leaves this machine", h("span", {}, leaves.map((each) => h("span", { class: "ln" }, each))), null),
      line("Spent so far", spent.all ? h("span", {}, spent.parts.map((part) => h("span", { class: "ln num" }, part))) : "No paid model used yet.", h("b", { class: "num" }, spent.all ?? "$0")),
    ),
  );
}
