"""Reports: what is written in the background, and routes."""
