// What is looked at, as it stands in the page's address.

import { inLibrary } from "../shared/api.js";

export const VIEWS = { documents: "Documents", passages: "Passages", map: "Map", connections: "Connections" };
export const NUMBERS = { relevance: "Relevance", vector: "Meaning", bm25: "Words", fused: "Fused", rerank: "Read" };

// The parts of the state that the address names, and the chunk that is to be open (null: none).
export function read(address) {
  const given = new URLSearchParams(address);
  const settings = (name) => Object.fromEntries((given.get(name) ?? "").split(",").filter(Boolean).map((part) => {
    const [key, value] = part.split(":");
    return [key, Number.isNaN(Number(value)) ? value : Number(value)];
  }));
  const state = { question: given.get("q") ?? "", docs: given.get("docs")?.split(",").filter(Boolean) ?? null, sections: sections(given.get("sections")), c: given.get("c") ?? "", turn: given.get("turn") ?? "", a: settings("a"), b: settings("b"), compare: given.has("compare"), kinds: given.has("kinds") };
  if (given.get("side") === "b") state.edit = "b";
  if (VIEWS[given.get("show")]) state.axis = given.get("show");
  if (NUMBERS[given.get("y")]) state.measure = given.get("y");
  if (given.get("colour") === "relevance") state.colour = "relevance";
  const view = given.get("view")?.split(",").map(Number);
  if (view?.every(Number.isFinite)) state.view = view;
  return { state, chunk: given.has("chunk") ? Number(given.get("chunk")) : null };
}

// Sections of documents, as a scope has them; no heading has a tab or a line break.
function sections(text) {
  return (text ?? "").split("\t").filter(Boolean).map((part) => {
    const [document, ...path] = part.split("\n");
    const [doc_id, start, end] = document.split(",");
    return { doc_id, start: Number(start), end: Number(end), path };
  });
}

export function write(state, chunk) {
  const { question, docs, sections, c, turn, a, b, edit, compare, axis, measure, colour, view, kinds } = state;
  const settings = (chosen) => Object.entries(chosen).map(([key, value]) => `${key}:${value}`).join(",");
  const parts = { q: question, docs: docs?.join(","), sections: sections.map(({ doc_id, start, end, path }) => [`${doc_id},${start},${end}`, ...path].join("\n")).join("\t"), c: question ? "" : c, turn: question ? "" : turn, a: settings(a), b: settings(b), side: edit === "b" ? "b" : "", compare: compare ? "1" : "", kinds: kinds ? "1" : "", show: axis, y: measure === "relevance" ? "" : measure, colour: colour === "documents" ? "" : colour, view: view?.map((v) => Number(v.toPrecision(6))).join(","), chunk: chunk ?? "" };
  const text = new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== "" && value !== undefined && value !== null)).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  const named = inLibrary();
  const shown = text ? `${named ? `${named}&` : "?"}${text}` : named;
  if (shown !== location.search) history.replaceState(history.state, "", `${location.pathname}${shown}`);
}
