"""Exploration: one question under any settings, with every score."""
