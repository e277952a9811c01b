"""What emulated devices say to lines that they take: FTOS tells of a mark which queue it belongs to."""

from __future__ import annotations

from collections.abc import Iterable


def refusals(said: Iterable[str]) -> list[str]:
    """The answers to configuration lines that are no mere information."""
    return [text for text in said if not text.startswith("% Info:")]
