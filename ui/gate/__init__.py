"""Gate: who may reach the app, the pages for signing in, and accounts in Settings."""
