"""Reading pages that have no usable text: `scan` finds and prepares them, `engine` reads the picture."""
