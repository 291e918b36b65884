"""Tables: the grid of the table finder, mended pass by pass (`cells` first), joined over pages and written as rows."""
