// A menu of files to save: a line for each kind, with its name and what it is for.

import { answered, save } from "./api.js";
import { h, icon, prose } from "./dom.js";
import { Popup } from "./popup.js";

const TABLES = ["xlsx", "csv"];

export class Exports extends Popup {
  // `address()` is that of the file, without its ending; `name` is for one that the server gives none. `more()` draws what
  // stands below the kinds, `query()` says what is asked of it.
  constructor(kinds, address, name, { more = () => [], query = () => ({}) } = {}) {
    super("Export", "download", (panel) => {
      const said = h("p", { class: "said", role: "status" });
      const take = async (kind, title) => {
        said.className = "said";
        said.textContent = `Creating ${title}`;
        const { refused } = await answered(() => save(`${address()}.${kind}`, `${name}.${kind}`, query()));
        if (!refused) return this.close(true);
        said.className = "said bad";
        said.replaceChildren(...prose(`${refused.message} ${refused.hint ?? ""}`));
      };
      const items = kinds.map(([kind, title, what]) => h("button", { type: "button", class: "item", "data-kind": kind, onclick: () => take(kind, title) }, icon(TABLES.includes(kind) ? "table" : "description", "s16"), h("span", {}, title, h("small", {}, what))));
      panel.replaceChildren(...items, ...more(), said);
    });
  }
}
