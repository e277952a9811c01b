"""Checks of everything that an installation depends on; one module per thing."""
