"""Server behind the pages: one engine, routes, tokens, visits."""
