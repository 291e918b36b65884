"""Page viewer: pictures, words and search of pages."""
