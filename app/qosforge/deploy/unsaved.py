"""Running and startup configuration that differ, and what of it stops a push."""

from __future__ import annotations

from cli_candidate.unsaved import unsaved_lines
from napalm_force10.force10 import FTOS
from napalm_ios_legacy.ios_legacy import IOS

from qosforge.compiler.candidate import rollback_lines
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.driver_capabilities import DriverCapabilities, driver_capabilities
from qosforge.errors import CommandRefused
from qosforge.inventory.models import Device
from qosforge.platforms.device_text import DeviceText

_DIALECTS = {"ios": IOS, "force10": FTOS}


def unsaved(how: DriverCapabilities, startup: DeviceText, running: DeviceText) -> tuple[DeviceText, ...]:
    """How a running configuration differs from startup: ``-`` or ``+``, and the line with what it stands under.

    Comments, lines that the device writes of its own accord and the order of lines (but in lists) are no
    difference. Nothing where the device shows no startup configuration.
    """
    if not how.dialect or startup.is_blank:
        return ()
    lines = unsaved_lines(startup.unmasked, running.unmasked, _DIALECTS[how.dialect])
    return tuple(running.saying(line) for line in lines)


def in_the_way(
    how: DriverCapabilities, platform: str, startup: DeviceText, running: DeviceText
) -> tuple[DeviceText, ...]:
    """The unsaved lines that stop a push.

    A rollback that saves, or a timer that reloads, would make any of them permanent or lose it. Without either,
    only lines that we manage are in the way: they tell after a rollback whether somebody saved the change.
    """
    if how.native_rollback or how.revert_timer:
        return unsaved(how, startup, running)
    if startup.is_blank:
        return ()
    return tuple(running.saying(f"+{line.strip()}") for line in rollback_lines(platform, startup, running))


def read_in_the_way(device: Device, driver: DeviceDriver, running: DeviceText) -> tuple[str, ...] | None:
    """The unsaved lines of a device that stop a push, as they may be shown; its startup configuration is read.
    ``None`` where the device does not show that, so that nobody knows.

    Raises:
        DeviceError: the session failed.
    """
    how = driver_capabilities(device.driver, device.name)
    if not how.dialect:
        return None
    try:
        startup = driver.get_config("startup")
    except CommandRefused:
        return None
    if startup.is_blank:
        return None
    lines = in_the_way(how, device.platform, startup, running)
    return tuple(line.in_message() for line in lines)
