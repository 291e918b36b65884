// Where one was looking when the tab was reloaded: the citation that the address names is open again, but one stays where
// one had gone since.

const KEY = "gw.place";

const conversation = () => new URL(location.href).searchParams.get("c");

export function keepPlace(pages, more) {
  const spot = pages.document && pages.desk.clientHeight ? spotOf(pages) : null; // none where the pane is hidden
  const place = { conversation: conversation(), document: pages.document?.id, spot, ...more };
  sessionStorage.setItem(KEY, JSON.stringify(place));
}

function spotOf(pages) {
  const { desk, tops, z, fit } = pages;
  const page = pages.pageAt(desk.scrollTop);
  return { page, below: (desk.scrollTop - tops[page - 1]) / z, left: desk.scrollLeft, fit, z };
}

// What was kept, once, where this is the same conversation after a reload; else null.
export function takePlace() {
  const kept = JSON.parse(sessionStorage.getItem(KEY));
  sessionStorage.removeItem(KEY);
  const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
  return reloaded && kept?.conversation === conversation() ? kept : null;
}

export function comeBack(pages, { page, below, left, fit, z }) {
  if (page > pages.sizes.length) return;
  pages.pending = null;
  pages.fit = fit;
  pages.setZoom(fit ? pages.fitZoom() : z);
  pages.desk.scrollTo({ top: pages.tops[page - 1] + below * pages.z, left, behavior: "instant" });
  pages.draw();
}
