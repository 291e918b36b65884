"""Settings page: values in force, and routes."""
