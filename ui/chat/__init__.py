"""Chat page: conversations, live answers, their HTML and routes."""
