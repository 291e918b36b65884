"""Claims against their evidence."""
