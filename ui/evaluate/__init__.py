"""Evaluate page."""
