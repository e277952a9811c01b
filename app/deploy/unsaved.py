"""Running and startup configuration that differ, and what of it stops a push."""

from __future__ import annotations

from cli_candidate.unsaved import unsaved_lines
from napalm.base.base import NetworkDriver
from napalm_force10.force10 import FTOS
from napalm_ios_legacy.ios_legacy import IOS

from app.compiler.candidate import undo
from app.deploy.device_words import DeviceWords
from app.deploy.traits import Traits, traits
from app.inventory.models import Device

_DIALECTS = {"ios": IOS, "force10": FTOS}


def unsaved(how: Traits, startup: str, running: str) -> tuple[str, ...]:
    """How a running configuration differs from startup: ``-`` or ``+``, and the line with what it stands under.

    Comments, lines that the device writes of its own accord and the order of lines (but in lists) are no
    difference. Nothing where the device shows no startup configuration.
    """
    if not how.dialect or not startup.strip():
        return ()
    lines: tuple[str, ...] = unsaved_lines(startup, running, _DIALECTS[how.dialect])
    return lines


def in_the_way(how: Traits, platform: str, startup: str, running: str) -> tuple[str, ...]:
    """The unsaved lines that stop a push.

    A rollback that saves, or a timer that reloads, would make any of them permanent or lose it. Without either,
    only lines that we manage are in the way: they tell after a rollback whether somebody saved the change.
    """
    if how.native_rollback or how.revert_timer:
        return unsaved(how, startup, running)
    return tuple(f"+{line.strip()}" for line in undo(platform, startup, running)) if startup.strip() else ()


def read_in_the_way(device: Device, driver: NetworkDriver, running: str, words: DeviceWords) -> tuple[str, ...]:
    """The unsaved lines of a device that stop a push, as they may be shown; its startup configuration is read."""
    how = traits(device.driver, device.name)
    if not how.dialect:
        return ()
    startup = driver.get_config(retrieve="startup")["startup"]
    return tuple(words.shown(line) for line in in_the_way(how, device.platform, startup, running))
