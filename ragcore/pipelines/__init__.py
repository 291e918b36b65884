"""Where stages meet: reading files, searching, answering."""
