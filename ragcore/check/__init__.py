"""Check of a draft against documents: each sentence confirmed, contradicted, partly covered or not found."""
