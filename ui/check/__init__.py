"""Check in the app."""
