"""Doors for programs: an MCP server and an HTTP API with the same verbs (`ragcore.serve.verbs`)."""
