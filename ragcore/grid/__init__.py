"""Grid of documents by typed questions: each cell a value with its place, or not stated."""
