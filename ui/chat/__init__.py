"""Conversations: live answers, their markup and routes."""
