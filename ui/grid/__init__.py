"""Grid in the app."""
