"""The kinds of box the lab can emulate, found through the entry point group ``qoslab.devices``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from qoslab.box import Box
from qoslab.clock import Clock
from qoslab.errors import SpecError
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

GROUP = "qoslab.devices"


@cache
def installed() -> Mapping[str, EntryPoint]:
    """Entry points of the kinds of box by the ids of their platforms."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def make_box(spec: BoxSpec, storage: Storage, clock: Clock) -> Box:
    """The box a spec asks for, not yet booted. Raises SpecError for an unknown platform."""
    entry = installed().get(spec.platform)
    if entry is None:
        known = ", ".join(sorted(installed()))
        raise SpecError(f"box {spec.name}: no platform {spec.platform!r}: one of {known}")
    made = entry.load()(spec, storage, clock)
    if not isinstance(made, Box):
        raise SpecError(f"box {spec.name}: {entry.value} is not a box")
    return made
