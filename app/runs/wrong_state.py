"""The error of asking something of a run that its state does not allow."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import InputError


@dataclass(eq=False)
class WrongState(InputError):
    """The run is not in a state in which this can be done to it."""
