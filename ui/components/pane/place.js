// Where one was looking when the tab was reloaded: the citation that the address names is open again, but one stays where
// one had gone since.

import { keep, takeKept } from "../shared/kept.js";

const KEY = "gw.page";

const conversation = () => new URL(location.href).searchParams.get("c");

export function keepPlace(pages, more) {
  const spot = pages.document && pages.desk.clientHeight ? spotOf(pages) : null; // none where the pane is hidden
  keep(KEY, conversation(), { document: pages.document?.id, spot, ...more });
}

export function spotOf(pages) {
  const { desk, tops, fit } = pages;
  const page = pages.pageAt(desk.scrollTop);
  const z = pages.scale(page);
  return { page, below: (desk.scrollTop - tops[page - 1]) / z, left: desk.scrollLeft, fit, z, saw: pages.sees(pages.opened) };
}

export const takePlace = () => takeKept(KEY, conversation());

// In a window of another size, what was opened is brought into sight again where it was.
export function comeBack(pages, { page, below, left, fit, z, saw }) {
  if (page > pages.sizes.length) return;
  const { opened } = pages;
  pages.pending = null;
  Object.assign(pages, { fit, z });
  pages.rescale();
  pages.desk.scrollTo({ top: pages.tops[page - 1] + below * pages.scale(page), left, behavior: "instant" });
  pages.draw();
  if (saw && opened && !pages.sees(opened)) pages.bring(opened.boxes, opened.page, { behavior: "instant" });
}
