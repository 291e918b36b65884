"""Settings: what is in force, and routes."""
