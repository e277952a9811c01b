"""Artifacts: texts and documents addressed by their SHA-256, as files or as rows of the database."""
