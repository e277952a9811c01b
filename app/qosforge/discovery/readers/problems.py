"""Errors that stop the reading of a device."""

from __future__ import annotations


class UnknownPlatform(ValueError):
    """A device that no platform of ours describes; the message is how it calls itself."""


class NotAnswered(ValueError):
    """A command that a device refuses, or an answer without what every such device tells; the message names it."""
