// One question with its answer.

import { pageUrl } from "../shared/api.js";
import { openCitation } from "../shared/bus.js";
import { button, fromHtml, h, icon, item, plural, prose } from "../shared/dom.js";
import { Popup } from "../shared/popup.js";
import { TestQuestion } from "../shared/test_question.js";
import { hasChanged, markChips, sinceMark } from "../shared/since.js";
import { copyButton, linkItem } from "./copy.js";
import { opinion } from "./opinion.js";
import { questionHead, resting, understood } from "./question.js";

const KEYS = ["key_missing", "key_refused"]; // what another key mends

export function drawTurn(turn, actions) {
  const article = h("article", { class: "gw-turn", "data-turn": turn.id, "data-state": turn.state, tabindex: "-1" });
  article.append(questionHead(turn, actions));
  if (turn.standalone) article.append(understood(turn));
  if (turn.only) article.append(h("p", { class: "gw-label" }, icon("filter_list", "s16"), turn.only));
  if (turn.state === "live") {
    article.append(...live(actions));
    return article;
  }
  if (turn.extractive && turn.blocks.length && !turn.refused) {
    article.append(h("p", { class: "gw-label" }, icon("cloud_off", "s16"), "Quotes from your documents"));
  }
  article.append(h("div", { class: `gw-answer${turn.extractive && !turn.refused ? " is-quotes" : ""}` }, ...turn.blocks.map(fromHtml)));
  markChips(article, turn.citations ?? []); // a question that was cut off has none
  if (turn.state === "stopped") article.append(h("p", { class: "gw-hint" }, "Stopped. The text so far is kept."));
  if (turn.error) article.append(errorCard(turn.error, (turn.error.retryable !== false || KEYS.includes(turn.error.code)) && actions.retry));
  if (turn.refused && !turn.citations.length) article.append(nearest(turn));
  if (turn.unsearched.length) article.append(unsearched(turn, actions));
  if (turn.partly.length) article.append(partly(turn, actions));
  if (turn.blocks.length) article.append(foot(turn, actions));
  return article;
}

function live(actions) {
  const pressed = async () => {
    stop.disabled = true;
    if (await actions.stop()) stop.disabled = false; // it did not stop, which is said
  };
  const stop = h("button", { type: "button", class: "gw-btn sm gw-stop", onclick: pressed }, icon("stop", "s16"), "Stop");
  // Below the text, where the tally will be: nothing above it moves when the answer is done.
  const steps = h("ol", { class: "gw-steps", "aria-live": "polite" }, h("li", { class: "now" }, h("span", { class: "gw-spin" }), "Searching"));
  return [h("div", { class: "gw-answer" }), h("div", { class: "gw-live" }, steps, stop)];
}

export function errorCard(error, retry = null) {
  const toSettings = KEYS.includes(error.code) && settingsLink("gw-answers");
  return h(
    "div",
    { class: "gw-msg bad", role: "alert" },
    icon("error"),
    h("div", {}, h("b", {}, prose(error.message)), h("p", {}, prose(error.hint)), (retry || toSettings) && h("div", { class: "row" }, retry && again("Try again", retry), toSettings)),
  );
}

// To a part of the Settings page, which begins there.
function settingsLink(part) {
  const kept = () => sessionStorage.setItem("gw-settings-part", part);
  return h("a", { class: "gw-btn sm", href: pageUrl("settings"), onclick: kept }, icon("settings", "s16"), "Settings");
}

const again = (words, retry) => resting(h("button", { type: "button", class: "gw-btn sm", "aria-label": words, onclick: retry }, icon("replay", "s16"), words));

// What was not read yet could not be searched: an answer, and a refusal more so, says so.
function unsearched(turn, actions) {
  const groups = turn.unsearched.flatMap(({ count, names, state }) => {
    const [are, were] = count === 1 ? ["is", "was"] : ["are", "were"];
    const which = count === 1 ? `“${names[0]}”` : plural(count, "document");
    const words = {
      reading: `${which} ${are} still being read and ${were} not searched`,
      stopped: `${which} ${are} not read yet and ${were} not searched`,
      failed: `${which} couldn’t be read and ${were} not searched`,
      ready: `${which} ${were} still being read at the time and ${were} not searched`,
    }[state];
    return [h("b", {}, words), count > 1 && h("p", {}, names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", "))];
  });
  return h("div", { class: "gw-msg weak gw-unsearched", role: "note" }, icon("warning"), h("div", {}, ...groups, turn.refused && h("div", { class: "row" }, again("Ask again", actions.retry))));
}

