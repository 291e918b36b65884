// Judging the runs that are shown: the form that starts it, with what Claude would cost, and the claims of an answer
// with their verdicts.

import { answered, get } from "../shared/api.js";
import { h, plural } from "../shared/dom.js";

export class JudgeForm {
  // `judge(body)` starts the work, `say(error)` tells what went wrong.
  constructor({ judge, say }) {
    this.judge = judge;
    this.say = say;
    this.claude = h("div", { class: "ln" });
    this.element = h(
      "form",
      { class: "new judge", hidden: true, "aria-label": "Judge answers", onsubmit: (event) => event.preventDefault(), onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), this.close()) },
      h("div", { class: "ln" }, h("b", {}, "Judge the claims of each answer by RAGChecker’s measures")),
      h("p", { class: "muted" }, "Against the reference answer, and against each passage that the writer was given. Only questions with a reference are judged."),
      h("div", { class: "ln" }, (this.support = h("button", { type: "button", class: "gw-btn", onclick: () => this.start("support") }, "By the support score")), h("p", { class: "muted" }, "Free, without a model. Strict on figures; a rough sign for the rest.")),
      this.claude,
      h("div", { class: "ln" }, h("button", { type: "button", class: "gw-btn quiet", onclick: () => this.close() }, "Cancel")),
    );
  }

  async open(runs) {
    this.runs = runs;
    this.claude.replaceChildren(h("p", { class: "muted" }, "Counting what Claude would cost…"));
    this.element.hidden = false;
    this.element.scrollIntoView({ block: "nearest" });
    this.support.focus();
    const found = await answered(() => get("/evaluate/estimate", { a: runs[0], b: runs[1] ?? "" }));
    if (found.refused) {
      this.close();
      this.say(found.refused);
      return;
    }
    const { ready, model, questions, calls, minutes, usd, limit, limits } = found;
    const can = ready && (usd || !calls);
    const words = !calls
      ? `${model} has judged every answer with a reference. To see its figures again costs nothing.`
      : !usd
        ? `${model} has no price in llm.prices, so its cost can’t be limited.`
        : `${ready ? "" : "Needs a key for Claude: add one in Settings. "}${plural(questions, "question")}, about ${plural(calls, "request")} and ${minutes < 1 ? "a minute" : plural(Math.round(minutes), "minute")}. It stops before it costs more than ${limit}.`;
    this.claude.replaceChildren(h("button", { type: "button", class: "gw-btn", disabled: !can, onclick: () => this.start("claude", limits) }, `By ${model}${calls && usd ? ` for about ${usd}` : ""}`), h("p", { class: "muted" }, words));
  }

  start(by, limits = []) {
    this.close();
    this.judge({ by, runs: Object.fromEntries(this.runs.map((run, i) => [run, limits[i] ?? 0])) });
  }

  close() {
    this.element.hidden = true;
  }
}

// Claims of an answer and of its reference, as one judge sees them.
export function claims({ by, response, reference, passages }) {
  return h(
    "details",
    { class: "jd" },
    h("summary", {}, by),
    table("Claims of the answer", "By the reference", response),
    table("Claims of the reference", "By the answer", reference),
    passages.length > 0 && h("p", { class: "muted" }, "Passages given: ", passages.map(({ n, title }) => `${n} ${title}`).join("; ")),
  );
}

function table(caption, other, found) {
  if (!found.length) return h("p", { class: "muted" }, `${caption}: none.`);
  const head = ["Claim", other, "By passages"].map((words) => h("th", { scope: "col" }, words));
  const body = found.map(({ claim, verdict, passages }) => h("tr", {}, h("th", { scope: "row" }, claim), h("td", { class: "vd" }, h("i", { "aria-hidden": "true" }, verdict === "Entailed" ? "✓" : "–"), verdict), h("td", { class: "num" }, passages.join(", ") || "none")));
  return h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, body));
}
