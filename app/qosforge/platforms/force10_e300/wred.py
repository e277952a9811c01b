"""WRED profiles by colour: predefined ones, and those that an intent requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qosforge.dscp import drop_precedence, dscp_name
from qosforge.findings import Finding
from qosforge.intent.wred import WredProfile
from qosforge.note import Reason, because, note
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, default_thresholds, yellow
from qosforge.platforms.force10_e300.class_marks import marks

_KB = 1024
_COLOURS = {"low": "green", "medium": "yellow", "high": "yellow"}
"""Two colours: the device sees the AF classes' second and third drop precedence as one."""


def own_profiles(class_request: ClassRequest) -> dict[str, tuple[int, int]]:
    """Thresholds in KB of the colours that have profiles of a class's own; other colours keep the default."""
    wred = class_request.treatment.wred
    found: dict[str, tuple[int, int]] = {}
    for profile in wred.profiles if wred else ():
        for colour in _colours(profile) if _reason(profile) is None else ():
            found.setdefault(colour, _thresholds(profile))
    return found


def _colours(profile: WredProfile) -> tuple[str, ...]:
    if profile.colour is not None:
        return (profile.colour,)
    return tuple(dict.fromkeys(_COLOURS.get(drop_precedence(d) or "low", "green") for d in profile.dscp))


def _thresholds(profile: WredProfile) -> tuple[int, int]:
    """Thresholds in whole KB, at least one between nothing and something."""
    size = CAPABILITIES.packet_bytes.value if profile.minimum.unit == "packets" else 1
    low, high = (max(1, round(depth.value * size / _KB)) for depth in (profile.minimum, profile.maximum))
    return low, high


def _reason(profile: WredProfile) -> Reason | None:
    """Why the device has no such profile."""
    if profile.colour == "red":
        return because("wred-unsupported", variant="two-colours")
    if profile.precedence:
        return because("wred-unsupported", variant="no-precedence")
    if profile.minimum.timed:
        return because("wred-unsupported", variant="no-time")
    if len(_colours(profile)) > 1:
        return because("wred-unsupported", variant="colours-differ")
    highest = CAPABILITIES.wred_threshold.maximum
    low, high = _thresholds(profile)
    if high <= highest:
        return None
    return because("wred-unsupported", variant="thresholds-too-high", minimum=low, maximum=high, high=highest)


def wred_findings(request: DeviceRequest, families: Iterable[str], *, coloured: bool) -> Iterator[Finding]:
    """Early detection is by colour, which packets have at ports that trust DSCPs; ``coloured``: some port does."""
    for c in request.classes:
        requested, own = c.treatment.wred, own_profiles(c)
        if requested is None:
            continue
        place = class_place(request, c, direction="output")
        for profile in requested.profiles:
            reason = _reason(profile)
            if reason is not None:
                yield reason.note(place, preferred=requested.prefer)
                continue
            yield from _approximations(request, c, profile)
        yield from _clashes(request, c)
        colours = ("green", "yellow") if coloured else ("green",)
        parts = [
            f"{colour} {low} to {high} KB on {name}"
            for name in families
            for colour in colours
            for low, high in [own.get(colour, default_thresholds(name)[colour])]
        ]
        if own.keys() & set(colours):
            variant = "own" if coloured else "own-green"
        else:
            variant = "predefined" if coloured else "predefined-green"
        yield note("wred-by-colour", place, applied=", ".join(parts), variant=variant)
        if not coloured or any(i.recognise for i in request.interfaces):
            yield from _lost_colours(request, c, coloured=coloured)


def _lost_colours(request: DeviceRequest, c: ClassRequest, *, coloured: bool) -> Iterator[Finding]:
    """A class some of whose packets should be yellow, and are green."""
    dscps = [dscp_name(d) for d in sorted(marks(c)) if yellow(d)]
    if "yellow" in own_profiles(c):
        requested = "a yellow profile"
    elif dscps and len(dscps) < len(marks(c)):
        requested = f"{', '.join(dscps)} yellow"
    else:
        return
    yield note(
        "wred-colour-needs-trust",
        class_place(request, c, direction="output"),
        requested=requested,
        applied="green for what class maps put into the queue" if coloured else "green",
        variant="default" if coloured else "no-trust",
    )


def _approximations(request: DeviceRequest, c: ClassRequest, profile: WredProfile) -> Iterator[Finding]:
    low, high = _thresholds(profile)
    exact = profile.minimum.unit == "bytes" and (low * _KB, high * _KB) == (
        profile.minimum.value,
        profile.maximum.value,
    )
    if exact and profile.probability == 1:
        return
    size = CAPABILITIES.packet_bytes.value
    unit = "bytes" if profile.minimum.unit == "bytes" else f"packets of {size} bytes"
    requested = f"{profile.minimum.value} to {profile.maximum.value} {unit}"
    yield note(
        "wred-approximate",
        class_place(request, c, direction="output"),
        requested=f"{requested}, {profile.probability * 100:g} % at the end",
        applied=f"{low} to {high} KB, 100 % at the end",
        variant="whole-kb",
    )


def _clashes(request: DeviceRequest, c: ClassRequest) -> Iterator[Finding]:
    """Profiles of two marks that have one colour."""
    seen: dict[str, tuple[int, int]] = {}
    wred = c.treatment.wred
    for profile in wred.profiles if wred else ():
        for colour in _colours(profile) if _reason(profile) is None else ():
            held = seen.setdefault(colour, _thresholds(profile))
            if held != _thresholds(profile):
                yield note(
                    "wred-unsupported",
                    class_place(request, c, direction="output"),
                    applied=f"{held[0]} to {held[1]} KB",
                    variant="profiles-clash",
                    colour=colour,
                    preferred=wred is not None and wred.prefer,
                )
