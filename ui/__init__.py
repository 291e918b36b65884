"""What the pages share: background jobs, the app's own routes, the markup of answers, components and looks."""
