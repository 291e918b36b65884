// The place above the page where a report lists what the open section cites, and a grid shows its open cell;
// components/report and components/grid draw into it.

import { configure } from "../shared/api.js";

export function mount({ parentElement, data }) {
  configure(data);
  const root = parentElement.querySelector(".gw-evidence");
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Evidence");
  dispatchEvent(new CustomEvent("gw:evidence", { detail: root }));
}
