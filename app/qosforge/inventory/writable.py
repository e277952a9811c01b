"""The error for networks and devices that are read-only."""

from __future__ import annotations

from qosforge.errors import InputError, Place


def read_only(network: str, device: str | None = None) -> InputError:
    """That nothing is pushed to a network, and how that is changed."""
    return InputError(
        f"network {network} is read-only: nothing was sent",
        Place(device=device),
        "whoever answers for the network writes 'writable: true' into its changes.yaml",
    )
