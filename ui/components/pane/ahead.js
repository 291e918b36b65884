// Pages that an answer cites are fetched before they are opened, one at a time and only while no page in sight is waited
// for: a click on a citation then finds its page there.

import { ApiError, getDocument } from "../shared/api.js";
import { fetchWhole } from "./pictures.js";

const MOST = 12; // pages of one answer

export class Ahead {
  constructor(pages) {
    this.pages = pages;
    this.wanted = [];
    this.busy = false;
    this.had = new Set();
  }

  // Of an answer's citations, in their order; what was wanted before is not any more.
  want(citations) {
    const found = new Map();
    for (const { doc, page } of citations) if (found.size < MOST) found.set(`${doc} ${page}`, { doc, page });
    this.wanted = [...found.values()];
    setTimeout(() => this.next()); // after whatever is just being opened
  }

  close() {
    this.wanted = [];
  }

  // Also called whenever what is in sight has come.
  async next() {
    if (this.busy || this.pages.waiting) return;
    const first = this.wanted.shift();
    if (!first) return;
    this.busy = true;
    try {
      const document = await getDocument(first.doc, first.page);
      const across = this.pages.across(document, first.page);
      if (this.pages.waiting) return void this.wanted.unshift(first);
      const name = `${first.doc} ${first.page} ${across}`;
      if (across && !this.had.has(name)) {
        this.had.add(name);
        await fetchWhole(document, first.page, across);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // what fails here is met again, and said, where it is opened
    } finally {
      this.busy = false;
    }
    this.next();
  }
}
