"""Keeping an installation: backup and restore, retention, and checks of everything it depends on."""
