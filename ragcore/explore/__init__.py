"""One question under any settings, with every score."""
