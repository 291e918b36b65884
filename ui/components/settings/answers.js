// Who answers: Claude, the offline answerer or a server of one's own; the key of this visit; how an answer is written.

import { h, icon } from "../shared/dom.js";
import { card, choose, line, option, state, toggle } from "./parts.js";

const LONGEST_KEY = 400;
const UNLESS = "Search and checks are the same for all three.";

function outcome({ waiting, works, words }) {
  if (waiting) return h("span", { class: "gw-st run" }, h("span", { class: "gw-spin" }), words);
  return works ? state("ok", "check_circle", words) : state("bad", "error", words);
}

export function answers(page) {
  const { who } = page.state;
  const shown = page.draft ?? who.choice;
  const where = who.direct || page.draft === "claude" ? "Anthropic" : who.host;
  const choices = [
    { name: "claude", title: "Claude", said: `Plain prose, each claim cited and checked. Your question, the conversation and the passages found go to ${where}, and pictures of a document’s figures when it is read; whole files don’t.`, side: claudeSide(page, shown) },
    { name: "offline", title: "Offline", said: "The best sentences and cells from your documents, quoted and cited. Nothing is sent anywhere.", side: state("off", "cloud_off", "Nothing is sent") },
    { name: "server", title: "Your own server", said: "Any model on a server with the Messages API. The same data goes to that address only.", side: who.choice === "server" && state("off", "key", who.host) },
  ];
  const chosen = (name) => page.choose(name);
  return h(
    "section",
    { id: "gw-answers" },
    h("h2", {}, "Answers"),
    h("p", { class: "lead" }, UNLESS),
    h("div", { class: "opts three", role: "radiogroup", "aria-label": "Who answers" }, choices.map((item) => option("who", { ...item, on: shown === item.name }, chosen))),
    card(...(shown === "offline" ? [] : shown === "server" ? serverLines(page) : claudeLines(page)), ...manner(page, shown)),
  );
}

function claudeSide({ state: { who } }, shown) {
  if (shown !== "claude") return null;
  if (who.key.from === "visit") return state("ok", "key", "Your key");
  if (who.key.from === "machine") return state("ok", "key", "This machine’s key");
  return state("weak", "warning", "Needs a key");
}

function claudeLines(page) {
  const { who } = page.state;
  const select = h("select", { class: "gw-field sel", id: "gw-model", "data-focus": "model", onchange: () => page.change({ "llm.claude_model": select.value, ...(page.draft && { "llm.model": "claude" }) }) });
  for (const { name, label, price } of who.models) select.append(h("option", { value: name }, `${label}, ${price}`));
  if (!who.models.some(({ name }) => name === who.model)) select.append(h("option", { value: who.model }, who.model));
  select.value = who.model;
  return [keyLine(page), line("Model", "Groundwork never switches models. If this one isn’t available, you see an error.", select, { for: "gw-model" })];
}

// What no key looks like, in the words of ui/server/visits.py, which has the last word.
function noKey(key) {
  if (/\s/.test(key)) return "A key has no spaces. Copy it again, on one line.";
  if (!/^[\x21-\x7e]+$/.test(key)) return "A key has only plain letters, digits and symbols.";
  return key.length > LONGEST_KEY ? "This is too long for a key." : "";
}

