// Takes the opening screen away when the page has something to show, and says so where that takes long.

const LONG = 8000; // milliseconds
const DRAWN = ".stMain .stElementContainer:not(:has(.gw-pill)), [role=dialog]";

const screen = document.querySelector(".gw-opening");
const watch = new MutationObserver(look);
const late = setTimeout(() => {
  screen.querySelector(".gw-opening-said span:last-child").textContent =
    "Still opening: the server is busy or does not answer. This page goes on by itself.";
}, LONG);

function look() {
  if (!document.querySelector(DRAWN)) return;
  watch.disconnect();
  clearTimeout(late);
  screen.remove();
}

watch.observe(document.body, { childList: true, subtree: true });
look();