// An answer from the first pages of a document says so, and can be had again from all of them.
function partly(turn, actions) {
  const few = turn.partly.length > 4 ? turn.partly.slice(0, 3) : turn.partly;
  const lines = few.map(({ title, pages, of, state }) => {
    const seen = pages < of ? `From ${pages > 1 ? `pages 1–${pages.toLocaleString("en")}` : "page 1"} of ${of.toLocaleString("en")} of “${title}”.` : `“${title}” was searched by its words only.`;
    const now = {
      reading: pages < of ? "The rest is being read." : "It is still being indexed.",
      stopped: pages < of ? "Reading was stopped." : "It isn’t indexed yet.",
      failed: "The rest couldn’t be read.",
      ready: pages < of ? "All pages are read now." : "It is indexed now.",
    }[state];
    return h("p", {}, seen, " ", now);
  });
  const done = turn.partly.some(({ state }) => state === "ready");
  const waits = turn.partly.some(({ state }) => state === "reading");
  const wish = h("label", {}, h("input", { type: "checkbox", checked: actions.later.wanted, onchange: ({ target }) => actions.later.wish(target.checked) }), "Ask again when all is read");
  const row = done && !waits ? again("Ask again", actions.retry) : waits && wish;
  return h("div", { class: "gw-msg info gw-partly", role: "note" }, icon("schedule"), h("div", {}, ...lines, few !== turn.partly && h("p", {}, `And ${turn.partly.length - few.length} more, read in part or searched by their words only.`), row && h("div", { class: "row" }, row)));
}

function nearest(turn) {
  const found = turn.nearest?.[0];
  const wider = turn.only ? "Remove a filter to search more." : "Add a document, or widen the scope.";
  if (!found) return turn.only ? "" : h("p", { class: "gw-hint" }, wider); // with a filter, the answer says it
  const place = { n: 0, doc: found.doc, title: found.title, page: found.page, label: found.label, boxes: [], heads: [], quote: "", section: found.section };
  const open = (event) => {
    event.preventDefault();
    openCitation({ turn: "", n: 0, citations: [place], peers: [], focus: false });
  };
  const words = [`${found.title}, p. ${found.label}`, found.section.at(-1)].filter(Boolean).join(", ");
  return h("p", { class: "gw-hint" }, "Nearest: ", h("a", { href: "#nearest", onclick: open }, words), `. ${wider}`);
}

// One line below an answer: its sources, whether they hold it, and what can be done with it; the rest lies behind.
function foot(turn, actions) {
  const list = turn.citations.length ? sources(turn) : null;
  const thought = opinion(turn, actions.conversation, actions.thought);
  const test = new TestQuestion(turn.id, { closed: () => more.button.focus() });
  const keep = turn.state === "complete" && item("Keep as test question", "push_pin", () => (more.close(), test.open()));
  const every = turn.state === "complete" && item("Ask every document", "table", () => (more.close(), actions.everywhere()));
  const more = new Popup("More", "more_horiz", (panel) => {
    panel.replaceChildren(...thought.items, ...[keep, every].filter(Boolean), linkItem(turn, actions.conversation), meta(turn));
    requestAnimationFrame(() => panel.scrollIntoView({ block: "nearest" }));
  });
  thought.asked = () => more.close();
  return h(
    "div",
    { class: "gw-foot" },
    h(
      "div",
      { class: "gw-line" },
      list && sourcesButton(turn, list),
      ...checked(turn),
      since(turn),
      turn.found && h("a", { class: "gw-linkish", href: explored(turn, actions.conversation) }, "Why these"),
      h("span", { class: "acts" }, copyButton(turn), !turn.error && resting(button("Ask it again", "refresh", actions.retry)), more.element),
    ),
    turn.dropped.length > 0 && note(dropped(turn.dropped)),
    turn.notes.map(note),
    thought.form,
    test.element,
    list,
  );
}

// Words of its documents that are others by now: the first of them is opened, with what they became.
function since(turn) {
  const first = turn.citations.find(hasChanged);
  if (!first) return null;
  const open = () => openCitation({ turn: turn.id, n: first.n, citations: turn.citations, peers: [], focus: false });
  return sinceMark({ type: "button", onclick: open }, "button");
}