function keyLine(page) {
  const { who } = page.state;
  const about =
    "Kept in this server’s memory for this visit: until you forget it, close the browser, or the server stops. It is not written down and never comes back to the browser. Other tabs of this browser use it too; another browser does not.";
  const said = h("p", { class: "tried", role: "status" }, page.tried && outcome(page.tried), page.tried?.hint && h("span", {}, ` ${page.tried.hint}`));
  const test = h("button", { type: "button", class: "gw-btn", "data-focus": "test", onclick: () => page.tryKey() }, "Test");
  if (who.key.from === "visit") {
    const at = new Date(who.key.set * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const forget = h("button", { type: "button", class: "gw-btn quiet", "data-focus": "forget", onclick: () => page.forgetKey() }, "Forget");
    const masked = h("span", { class: "gw-field mask" }, icon("key", "s16"), h("span", { "aria-label": "A key is set" }, "••••••••••••"), h("span", { class: "muted num" }, `since ${at}`));
    return line("API key", about, [masked, test, forget, said], { class: "key" });
  }
  const wrong = h("span", { class: "said", id: "gw-key-said", role: "alert" });
  const look = () => {
    wrong.textContent = field.value.trim() ? noKey(field.value.trim()) : "";
    field.setAttribute("aria-invalid", String(Boolean(wrong.textContent)));
    return !wrong.textContent;
  };
  const field = h("input", { class: "gw-field", id: "gw-key", type: "password", "aria-describedby": "gw-key-said", oninput: look, autocomplete: "off", spellcheck: "false", "data-focus": "key", placeholder: who.key.from === "machine" ? "A different key from this machine’s" : "sk-ant-…" });
  const use = h("button", { type: "submit", class: "gw-btn" }, "Use this key");
  const given = (event) => {
    event.preventDefault();
    const key = field.value.trim();
    if (!key || !look()) return field.focus();
    field.value = "";
    page.setKey(key);
  };
  return line("API key", about, [h("form", { class: "given", onsubmit: given }, h("span", { class: "fld" }, field, wrong), use), who.key.from === "machine" && test, said], { for: "gw-key", class: "key" });
}

// Address and model belong together: neither is of use alone.
function serverLines(page) {
  const { who } = page.state;
  const address = page.typed("llm.base_url", who.base_url, { id: "gw-url", placeholder: "http://localhost:11434" });
  const model = page.typed("llm.model", who.server_model, { id: "gw-own", placeholder: "its model’s name" });
  const apply = async (event) => {
    event.preventDefault();
    for (const { field, wrong } of [address, model]) if (!field.value.trim() || (await wrong())) return field.focus();
    page.change({ "llm.base_url": address.field.value, "llm.model": model.field.value.trim() });
  };
  const form = h("form", { class: "server", onsubmit: apply }, h("label", { for: "gw-url" }, "Address"), address.element, h("label", { for: "gw-own" }, "Model"), model.element, h("button", { type: "submit", class: "gw-btn" }, "Use this server"));
  return [
    line("Server", "For this visit only. This machine’s key is never sent there; a key you enter below is.", form, { class: "wide" }),
    keyLine(page),
  ];
}

function manner(page, shown) {
  const written = shown !== "offline";
  return [
    line("Length of answers", written ? "Short: at most three sentences or one list." : "Short: the two best quotes.", choose("Length of answers", [["full", "Full"], ["short", "Short"]], page.value("answer.style"), (value) => page.change({ "answer.style": value }), "style")),
    written && line("Second opinion on claims", "The model compares each claim with the words it cites. One more call per answer, about $0.01.", toggle("Second opinion on claims", page.value("verify.judge") === "claude", (on) => page.change({ "verify.judge": on ? "claude" : "off" }), "judge")),
    written && line("Let the model read follow-up questions", "The model completes “And in 2021?” when rules can’t. Takes about half a cent and a second.", toggle("Let the model read follow-up questions", page.value("chat.rewrite") !== "rules", (on) => page.change({ "chat.rewrite": on ? "auto" : "rules" }), "rewrite")),
    line("Add missing citations", "Claims without a citation get one from a source that says it, marked as added.", toggle("Add missing citations", page.value("verify.add_citations") === true, (on) => page.change({ "verify.add_citations": on ? "on" : "off" }), "added")),
    written && line("Reuse answers", "An identical request gets its earlier answer, free.", toggle("Reuse answers", page.value("llm.cache") === true, (on) => page.change({ "llm.cache": on ? "on" : "off" }), "cache")),
  ].filter(Boolean);
}
