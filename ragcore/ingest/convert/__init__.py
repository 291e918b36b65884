"""Files that are no PDF → PDF pages, with the place in the original of what is on them."""
