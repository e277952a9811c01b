"""The lab's own errors: what went wrong, where, and what corrects it."""

from __future__ import annotations


class LabError(Exception):
    """Base of every error the lab raises on purpose."""


class SpecError(LabError):
    """The network file is not a lab description."""


class StartError(LabError):
    """The lab's process did not come up."""


class ChannelError(LabError):
    """A control request could not be carried out, or nobody answers on the control socket."""


class BoxError(LabError):
    """A box was asked for something it does not have (an interface, a box name, a fault kind)."""
