"""Words, sentences, numbers and periods: what is read from text as text."""
