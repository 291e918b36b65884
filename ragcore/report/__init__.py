"""Reports: templates, and sections filled with evidence."""
