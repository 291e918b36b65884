"""The Library: uploads, the reading queue, rows and routes."""
