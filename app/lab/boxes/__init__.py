"""The kinds of box the lab can emulate."""

from __future__ import annotations

from importlib import import_module

from app.lab.box import Box
from app.lab.clock import Clock
from app.lab.errors import SpecError
from app.lab.spec import BoxSpec
from app.lab.storage import Storage

PLATFORMS: dict[str, str] = {
    "cisco_ios": "app.lab.boxes.cisco_ios:CiscoIos",
    "catalyst_2950": "app.lab.boxes.catalyst_2950:Catalyst2950",
    "catalyst_2970": "app.lab.boxes.catalyst_2970:Catalyst2970",
    "nortel_5510": "app.lab.boxes.nortel_5510:Nortel5510",
    "force10_e300": "app.lab.boxes.force10_e300:Force10E300",
}


def make_box(spec: BoxSpec, storage: Storage, clock: Clock) -> Box:
    """The box a spec asks for, not yet booted. Raises SpecError for an unknown platform."""
    place = PLATFORMS.get(spec.platform)
    if place is None:
        raise SpecError(f"box {spec.name}: no platform {spec.platform!r}: one of {', '.join(PLATFORMS)}")
    module, _, name = place.partition(":")
    made = getattr(import_module(module), name)(spec, storage, clock)
    if not isinstance(made, Box):
        raise SpecError(f"box {spec.name}: {place} is not a box")
    return made
