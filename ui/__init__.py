"""The web app's packages: one folder per page, plus shared components and the server."""
