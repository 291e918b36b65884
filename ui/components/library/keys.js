// The keys of the Library, as `?` lists them.

export const KEYS = [
  ["Everywhere", [["/", "Search documents"], ["Ctrl Z", "Bring back what was removed"], ["?", "This list"], ["Esc", "Close the document, or select none"]]],
  ["Documents", [["↓", "Next document"], ["↑", "Document before"], ["Home", "First document"], ["End", "Last document"], ["Enter", "Open the document"], ["Space", "Select it"], ["Shift Space", "Select all to here"], ["Delete", "Remove it, or all that are selected"]]],
  ["Document", [["→", "Next tab"], ["←", "Tab before"]]],
];
