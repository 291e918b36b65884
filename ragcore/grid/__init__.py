"""Grid of documents, or their sections, by typed questions: each cell a value with its place, or not stated."""
