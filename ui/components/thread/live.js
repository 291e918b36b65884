// A live answer: Server-Sent Events in, blocks replaced from the first that changed. The server tells everything from
// the start on each connection, so that a connection that broke needs no memory here.

import { url } from "../shared/api.js";
import { fromHtml, h, icon } from "../shared/dom.js";
import { morph } from "../shared/morph.js";
import { understood } from "./question.js";

// `lost` is called where nothing more is to come: the answer is not written any more, or this page may not follow it.
export function follow(turn, element, grown, finished, lost) {
  const blocks = element.querySelector(".gw-answer");
  const steps = element.querySelector(".gw-steps");
  const source = new EventSource(url(`/answers/${turn.id}/events`));
  source.addEventListener("open", () => {
    turn.citations = [];
    blocks.replaceChildren();
  });
  source.addEventListener("write", (event) => {
    const news = JSON.parse(event.data);
    turn.citations.push(...news.citations);
    // As soon as it is known, which is before there is text for it to move.
    if (news.standalone && !element.querySelector(".gw-understood")) element.querySelector(".gw-ask").after(understood(news));
    morph(blocks, news.blocks.map(fromHtml), news.from);
    blocks.classList.toggle("is-writing", news.blocks.length > 0 || blocks.children.length > 0);
    drawSteps(steps, news.steps);
    grown();
  });
  source.addEventListener("done", (event) => {
    source.close();
    finished(JSON.parse(event.data));
  });
  source.addEventListener("gone", () => {
    source.close();
    lost();
  });
  source.addEventListener("error", () => source.readyState === EventSource.CLOSED && lost());
  return () => source.close();
}

function drawSteps(list, steps) {
  const text = JSON.stringify(steps);
  if (list.dataset.steps === text) return;
  list.dataset.steps = text;
  list.replaceChildren(
    ...steps.map((step) => h("li", { class: step.done ? "done" : "now" }, step.done ? icon("check", "s14") : h("span", { class: "gw-spin" }), step.text)),
  );
}
