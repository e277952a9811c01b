"""WRED profiles by colour: predefined ones, and those that an intent requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qosforge.dscp import drop_precedence
from qosforge.findings import Finding, Severity
from qosforge.intent.wred import WredProfile
from qosforge.plan.model import Red
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import capabilities, default_wred, predefined_wred, red

_KB = 1024
_COLOURS = {"low": "green", "medium": "yellow", "high": "yellow"}
"""Two colours: the device sees the AF classes' second and third drop precedence as one."""


@dataclass(frozen=True)
class Detection:
    """Early detection of a class: thresholds in KB of the colours that have profiles of the class's own."""

    own: dict[str, tuple[int, int]]

    def red(self, port_family: str) -> Red:
        """What is in force on ports of a family: a colour without a profile of its own keeps the default."""
        usual = {colour: predefined_wred()[name] for colour, name in default_wred(port_family).items()}
        return red({**usual, **self.own})


def detection(class_request: ClassRequest) -> Detection | None:
    """The early detection of a class; None where none is asked for."""
    if class_request.treatment.wred is None:
        return None
    found: dict[str, tuple[int, int]] = {}
    for profile in class_request.treatment.wred.profiles:
        for colour in _colours(profile) if _reason(profile) is None else ():
            found.setdefault(colour, _thresholds(profile))
    return Detection(found)


def _colours(profile: WredProfile) -> tuple[str, ...]:
    if profile.colour is not None:
        return (profile.colour,)
    return tuple(dict.fromkeys(_COLOURS.get(drop_precedence(d) or "low", "green") for d in profile.dscp))


def _thresholds(profile: WredProfile) -> tuple[int, int]:
    """Thresholds in whole KB, at least one between nothing and something."""
    size = capabilities()["packet_bytes"]["value"] if profile.minimum.unit == "packets" else 1
    low, high = (max(1, round(depth.value * size / _KB)) for depth in (profile.minimum, profile.maximum))
    return low, high


def _reason(profile: WredProfile) -> str | None:
    """Why the device has no such profile."""
    if profile.colour == "red":
        return "the device tells two colours, green and yellow"
    if profile.precedence:
        return "the device tells packets by colour, which a precedence does not say"
    if profile.minimum.unit == "ms":
        return "thresholds are in KB of the port's memory, not in time"
    if len(_colours(profile)) > 1:
        return "the DSCPs of a profile have different colours"
    highest: int = capabilities()["wred_threshold"]["maximum"]
    low, high = _thresholds(profile)
    return None if high <= highest else f"thresholds of {low} and {high} KB are above {highest} KB"


def wred_findings(request: DeviceRequest, families: Iterable[str], *, by_map: bool) -> Iterator[Finding]:
    """Early detection is by colour; ``by_map`` says that ports trust DSCPs, which is what gives a colour."""
    for c in request.classes:
        requested, made = c.treatment.wred, detection(c)
        if requested is None or made is None:
            continue
        graver = Severity.WARNING if requested.prefer else Severity.ERROR
        for profile in requested.profiles:
            reason = _reason(profile)
            if reason is not None:
                yield _finding(
                    request, c, "wred-unsupported", graver, reason, hint="give profiles by colour, in kB"
                )
                continue
            yield from _approximations(request, c, profile)
        yield from _clashes(request, c, graver)
        parts = [
            f"{colour} {low} to {high} KB on {name}"
            for name in families
            for colour, profile_name in default_wred(name).items()
            for low, high in [made.own.get(colour, predefined_wred()[profile_name])]
        ]
        kind = "with the predefined profiles" if not made.own else "with profiles of the class's own"
        yield _finding(
            request,
            c,
            "wred-by-colour",
            Severity.INFO,
            f"early detection tells packets by colour (the DSCP's drop bits), {kind}",
            applied=", ".join(parts),
        )
        if "yellow" in made.own and (not by_map or any(i.recognise for i in request.interfaces)):
            yield _finding(
                request,
                c,
                "wred-colour-needs-trust",
                Severity.WARNING,
                "only packets that enter at a port that trusts DSCPs are yellow: those of class maps are all green",
                requested="a yellow profile",
                applied="green for what class maps put into the queue",
                hint="trust the DSCP where the packets enter",
            )


def _approximations(request: DeviceRequest, c: ClassRequest, profile: WredProfile) -> Iterator[Finding]:
    low, high = _thresholds(profile)
    exact = profile.minimum.unit == "bytes" and (low * _KB, high * _KB) == (
        profile.minimum.value,
        profile.maximum.value,
    )
    if exact and profile.probability == 1:
        return
    size = capabilities()["packet_bytes"]["value"]
    unit = "bytes" if profile.minimum.unit == "bytes" else f"packets of {size} bytes"
    requested = f"{profile.minimum.value} to {profile.maximum.value} {unit}"
    yield _finding(
        request,
        c,
        "wred-approximate",
        Severity.INFO,
        "thresholds are whole KB, and drops grow to all packets at the upper one",
        requested=f"{requested}, {profile.probability * 100:g} % at the end",
        applied=f"{low} to {high} KB, 100 % at the end",
    )


def _clashes(request: DeviceRequest, c: ClassRequest, graver: Severity) -> Iterator[Finding]:
    """Profiles of two marks that have one colour."""
    seen: dict[str, tuple[int, int]] = {}
    for profile in c.treatment.wred.profiles if c.treatment.wred else ():
        for colour in _colours(profile) if _reason(profile) is None else ():
            held = seen.setdefault(colour, _thresholds(profile))
            if held != _thresholds(profile):
                message = f"two profiles are for packets that are {colour} here: the first is taken"
                applied = f"{held[0]} to {held[1]} KB"
                hint = "leave one of the two out, or give both the same thresholds"
                yield _finding(request, c, "wred-unsupported", graver, message, applied=applied, hint=hint)


def _finding(
    request: DeviceRequest,
    c: ClassRequest,
    code: str,
    severity: Severity,
    message: str,
    *,
    requested: str | None = None,
    applied: str | None = None,
    hint: str | None = None,
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        device=request.device,
        direction="output",
        traffic_class=c.name,
        line=c.line,
        requested=requested,
        applied=applied,
        hint=hint,
    )
