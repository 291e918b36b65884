"""Context headers: what a chunk is about as a part of its document, put in front of it for searching only."""
