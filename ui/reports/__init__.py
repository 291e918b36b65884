"""Reports page: background writing and routes."""
