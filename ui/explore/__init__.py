"""Explore page: plots, tables and adjustable settings."""
