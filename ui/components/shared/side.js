// The side of the page, which lies over the rest of it in a narrow window.

export const NARROW = "(max-width: 900px)";

// Folds it after a choice in a narrow window, by Streamlit's own button.
export function foldSide() {
  if (matchMedia(NARROW).matches) document.querySelector('[data-testid="stSidebarCollapseButton"] button[aria-expanded="true"]')?.click();
}
