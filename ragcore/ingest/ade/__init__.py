"""ADE JSON import (LandingAI's Agentic Document Extraction): `source` reads it, `pages` turns it into pages."""
