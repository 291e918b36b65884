// One section: what it asks for, what can be done with it, its text with chips, what is missing, and values that differ.

import { button, errorBox, fromHtml, h, icon, plural, prose, still } from "../shared/dom.js";
import { morph } from "../shared/morph.js";
import { oneLine, where } from "../shared/quoted.js";
import { hasChanged, markChips, sinceMark } from "../shared/since.js";
import { checked, editAsked, editText, showHistory, rewrite } from "./forms.js";

const STATE = { accepted: "Accepted", draft: "Draft", gap: "Gap", empty: "Empty", waiting: "Waits to be filled", working: "Being filled", failed: "Failed", stopped: "Stopped", heading: "" };
const KINDS = { prose: "Prose", list: "List", table: "Table", value: "Single value", yes_no: "Yes or no" };
const STAGES = { search: "Searching", write: "Writing", check: "Checking claims" };
const MISSING = /^\[INSUFFICIENT DATA(?::\s*(.*?))?\]$/;
const MISSING_WITHIN = /\s*\[INSUFFICIENT DATA(?::\s*([^\]]*))?\]/;

export function drawSection(section, report) {
  const panel = h("div", { class: "panel" });
  const out = [top(section, report), asked(section, report)];
  if (!section.filled) return [...out, panel];
  out.push(actions(section, report, panel), panel);
  // What ended the filling of the whole report stands above it already.
  if (section.trouble && section.trouble.message !== report.data.trouble?.message) out.push(errorBox({ ...section.trouble, hint: `${section.trouble.hint} ${section.text ? "What was there is kept." : ""}`.trim() }));
  if (section.state === "working") out.push(h("div", { class: "live" }));
  if (section.conflicts.length) out.push(...section.conflicts.map((one, i) => conflict(section, one, i, report)));
  if (section.extractive && section.blocks.length && section.citations.length) out.push(h("p", { class: "gw-label" }, icon("cloud_off", "s16"), "Quotes from your documents"));
  if (section.blocks.length) out.push(text(section, report));
  else if (section.state === "empty") out.push(nothing(section, report));
  if (section.dropped.length) out.push(h("p", { class: "gw-note-line" }, icon("warning", "s16"), h("span", {}, `${section.dropped.join(", ")} ${section.dropped.length === 1 ? "is no citation" : "are no citations"} of this section: written as it stands, it proves nothing.`)));
  for (const note of section.notes) out.push(h("p", { class: "gw-note-line" }, icon("warning", "s16"), h("span", {}, prose(note))));
  if (section.gaps.length > 1) out.push(gaps(section));
  if (section.meta) out.push(h("p", { class: "meta num" }, section.meta));
  return [...out, steps(section, report)];
}

function top(section, report) {
  const shown = section.shown;
  const busy = ["working", "waiting"].includes(section.state); // which stands below, with what is being done
  const tag = busy ? "" : shown ? `${STATE[section.state]}, version ${shown.number}, ${shown.author}` : STATE[section.state];
  const on = (what, more) => () => report.on(section, what, more);
  return h(
    "div",
    { class: "sh" },
    h("h2", {}, section.heading),
    tag && h("span", { class: `tag ${section.state}` }, tag),
    h("span", { class: "sp" }),
    section.accepted
      ? null
      : h(
          "span",
          { class: "order" },
          button("Move up", "keyboard_arrow_up", on("move", { by: -1 }), { "data-act": "up" }),
          button("Move down", "keyboard_arrow_down", on("move", { by: 1 }), { "data-act": "down" }),
          button("Remove this section", "delete", () => takeOut(section, report), { "data-act": "out" }),
        ),
  );
}

// It can be put back while the line that says so stands.
async function takeOut(section, report) {
  if (!(await report.on(section, "remove"))) return;
  const back = h("button", { type: "button", class: "gw-btn sm", onclick: async () => (await report.on(section, "restore")) && report.open(section.id) }, icon("undo", "s16"), "Put it back");
  report.column.prepend(h("div", { class: "gw-msg weak", role: "status" }, icon("delete"), h("div", {}, h("b", {}, `“${section.heading}” was removed.`), h("p", {}, "Its text is kept."), h("div", { class: "row" }, back))));
  back.focus();
}

