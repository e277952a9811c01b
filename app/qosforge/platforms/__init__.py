"""Platforms: one package for each kind of device, their interface, and what several have in common."""
