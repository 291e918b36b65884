"""Verification of claims against their cited evidence."""
