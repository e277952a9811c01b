"""Devices of experiments by name: the unnamed ones of the papers, and the platforms' own."""

from __future__ import annotations

from functools import cache

from app.errors import InputError
from app.platforms.profile import DeviceProfile, read_profile
from app.resources import root

_FOLDER = "app/experiments/data/boxes"


@cache
def box_profile(name: str) -> DeviceProfile:
    """The profile of a device: a file of the experiments, else the platform's of this name.

    Raises:
        InputError: neither exists.
        ServiceError: the file is wrong.
    """
    own = {path.stem: f"{_FOLDER}/{path.name}" for path in (root() / _FOLDER).glob("*.yaml")}
    platforms = {
        path.parent.name: f"app/platforms/{path.parent.name}/profile.yaml"
        for path in (root() / "app" / "platforms").glob("*/profile.yaml")
    }
    files = {**platforms, **own}
    if name not in files:
        raise InputError(f"no profile is called {name!r}", hint=f"use one of {', '.join(sorted(files))}")
    return read_profile(files[name])
