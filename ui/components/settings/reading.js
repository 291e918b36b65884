// How documents are read: what of it can be changed while the library is open. It is one library for everybody, so that
// a change is kept at once.

import { h } from "../shared/dom.js";
import { card, choose, line } from "./parts.js";

export const PART = "gw-reading";

const MODES = [["auto", "Where needed"], ["force", "Every page"], ["off", "Off"]];

export function reading(page) {
  const { reading: now } = page.state;
  const change = (key, value) => page.put("reading", { changes: { [key]: value } });
  const language = page.typed("ocr.language", now["ocr.language"], { id: "gw-ocr-language", keep: (value) => change("ocr.language", value) });
  return h(
    "section",
    { id: PART },
    h("h2", {}, "Reading documents"),
    h("p", { class: "lead" }, "Kept at once, for everybody who uses this library. Documents that were read keep what was read; the Library names those that can be read better now."),
    card(
      line("Pages that are pictures (OCR)", "Where needed: pages without usable text. Every page takes seconds a page: for files whose text comes out garbled. Off: what is a picture is not read.", choose("Pages that are pictures", MODES, now["ocr.mode"], (value) => change("ocr.mode", value), "ocr-mode")),
      line("Their language", "en, ch, japan, and most languages in Latin letters, such as de, fr or es, work at once; others need a model on this machine.", language.element, { for: "gw-ocr-language", class: "short" }),
    ),
  );
}