// What checking found. Where all is well that is one word; quotes are no more than exact.
function checked(turn) {
  const { supported, weak, unsupported, uncited } = turn.tally;
  const doubts = [
    weak > 0 && jump("weak", `${weak} weak`),
    unsupported > 0 && jump("bad", `${unsupported} unsupported`),
    uncited > 0 && h("span", { class: "gw-st off" }, `${uncited} without a citation`),
  ].filter(Boolean);
  if (doubts.length || !supported) return doubts;
  if (turn.extractive) return [h("span", { class: "gw-st off", title: "Whether they answer your question is yours to judge" }, icon("format_quote", "s16"), "Quoted word for word")];
  const means = `${plural(supported, "claim")} found in the cited words`;
  return [h("span", { class: "gw-st ok", title: means }, icon("check_circle", "s16"), "Checked")];
}

const note = (words) => h("p", { class: "gw-note-line" }, icon("warning", "s16"), h("span", {}, prose(words)));

function dropped(markers) {
  const named = markers.map((marker) => marker.replace(/[<>]/g, "").trim()).join(", ");
  return `${markers.length === 1 ? "1 citation named an unknown source" : `${markers.length} citations named sources that were not given`}: ${named}`;
}

function jump(tone, words) {
  const go = (event) => {
    const mark = event.target.closest(".gw-turn").querySelector(`.gw-verdict.${tone}`);
    mark.scrollIntoView({ block: "center" });
    mark.focus();
  };
  return h("button", { type: "button", class: `gw-st ${tone} gw-linkish`, onclick: go }, words);
}

// The same question over every passage, with the settings at hand.
const explored = (turn, conversation) => pageUrl("explore", { c: conversation, turn: turn.id });

function sourcesButton(turn, list) {
  const pages = new Map(turn.citations.map((c) => [`${c.doc} ${c.page}`, c.label]));
  const where = pages.size === 1 ? `on p. ${[...pages.values()][0]}` : `on ${plural(pages.size, "page")}`;
  const made = h("button", { type: "button", class: "gw-linkish", "aria-expanded": "false", "aria-controls": list.id }, `${plural(turn.citations.length, "source")} ${where}`);
  made.addEventListener("click", () => {
    list.hidden = !list.hidden;
    made.setAttribute("aria-expanded", String(!list.hidden));
    if (!list.hidden) list.scrollIntoView({ block: "nearest" });
  });
  return made;
}

function sources(turn) {
  const byDocument = new Map();
  for (const citation of turn.citations) {
    const pages = byDocument.get(citation.doc) ?? byDocument.set(citation.doc, { title: citation.title, pages: new Map() }).get(citation.doc);
    const page = pages.pages.get(citation.page) ?? pages.pages.set(citation.page, []).get(citation.page);
    page.push(citation);
  }
  const list = h("div", { class: "gw-sources", id: `gw-sources-${turn.id}`, role: "group", "aria-label": "Sources", hidden: true });
  for (const { title, pages } of byDocument.values()) {
    list.append(h("p", { class: "doc" }, title));
    const rows = [...pages.entries()].sort(([a], [b]) => a - b).map(([, cited]) =>
      h(
        "li",
        {},
        h("span", { class: "pg num" }, `p. ${cited[0].label}`),
        h("span", { class: "se" }, cited[0].section.at(-1) ?? ""),
        h("span", { class: "cs" }, cited.map((c) => chip(turn, c))),
      ),
    );
    list.append(h("ul", {}, rows));
  }
  return list;
}

function chip(turn, citation) {
  const added = turn.added.includes(citation.n) && !turn.given.includes(citation.n);
  const name = `Citation ${citation.n}, page ${citation.label}${added ? ", added by Groundwork" : ""}`;
  return h("a", { class: `gw-cite${added ? " added" : ""}`, href: `#cite-${turn.id}-${citation.n}`, "data-n": citation.n, "data-turn": turn.id, "aria-label": name }, String(citation.n));
}

function meta(turn) {
  const parts = [turn.model, turn.found];
  const asked = !turn.extractive && turn.usage.input > 0; // nothing is sent for what is refused beforehand
  if (asked) parts.push(`${turn.usage.input.toLocaleString("en")} tokens in`, `${turn.usage.output.toLocaleString("en")} out`);
  if (turn.cost !== null && asked) parts.push(turn.cost);
  parts.push(`${turn.seconds.toFixed(1)} s`);
  return h("p", { class: "gw-meta num" }, parts.filter(Boolean).map((part) => h("span", {}, part)));
}
