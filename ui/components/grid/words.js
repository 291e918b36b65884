// Words of a grid: its kinds of columns, its values as they are shown.

export const TYPES = {
  value: ["Value", "a number or an amount, with its unit and period"],
  date: ["Date", "a day, a month or a year"],
  name: ["Name", "of a person, firm, place or thing"],
  yes_no: ["Yes or no", "checked as a claim"],
  list: ["List", "all that the document says of it"],
  quote: ["Quotation", "the document’s own words"],
  text: ["Text", "a short answer in sentences"],
};
export const SHOWN = { "": "All", stated: "Stated", not_stated: "Not stated", likely: "Only likely", rival: "Several values", undecided: "Not decided on", failed: "Failed" };

const SYMBOL = /^\p{Sc}$/u; // a currency that stands before its figure
const SCALES = [[1e9, "billion"], [1e6, "million"]];
const FIGURE = new Intl.NumberFormat("en", { maximumFractionDigits: 4 });
const MARKUP = /\*\*|^ *- | ?\[\d+\]/gm; // of a text: bold, items, marks of its citations
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export const day = (text) => (DAY.test(text) ? new Date(`${text}T00:00`).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : text);

// What stands first in a cell, and the unit behind it: a number in another unit than its column's names it.
export function valued({ text = "", number, unit = "", period = "" }, { type, unit: own = "" }) {
  if (type === "value" && number !== null && number !== undefined) {
    const money = SYMBOL.test(unit);
    const [scale, scaled] = (!unit || money) && SCALES.find(([least]) => Math.abs(number) >= least) || [1, ""];
    const shown = FIGURE.format(Math.abs(number) / scale);
    return [`${number < 0 ? "−" : ""}${money ? unit : ""}${shown}`, scaled || (money || unit === own ? "" : unit)];
  }
  if (type === "date") return [day(period || text), ""];
  return [type === "text" ? text.replace(MARKUP, "") : text, ""];
}

// What a person writes in place of it: of a number all digits, with its unit.
export function written(value, { type }) {
  const { text, number, unit = "" } = value;
  if (type === "date") return text;
  if (type !== "value" || number === null || number === undefined) return valued(value, { type })[0];
  const digits = number.toLocaleString("en", { maximumSignificantDigits: 15 });
  return SYMBOL.test(unit) ? unit + digits : [digits, unit].filter(Boolean).join(" ");
}

// By what a column is ordered.
export function rank(cell, { type }) {
  if (!cell?.text) return null;
  if (type === "date") return cell.period || cell.text;
  return cell.number ?? cell.text.toLowerCase();
}
