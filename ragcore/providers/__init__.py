"""Models by name, their calls, and what they cost."""
