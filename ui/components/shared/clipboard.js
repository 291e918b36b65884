// Copying text from the keyboard or a button.

// Whether it was done. `rich` is the same as HTML, for a word processor.
export async function copy(text, rich = "") {
  const kinds = Object.entries({ "text/plain": text, ...(rich && { "text/html": rich }) });
  if (navigator.clipboard) {
    const both = rich && globalThis.ClipboardItem;
    const item = () => new ClipboardItem(Object.fromEntries(kinds.map(([kind, words]) => [kind, new Blob([words], { type: kind })])));
    return (both ? navigator.clipboard.write([item()]) : navigator.clipboard.writeText(text)).then(() => true, () => false);
  }
  // A page that came by plain HTTP from another machine has no clipboard of its own to write to.
  let done = false;
  const put = (event) => {
    for (const [kind, words] of kinds) event.clipboardData.setData(kind, words);
    event.preventDefault();
    event.stopImmediatePropagation();
    done = true;
  };
  addEventListener("copy", put, true);
  done = document.execCommand("copy") && done;
  removeEventListener("copy", put, true);
  return done;
}
