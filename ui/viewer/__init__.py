"""The page viewer: pictures, words and search of pages."""
