"""Settings: defaults, layers, descriptions, and the configuration file."""