function asked(section, report) {
  const plain = section.kind === "prose" && section.required && !section.documents;
  const form = plain ? "" : [KINDS[section.kind], section.columns.join(" | "), section.unit, !section.required && "optional", section.documents && `from ${section.documents.map((one) => one.title).join(", ")}`].filter(Boolean).join(", ");
  const change = button("Change what is asked for", "edit", () => edit(), { "data-act": "asked" });
  const line = h("div", { class: "gd" }, icon("notes", "s16"), h("p", {}, section.guidance || "No guidance yet.", section.filled && form && h("span", { class: "form" }, form)), section.accepted ? null : change);
  const edit = () => line.replaceWith(editAsked(section, report));
  return line;
}

function actions(section, report, panel) {
  const row = h("div", { class: "acts" });
  const act = (name, sign, onclick, more = {}) => h("button", { type: "button", class: "gw-btn", onclick, ...more }, icon(sign, "s16"), name);
  if (section.state === "working" || section.state === "waiting") {
    row.append(section.state === "working" ? h("span", { class: "live-said", role: "status" }) : h("span", { class: "gw-st off" }, icon("schedule", "s16"), STATE.waiting));
    return row;
  }
  const written = Boolean(section.shown);
  const fill = act(written ? "Fill again" : "Fill this section", written ? "refresh" : "play_arrow", () => report.act("/fill", { sections: [section.id] }), { "data-act": "fill", class: written ? "gw-btn" : "gw-btn primary", title: report.data.offline ? "Quotes from the documents; costs nothing" : `Written by ${report.data.writer}` });
  const history = section.versions > 0 && h("button", { type: "button", class: "gw-btn quiet", "data-act": "history", "aria-expanded": "false", onclick: (event) => showHistory(section, report, panel, event.currentTarget) }, icon("history", "s16"), "History", h("span", { class: "muted num" }, String(section.versions)));
  const take = (kind) => act("Accept", "check", () => accept(section, report, panel), { class: kind, "data-act": "accept" });
  if (section.accepted) {
    row.append(act("Open again", "lock", () => report.on(section, "open"), { "data-act": "accept" }), history, h("span", { class: "sp" }), tally(section));
    return row;
  }
  row.append(
    ...[
      written && section.state !== "gap" && take("gw-btn primary"),
      fill,
      act("Edit", "edit", () => editText(section, report), { "data-act": "edit" }),
      written && act("Rewrite", "notes", () => rewrite(section, report, panel), { "data-act": "rewrite", class: "gw-btn quiet" }),
      written && section.state === "gap" && take("gw-btn quiet"),
      written && act("Undo", "undo", async () => (await report.on(section, "undo")) && report.say(report.section.shown ? checked(report.section) : ""), { "data-act": "undo", class: "gw-btn quiet", title: "Show the version before this one; this one stays in the history" }),
      history,
      h("span", { class: "sp" }),
      tally(section),
    ].filter(Boolean),
  );
  return row;
}

// What does not hold is said once before it is accepted.
function accept(section, report, panel) {
  const doubted = section.tally.unsupported ?? 0;
  if (!doubted || panel.querySelector(".doubt")) return report.on(section, "accept");
  const places = [...new Map([...report.column.querySelectorAll('.gw-claim[data-status="unsupported"]')].map((part) => [part.dataset.claim, part])).values()];
  let next = 0;
  const look = () => {
    const place = places[next++ % places.length];
    place.scrollIntoView({ block: "center", behavior: still() ? "instant" : "smooth" });
    const chip = place.querySelector("a.gw-cite");
    if (chip) report.openChip(chip.dataset.turn, Number(chip.dataset.n), chip);
  };
  const one = doubted === 1;
  const said = `${one ? "1 sentence does" : `${doubted} sentences do`} not hold: the words cited do not say ${one ? "it" : "them"}.`;
  const anyway = h("button", { type: "button", class: "gw-btn sm", "data-act": "anyway", onclick: () => report.on(section, "accept") }, icon("check", "s16"), "Accept anyway");
  const show = places.length > 0 && h("button", { type: "button", class: "gw-btn sm", "data-act": "doubted", onclick: look }, one ? "Look at it" : "Look at them");
  panel.replaceChildren(h("div", { class: "gw-msg bad doubt", role: "alert" }, icon("error"), h("div", {}, h("b", {}, said), h("p", {}, "An accepted section is locked. Other sections are written to agree with it."), h("div", { class: "row" }, show, anyway))));
  (panel.querySelector("[data-act]") ?? panel).focus();
}

