// A document's words between quotation marks: marks inside of it become single ones (as ragcore/text/markdown.py does).

// A pair of straight marks: one alone may be inches.
const STRAIGHT = /(?<![^\s([{“‘—–/-])"(?=\S)([^"\n]*\S)"(?![\p{L}\p{N}_])/gu;

export function quoted(text) {
  const line = text.replace(STRAIGHT, "“$1”");
  const whole = line.startsWith("“") && line.endsWith("”") && line.split("“").length === 2 && line.split("”").length === 2;
  if (whole) return line;
  return `“${line.replace(/[“„‟]/g, (mark) => (mark === "„" ? "‚" : "‘")).replaceAll("”", "’")}”`;
}
