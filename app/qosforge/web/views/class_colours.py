"""The colour of a traffic class: one of as many as a policy usually has classes, by its number in the policy."""

from __future__ import annotations

COLOURS = 12
"""As many as RFC 4594 has service classes; `site.css` has them, by day and by night."""


def class_colour(number: int) -> int:
    """The number of the colour, from 1, of the class of a ``number``, from 1."""
    return (number - 1) % COLOURS + 1