function tally(section) {
  const { supported = 0, weak = 0, unsupported = 0, uncited = 0 } = section.tally;
  const part = (n, tone, sign, words) => n > 0 && h("span", { class: `gw-st ${tone}` }, icon(sign, "s16"), words);
  return h(
    "span",
    { class: "tally" },
    part(supported, section.extractive ? "off" : "ok", section.extractive ? "format_quote" : "check_circle", section.extractive ? `${supported} quoted` : `${supported} supported`),
    part(weak, "weak", "warning", `${weak} weak`),
    part(unsupported, "bad", "error", `${unsupported} unsupported`),
    part(uncited, "off", "remove", `${uncited} uncited`),
    section.citations.some(hasChanged) && sinceMark(),
  );
}

function text(section, report) {
  const body = h("div", { class: "gw-answer tx" }, ...section.blocks.map(fromHtml));
  for (const place of body.querySelectorAll("p, li, td")) {
    if (place.querySelector("p")) continue;
    const found = place.textContent.trim().match(MISSING);
    if (!found && place.tagName !== "TD") tellMissing(place, section, report);
    if (!found) continue;
    if (place.tagName === "TD") place.replaceChildren(h("span", { class: "nil", title: found[1] ?? "" }, "gap"));
    else place.replaceWith(insufficient(section, found[1] ?? section.heading, report));
  }
  for (const table of body.querySelectorAll("table")) table.replaceWith(figure(section, table));
  markChips(body, section.citations);
  return body;
}

// What is missing is also said within a paragraph; there it stands below as a card.
function tellMissing(place, section, report) {
  const cards = [];
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    for (let found; (found = node.data.match(MISSING_WITHIN)); ) {
      node.data = node.data.replace(found[0], "");
      cards.push(insufficient(section, found[1] ?? section.heading, report));
    }
  }
  if (place.tagName === "LI") place.append(...cards);
  else place.after(...cards);
}

// In a table the figure itself is the link to its cell.
function figure(section, table) {
  let linked = 0;
  for (const cell of table.querySelectorAll("td")) {
    const chips = cell.querySelectorAll("a.gw-cite");
    const words = [...cell.childNodes].map((node) => node.cloneNode(true));
    for (const node of words) node.querySelectorAll?.("a.gw-cite").forEach((chip) => chip.remove());
    const said = words.map((node) => node.textContent).join("").trim();
    if (chips.length !== 1 || !said || cell.querySelector(".gw-verdict")) continue;
    const [chip] = chips;
    const claim = cell.querySelector(".gw-claim");
    chip.classList.add("cell");
    chip.setAttribute("aria-label", `${said}: ${chip.getAttribute("aria-label")}`);
    chip.textContent = said;
    if (claim) claim.replaceChildren(chip);
    cell.replaceChildren(claim ?? chip);
    linked += 1;
  }
  for (const first of table.querySelectorAll("tbody tr > td:first-child")) first.classList.add("name");
  return h(
    "figure",
    { class: "tf" },
    h("figcaption", {}, h("b", {}, section.heading), section.unit && h("span", { class: "muted" }, section.unit), h("span", { class: "sp" }), linked > 0 && h("span", { class: "muted" }, "each figure opens its cell")),
    h("div", { class: "scroll gw-scroll", tabindex: "0", role: "group", "aria-label": section.heading }, table),
  );
}

