"""Context headers: text on a chunk's place in its document, put in front of it for search only."""
