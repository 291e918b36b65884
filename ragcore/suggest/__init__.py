"""Suggestions: a document's overview, and questions to ask first and next."""
