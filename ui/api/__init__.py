"""Door of the app for programs."""
