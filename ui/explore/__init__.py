"""Explore: plots, tables and the settings it moves."""
