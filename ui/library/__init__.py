"""Library page: uploads, the reading queue, rows and routes."""
