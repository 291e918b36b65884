"""Pipelines that join the stages: ingest, search and answering."""
