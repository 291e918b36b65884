// What is written is drawn anew with each word: whatever is the same stays the same node, so that a slow click, the
// focus and a selection outlive that.

// Makes the child nodes of `parent` from the `first` on what `wanted` says.
export function morph(parent, wanted, first = 0) {
  const nodes = [...wanted];
  while (parent.childNodes.length > first + nodes.length) parent.lastChild.remove();
  nodes.forEach((node, at) => {
    const now = parent.childNodes[first + at];
    if (!now) parent.append(node);
    else if (now.nodeType === Node.TEXT_NODE && node.nodeType === Node.TEXT_NODE) write(now, node.data);
    else if (now.nodeName === node.nodeName && now.nodeType === Node.ELEMENT_NODE) {
      attributes(now, node);
      morph(now, node.childNodes);
    } else now.replaceWith(node);
  });
}

function write(now, text) {
  if (text.startsWith(now.data)) now.appendData(text.slice(now.length)); // which leaves a selection alone
  else now.data = text;
}

function attributes(now, node) {
  for (const { name } of [...now.attributes]) if (!node.hasAttribute(name)) now.removeAttribute(name);
  for (const { name, value } of node.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
}
