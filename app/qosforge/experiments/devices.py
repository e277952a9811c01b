"""Devices of experiments by name: the unnamed ones of the papers, and the platforms' own."""

from __future__ import annotations

from functools import cache

from qosforge.errors import InputError
from qosforge.platforms.profile import DeviceProfile, read_profile
from qosforge.resources import SOURCES

_FOLDER = "qosforge/experiments/data/devices"


@cache
def device_profile(name: str) -> DeviceProfile:
    """The profile of a device: a file of the experiments, else the platform's of this name.

    Raises:
        InputError: neither exists.
        ServiceError: the file is wrong.
    """
    own = {path.stem: f"{_FOLDER}/{path.name}" for path in (SOURCES / _FOLDER).glob("*.yaml")}
    platforms = {
        path.parent.name: f"qosforge/platforms/{path.parent.name}/profile.yaml"
        for path in (SOURCES / "qosforge" / "platforms").glob("*/profile.yaml")
    }
    files = {**platforms, **own}
    if name not in files:
        raise InputError(f"no profile is called {name!r}", hint=f"use one of {', '.join(sorted(files))}")
    return read_profile(files[name])
