"""The choices that the policy form offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from qosforge.deltaq.presets import Preset, presets
from qosforge.dscp import DSCP_NAMES
from qosforge.intent.models import FramingName
from qosforge.inventory.models import DeviceRole, Network
from qosforge.units import format_rate, format_ratio, format_seconds
from qosforge.web.views.class_view import ports_of, recognition
from qosforge.web.views.policy_form import PolicyForm

Pairs = tuple[tuple[str, str], ...]
"""Values with their labels."""

_NOTHING = ("", "–")


def choices(text: Callable[..., str], form: PolicyForm, network: Network | None) -> dict[str, Any]:
    """Everything beside the form itself that its templates take; ``text`` translates."""
    ports: dict[str, list[str]] = {}
    for device in network.devices if network else ():
        for interface in device.interfaces:
            ports.setdefault(interface.name, []).append(device.name)
    tags = {tag for device in (network.devices if network else ()) for one in device.interfaces for tag in one.tags}
    return {
        "dscps": (_NOTHING, *_code_points()),
        "coses": (_NOTHING, *((str(n), str(n)) for n in range(8))),
        "presets": (("", text("none: own bounds, or no objective")), *_presets()),
        "preset_numbers": preset_numbers,
        "recognised": recognition,
        "applications": tuple(
            (name, f"{name} – {ports_of(form.catalogue, name)}") for name in sorted(form.catalogue)
        ),
        "framings": tuple((name, name) for name in FramingName.__args__),  # type: ignore[attr-defined]
        "roles": tuple((role.value, role.value) for role in DeviceRole),
        "tags": tuple((tag, tag) for tag in sorted(tags)),
        "devices": tuple(
            (one.name, f"{one.name} – {one.platform}") for one in (network.devices if network else ())
        ),
        "ports": tuple((name, f"{name} – {', '.join(found)}") for name, found in ports.items()),
        "stations": (_NOTHING, *((one.name, one.name) for one in (network.stations if network else ()))),
        "rate": format_rate,
        "class_names": tuple((name, name) for name in form.names),
    }


def preset_numbers(name: str) -> str:
    """The bounds of a preset, as people read them; empty where there is no such preset."""
    found = presets().get(name)
    return "; ".join(_bounds(found)) if found else ""


def _bounds(found: Preset) -> Iterator[str]:
    if found.mean:
        yield f"mean delay at most {format_seconds(found.mean.bound)}"
    if found.variation:
        yield f"jitter ({found.variation.quantile}) at most {format_seconds(found.variation.bound)}"
    if found.loss:
        yield f"loss at most {format_ratio(found.loss.bound)}"


def _presets() -> Iterator[tuple[str, str]]:
    for name, each in presets().items():
        if each.objective() is not None:
            yield name, f"{name} – {each.title}"


def _code_points() -> Iterator[tuple[str, str]]:
    for name, number in sorted(DSCP_NAMES.items(), key=lambda entry: -entry[1]):
        if name != "cs0":  # the same as default
            yield name, f"{name} ({number})"
