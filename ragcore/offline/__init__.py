"""Offline answering: rules of English that work without a model."""
