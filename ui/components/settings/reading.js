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
    h("p", { class: "lead" }, "Saved at once for everyone who uses this library. Documents already read stay as they are; the Library lists those worth reading again."),
    card(
      line("OCR for scanned pages", "Where needed: pages without usable text. Every page: for garbled files; takes seconds per page. Off: scans aren’t read.", choose("OCR for scanned pages", MODES, now["ocr.mode"], (value) => change("ocr.mode", value), "ocr-mode")),
      line("OCR language", "en, ch, japan and most Latin-script languages (de, fr, es …) work at once. Others need a model on this machine.", language.element, { for: "gw-ocr-language", class: "short" }),
    ),
  );
}