function insufficient(section, what, report) {
  const gap = section.gaps.find((one) => one.what === what.trim().replace(/\.$/, "")) ?? section.gaps.find((one) => one.what.startsWith(what.slice(0, 60)));
  const nearest = gap?.nearest ?? [];
  const use = (place) => report.act(`/sections/${section.id}/passages`, { doc: place.doc, start: place.start, end: place.end, gap: what });
  return h(
    "div",
    { class: "ins", role: "note" },
    h("p", {}, h("b", {}, `[INSUFFICIENT DATA: ${what}]`)),
    gap && h("p", {}, gap.why),
    nearest.length > 0 &&
      h(
        "div",
        { class: "near" },
        h("b", {}, plural(nearest.length, "nearest passage")),
        h("ul", {}, nearest.map((place) => h("li", {}, h("p", {}, `“${short(place.quote)}” `, h("span", { class: "muted" }, `${place.title}, p. ${place.label}`)), h("span", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", onclick: () => report.look(place) }, "Show on the page"), !section.accepted && h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => use(place) }, "Use this passage"))))),
      ),
    section.accepted
      ? null
      : h(
          "div",
          { class: "row" },
          h("a", { class: "gw-btn quiet sm", href: "library" }, "Add a document"),
          h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => editText(section, report) }, "Write it yourself"),
        ),
  );
}

const short = (words) => {
  const line = oneLine(words);
  return line.length > 220 ? `${line.slice(0, 220)}…` : line;
};

function gaps(section) {
  return h("div", { class: "gaps" }, h("h3", {}, `${plural(section.gaps.length, "gap")} in this section`), h("ol", {}, section.gaps.map((gap) => h("li", {}, h("span", {}, gap.what), h("span", { class: "muted" }, gap.why)))));
}

function conflict(section, one, number, report) {
  const rival = (value, i) =>
    h(
      "div",
      { class: "rival" },
      h("b", { class: "num" }, value.figure),
      h("p", {}, `“${short(value.words)}”`),
      h("p", { class: "muted" }, `${value.citation.title}, ${where(value.citation)}`),
      h("div", { class: "row" }, h("button", { type: "button", class: "gw-btn sm", onclick: () => report.look(value.citation) }, "Show on the page"), !section.accepted && h("button", { type: "button", class: "gw-btn quiet sm", onclick: () => report.on(section, "choose", { conflict: number, rival: i }) }, "Use this value")),
    );
  return h("section", { class: "conflict", "aria-label": "Values that differ" }, h("p", {}, icon("warning", "s16"), h("b", {}, `The documents give ${one.rivals.length} different values`), h("span", {}, one.what)), h("div", { class: "rivals" }, one.rivals.map(rival)));
}

// On to the sections beside it, so that a report is read through without the outline.
function steps(section, report) {
  const { sections } = report.data;
  const at = sections.indexOf(section);
  const to = (one, name, before, after) => one && h("button", { type: "button", class: "gw-btn quiet sm", "data-act": name, onclick: () => report.open(one.id) }, before, h("span", {}, `${one.number}. ${one.heading}`), after);
  const earlier = sections.slice(0, at).reverse().find((one) => one.filled);
  const later = sections.slice(at + 1).find((one) => one.filled);
  return h("nav", { class: "steps", "aria-label": "Sections beside this one" }, to(earlier, "earlier", icon("chevron_left", "s16")), h("span", { class: "sp" }), to(later, "later", null, icon("chevron_right", "s16")));
}

function nothing(section, report) {
  return h("div", { class: "gw-empty small" }, h("b", {}, "This section is empty"), h("p", {}, `Fill this section, edit it by hand, or select words on a page and add them. To fill the rest: ${report.data.expense.words}.`));
}

// What is being written, in the place that the section keeps for it.
export function drawLive(column, section, report) {
  const place = column.querySelector(".live");
  const { live } = report.data;
  if (!place || !live || place.dataset.revision === String(live.revision)) return;
  place.dataset.revision = live.revision;
  const again = live.round > 1 ? `, round ${live.round}: what was missing was looked for` : "";
  const said = `${live.stopping ? "Stopping" : STAGES[live.stage]}${live.sources && live.stage === "write" ? ` from ${plural(live.sources, "passage")}` : ""}${again}`;
  column.querySelector(".live-said")?.replaceChildren(h("span", { class: "gw-st run" }, h("span", { class: "gw-spin" }), said));
  const written = place.firstElementChild ?? place.appendChild(h("div", { class: "gw-answer tx is-writing" }));
  morph(written, live.blocks.map(fromHtml));
  column.classList.toggle("is-live", live.blocks.length > 0);
}
