// Copying text from the keyboard or a button.

// Whether it was done.
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  // A page that came by plain HTTP from another machine has no clipboard of its own to write to.
  let done = false;
  const put = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    done = true;
  };
  addEventListener("copy", put, true);
  done = document.execCommand("copy") && done;
  removeEventListener("copy", put, true);
  return done;
}
