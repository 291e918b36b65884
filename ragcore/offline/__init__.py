"""The rules of English: what works without a model."""
