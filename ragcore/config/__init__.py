"""Settings: their defaults, layers, descriptions, and the file they are kept in."""
