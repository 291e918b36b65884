"""Reports: templates, and their sections filled with evidence."""
