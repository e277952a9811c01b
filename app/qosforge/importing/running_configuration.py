"""Running configurations: recognise the device, the platform and the image, and parse the plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from qosforge.errors import InputError, Place
from qosforge.plan.model import Plan
from qosforge.platforms.base import DeviceFamily, installed, platform

_SWITCHPORT = re.compile(r"switchport\b.*")
_WAN = re.compile(r"interface (?:Serial|ATM|BRI|Async|Cellular|Dialer|Multilink|Virtual-Template)\d.*")
"""Interfaces that routers alone have, among them those with a module of switch ports."""
_PROMPT = re.compile(r"^\s*\w[\w.-]*\(conf[\w/.-]*\)[#>] *")
_HOSTNAME = re.compile(r"(?:hostname|snmp-server name) \"?([A-Za-z0-9][A-Za-z0-9_.-]{0,62})\"?")
_VERSION = re.compile(r"(?:! *)?[Vv]ersion (\d+\.\d+[\w().-]*)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


@dataclass(eq=False)
class PlatformNotTold(InputError):
    """No line of a configuration tells its platform, or they tell two alike: a person can."""


@dataclass(frozen=True)
class RunningConfiguration:
    """A configuration as it was read; ``images`` holds the one that is known, or those that it may be."""

    device: str
    platform: str
    images: tuple[str, ...]
    file: str
    text: str
    plan: Plan

    @property
    def family(self) -> DeviceFamily:
        """What an inventory says of such a device."""
        return platform(self.platform).family


def read_configuration(
    text: str, file: str, *, platform_id: str | None = None, image: str | None = None, device: str | None = None
) -> RunningConfiguration:
    """Read one configuration; what is not given is taken from its text, the name else from the file's.

    Raises:
        InputError: the platform is unknown or cannot be told, or the name is none.
    """
    chosen = platform_id or recognise_platform(text, file)
    family = platform(chosen).family
    name = device or stated_name(text) or PurePath(file).stem
    if _NAME.fullmatch(name) is None:
        raise InputError(f"{name[:60]!r} is not a device's name", Place(file=file), "give one with --device")
    stated = image or _stated(text, family)
    images = (stated,) if stated else family.images
    plan = platform(chosen).parse(text, name, images[0])
    return RunningConfiguration(name, chosen, images, file, text, plan)


def recognise_platform(text: str, file: str) -> str:
    """The platform whose lines a text has most of.

    Raises:
        PlatformNotTold: it has none of any, or of two alike.
    """
    lines = [" ".join(_PROMPT.sub("", line).split()) for line in text.splitlines()]
    switch = any(_SWITCHPORT.fullmatch(line) for line in lines) and not any(_WAN.fullmatch(line) for line in lines)
    known = {}
    for name in installed():
        family = platform(name).family
        known[name] = sum(1 for line in lines if re.fullmatch(family.signs, line))
        if switch and not family.switches:
            known[name] //= 4  # switches have VLAN interfaces and routing too, few routers have switch ports
    most = max(known.values(), default=0)
    found = [name for name, count in known.items() if count == most]
    if len(found) > 1 and (version := _version(text)) is not None:
        found = [name for name in found if re.fullmatch(platform(name).family.versions, version)] or found
    if most == 0 or len(found) > 1:
        why = "no line tells the platform" if most == 0 else f"may be of {' or '.join(sorted(found))}"
        raise PlatformNotTold(why, Place(file=file), f"give --platform: {', '.join(sorted(known))}")
    return found[0]


def stated_name(text: str) -> str | None:
    """The host name that a configuration states."""
    for line in text.splitlines():
        if (found := _HOSTNAME.fullmatch(line.strip())) is not None:
            return found[1]
    return None


def _stated(text: str, family: DeviceFamily) -> str | None:
    """The image that a configuration states, where that is its version."""
    return _version(text) if family.states_image else None


def _version(text: str) -> str | None:
    for line in text.splitlines():
        if (found := _VERSION.fullmatch(line.strip())) is not None:
            return found[1]
    return None
