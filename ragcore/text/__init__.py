"""Text analysis: words, sentences, numbers, periods, units and names."""
