// Page of one work: a grid, a check, a report. It asks the server by itself what is new; what is done goes straight to
// its route.

import { answered, get, post } from "./api.js";
import { listening } from "./bus.js";
import { h, showTrouble, troubleBox } from "./dom.js";
import { NARROW } from "./side.js";

// `kind` is the first part of its address, `heard` what it listens to. A page has `poll()`, `leave(gone)`, `opened(detail)`.
export class WorkPage {
  constructor(root, kind, heard) {
    Object.assign(this, { root, kind });
    this.narrow = matchMedia(NARROW);
    this.trouble = troubleBox();
    this.said = h("p", { class: "gw-unseen", role: "status" });
    this.unlisten = listening([["gw:opened", ({ detail }) => this.opened(detail)], ...heard]);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.unlisten();
  }

  path(below = "") {
    return `/${this.kind}/${this.id}${below}`;
  }

  // Takes what is new for one that has `known`, and looks again after `pause()` ms, unless it rests.
  async news(known, take, pause) {
    clearTimeout(this.timer);
    const { id } = this;
    const found = await answered(() => get(this.path(), known));
    if (this.closed || id !== this.id) return;
    if (found.gone) return this.leave(true);
    if (found.refused) this.complain(found.refused);
    else {
      if (this.lost) this.complain(null);
      take(found);
    }
    this.lost = Boolean(found.refused);
    if (this.lost || !["done", "stopped"].includes(this.data?.state)) this.timer = setTimeout(() => this.poll(), pause());
  }

  // What came of a request; null if it failed or was refused, which is said.
  async asked(request) {
    this.refused = null;
    const answer = await answered(request);
    if (!answer.refused) return answer;
    this.complain((this.refused = answer.refused));
    return null;
  }

  // Posts and shows what came of it; null if it was refused.
  async act(path, body = {}) {
    const done = await this.asked(() => post(this.path(path), body));
    await this.poll(0);
    return done;
  }

  complain(error) {
    const key = JSON.stringify([error?.message, error?.hint]);
    if (key === this.complained) return;
    this.complained = key;
    showTrouble(this.trouble, error);
    this.trouble.scrollIntoView({ block: "nearest" });
  }
}
