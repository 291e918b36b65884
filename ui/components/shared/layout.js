// Which of the panes are shown. The page pane is remembered for the tab (ui/server/web.py sets it before the first paint); the
// sidebar is Streamlit's own, which remembers it.

import { button } from "./dom.js";

const KEY = "gw.pane";
const root = document.documentElement;

export const paneShown = () => root.dataset.gwPane !== "hidden";

export function showPane(shown) {
  if (shown === paneShown()) return;
  if (shown) {
    delete root.dataset.gwPane;
    sessionStorage.removeItem(KEY);
  } else {
    root.dataset.gwPane = "hidden";
    sessionStorage.setItem(KEY, "hidden");
  }
  dispatchEvent(new CustomEvent("gw:pane"));
}

// A button that shows or hides it.
export function paneButton() {
  const made = button("Page pane", "dock_to_left", () => showPane(!paneShown()), { class: "gw-btn quiet icon sm gw-dock", "aria-keyshortcuts": "]" });
  const said = () => {
    made.setAttribute("aria-pressed", String(paneShown()));
    made.title = paneShown() ? "Hide the page ( ] )" : "Show the page ( ] )";
  };
  addEventListener("gw:pane", said);
  said();
  return made;
}

export function toggleSide() {
  const collapse = document.querySelector('[data-testid="stSidebarCollapseButton"] button[aria-expanded="true"]');
  (collapse ?? document.querySelector('button[data-testid="stExpandSidebarButton"], [data-testid="stExpandSidebarButton"] button'))?.click();
}
