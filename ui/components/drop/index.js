// Folders, and files dropped anywhere on the page, for Streamlit's uploader: what is in them is given to its own input.
// A file of a folder goes under its path in it, by which the library lays it into that folder.

import { h, icon, plural } from "../shared/dom.js";
import { holdsFiles } from "../shared/files.js";

const TAKEN = /\.(pdf|json|xlsx|xlsm|csv|tsv|tab|md|markdown|html?|xhtml|txt|text|do[ct]x|docm|doc|rtf|pp[ts]x|pptm|ppt|od[tps]|xls|eml|msg|epub|png|jpe?g|tiff?|webp)$/i;

export function mount({ parentElement }) {
  const root = parentElement.querySelector(".gw-drop");
  const zone = (parentElement.gwDrop ??= new Drop(root));
  return () => zone.close();
}

class Drop {
  constructor(root) {
    this.root = root;
    this.said = h("p", { class: "gw-drop-said", role: "status" });
    this.button = h("button", { type: "button", class: "gw-btn", onclick: () => this.choose() }, icon("folder_open", "s16"), "Upload a folder");
    root.append(this.button, this.said);
    this.depth = 0;
    this.changed = ({ target }) => target === this.input && !this.giving && (this.said.textContent = "");
    document.addEventListener("change", this.changed, true);
    this.events = { dragenter: (e) => this.enter(e), dragleave: () => this.leave(), dragover: (e) => this.over(e), drop: (e) => this.drop(e) };
    for (const [name, act] of Object.entries(this.events)) document.addEventListener(name, act, true);
  }

  close() {
    for (const [name, act] of Object.entries(this.events)) document.removeEventListener(name, act, true);
    document.removeEventListener("change", this.changed, true);
    this.lit(false);
  }

  get input() {
    return document.querySelector(".st-key-gw_drop input[type=file]");
  }

  lit(on) {
    document.querySelector(".st-key-gw_drop")?.classList.toggle("over", on);
  }

  enter(event) {
    if (!holdsFiles(event)) return;
    this.depth++;
    this.lit(true);
  }

  leave() {
    this.depth = Math.max(0, this.depth - 1);
    if (!this.depth) this.lit(false);
  }

  over(event) {
    if (holdsFiles(event)) event.preventDefault(); // else the browser would open the file in place of the app
  }

  async drop(event) {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    this.depth = 0;
    this.lit(false);
    // The entries are gone when this event is over, so that they are taken now.
    const entries = [...event.dataTransfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
    const found = [];
    const lost = [];
    for (const entry of entries.filter(Boolean)) await walk(entry, "", found, lost);
    this.give(found, lost);
  }

  choose() {
    const input = h("input", { type: "file", webkitdirectory: true });
    input.onchange = () => this.give([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })).filter(({ path }) => !path.includes("/.")));
    input.click();
  }

  // Hands over what Groundwork reads, by its ending; of what was given by itself, everything, so that it is refused in words.
  give(found, lost = []) {
    const wanted = found.filter(({ path }) => TAKEN.test(path) || !path.includes("/"));
    const left = found.length - wanted.length;
    const words = [];
    if (left) words.push(`${plural(left, "file")} skipped: of no kind that Groundwork reads.`);
    if (lost.length) words.push(`The browser couldn’t open ${lost.join(", ")}. Check that ${lost.length === 1 ? "it’s" : "they’re"} still there and you may read ${lost.length === 1 ? "it" : "them"}.`);
    this.said.textContent = words.join(" ") || (wanted.length ? "" : "It has no files.");
    if (!wanted.length) return;
    const given = new DataTransfer();
    for (const { file, path } of wanted) given.items.add(path === file.name ? file : new File([file], path, { type: file.type, lastModified: file.lastModified }));
    const input = this.input;
    input.files = given.files;
    this.giving = true; // what is said here is of these files
    input.dispatchEvent(new Event("change", { bubbles: true }));
    this.giving = false;
  }
}

// All files of an entry, with their paths from the folder that was dropped; hidden files are passed over. `lost` gets the
// paths of those that cannot be opened.
async function walk(entry, folder, found, lost) {
  try {
    await taken(entry, folder, found, lost);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    lost.push(`${folder}${entry.name}`);
  }
}

async function taken(entry, folder, found, lost) {
  if (entry instanceof File) {
    found.push({ file: entry, path: entry.name });
    return;
  }
  if (folder && entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, path: `${folder}${file.name}` });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const one of some) await walk(one, `${folder}${entry.name}/`, found, lost);
  }
}
