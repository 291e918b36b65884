"""Tables: the table finder's grid, corrected pass by pass (`cells` first), joined over pages and written as rows."""
