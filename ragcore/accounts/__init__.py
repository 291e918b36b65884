"""Accounts of the people who sign in to a shared app."""
