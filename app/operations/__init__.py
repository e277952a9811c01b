"""Keeping an installation well: checks, backup and restore, retention."""
