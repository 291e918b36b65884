// A document's words between quotation marks, where they are, and what they say of a claim. Marks inside of them become
// single ones (as ragcore/text/markdown.py does).

// A pair of straight marks: one alone may be inches.
const STRAIGHT = /(?<![^\s([{“‘—–/-])"(?=\S)([^"\n]*\S)"(?![\p{L}\p{N}_])/gu;

export function quoted(text) {
  const line = text.replace(STRAIGHT, "“$1”");
  const whole = line.startsWith("“") && line.endsWith("”") && line.split("“").length === 2 && line.split("”").length === 2;
  if (whole) return line;
  return `“${line.replace(/[“„‟]/g, (mark) => (mark === "„" ? "‚" : "‘")).replaceAll("”", "’")}”`;
}

// Words on one line.
export const oneLine = (text) => text.replace(/\s+/g, " ").trim();

// Page of a citation, and its place in the file that the page was made of: "p. 3", "p. 3, Sheet1!B12".
export const where = ({ label, place }) => (place ? `p. ${label}, ${place}` : `p. ${label}`);

const VERDICTS = {
  supported: ["ok", "check_circle", "Supported"],
  weak: ["weak", "warning", "Weak"],
  unsupported: ["bad", "error", "Unsupported"],
  quoted: ["off", "format_quote", "Quoted word for word"],
};

// Tone, icon and words of a claim's verdict; of a writer that only quotes, that it quoted.
export const verdict = (status, extractive) => VERDICTS[status && extractive ? "quoted" : status] ?? [];
