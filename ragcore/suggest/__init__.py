"""What a document tells first, and what to ask next."""
