"""What the deployment must know of a NAPALM driver beyond its common face."""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import InputError, Place
from app.inventory.models import Network
from app.platforms.base import platform


@dataclass(frozen=True)
class Traits:
    """``revert_timer``: the box goes back by itself unless confirmed. ``native_rollback``: ``rollback()`` takes
    a pending commit back; otherwise the inverse is entered. ``autosave_off`` is the line by which a device is told
    not to write its startup configuration by itself; "" where it never does.
    """

    revert_timer: bool
    native_rollback: bool
    autosave_off: str = ""


DRIVERS = {
    "ios": Traits(revert_timer=True, native_rollback=True),
    "ios_legacy": Traits(revert_timer=True, native_rollback=False),
    "force10": Traits(revert_timer=False, native_rollback=False),
    # A 5510 saves a while after every change unless told not to (Avaya's ACLI defaults: autosave is on).
    "ers": Traits(revert_timer=False, native_rollback=False, autosave_off="no autosave enable"),
}


def traits(driver: str, device: str) -> Traits:
    """Traits of a driver.

    Raises:
        InputError: it is not one that deployment was tried with.
    """
    if driver not in DRIVERS:
        known = ", ".join(sorted(DRIVERS))
        raise InputError(f"unknown driver {driver!r}", Place(device=device), f"known: {known}")
    return DRIVERS[driver]


def require_installed(network: Network) -> None:
    """Make sure that every device of a network has a platform and a driver that are known here.

    Raises:
        InputError: one has not.
    """
    for device in network.devices:
        platform(device.platform, device.name)
        traits(device.driver, device.name)
