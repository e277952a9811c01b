"""Findings on the scopes of an intent: unknown names, scopes without an interface, and contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from qosforge.compiler.scope_resolution import in_scope
from qosforge.errors import InputError
from qosforge.findings import Finding, Severity
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import PortShape, Scope, every_class
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.request import DeviceRequest
from qosforge.units import format_rate

MOST_SELECTIONS = 4_000_000
"""Values of scopes that may be looked for at interfaces."""
MOST_LOOKED_UP = 20
"""Unknown names for which it is looked up what may be meant: networks have many ports."""


def require_few_selections(loaded: LoadedIntent, network: Network) -> None:
    """Make sure that the scopes can be looked for at every interface of a network.

    Raises:
        InputError: their values times the interfaces are more than `MOST_SELECTIONS`.
    """
    values = sum(1 + len(getattr(scope, name)) for scope in loaded.intent.apply for name in scope.selectors)
    interfaces = sum(len(device.interfaces) for device in network.devices)
    if values * interfaces > MOST_SELECTIONS:
        raise InputError(
            f"scopes of {values:,} values at the {interfaces:,} interfaces of network {network.name} are "
            f"{values * interfaces:,} selections, at most {MOST_SELECTIONS:,} are looked at",
            loaded.document.place(("apply",)),
            "select by roles and tags instead of single devices and ports",
        )


def find_unknown_names(loaded: LoadedIntent, network: Network) -> Iterable[Finding]:
    """Scopes that name what the network does not have, or that no interface is in."""
    told = 0
    known = {
        "devices": [d.name for d in network.devices],
        "ports": [n for d in network.devices for i in d.interfaces for n in (i.name, i.lag) if n],
        "interfaces": [t for d in network.devices for i in d.interfaces for t in i.tags],
        "role": [role.value for role in DeviceRole],
    }
    sets = {selector: frozenset(names) for selector, names in known.items()}
    for position, scope in enumerate(loaded.intent.apply):
        missing = [(k, name) for k, names in sets.items() for name in getattr(scope, k) if name not in names]
        for selector, name in missing:
            told += 1
            near = get_close_matches(name, known[selector], n=1) if told <= MOST_LOOKED_UP else []
            yield _scope_finding(
                loaded,
                position,
                "scope-unknown-name",
                f"{selector} {name!r} is not in network {network.name}",
                f"did you mean {near[0]!r}?" if near else "check it against hosts.yaml",
            )
        if not missing and not any(in_scope(scope, d, i) for d in network.devices for i in d.interfaces):
            yield _scope_finding(
                loaded,
                position,
                "scope-matches-nothing",
                f"no interface of network {network.name} is in this scope",
                f"its {', '.join(scope.selectors)} must hold for one interface: check them against hosts.yaml",
            )


def _scope_finding(loaded: LoadedIntent, position: int, code: str, message: str, hint: str) -> Finding:
    return Finding(
        code=code,
        severity=Severity.WARNING,
        message=message,
        file=loaded.document.file,
        line=loaded.document.place(("apply", position)).line,
        hint=hint,
    )


def find_unrecognised(loaded: LoadedIntent, requests: Iterable[DeviceRequest]) -> Iterable[Finding]:
    """``input-scope-missing``: classes that are to be policed or marked on input, where no input recognises any."""
    if any(i.recognise for request in requests for i in request.interfaces):
        return
    for entry in every_class(loaded.intent.classes):
        police = entry.treatment.police
        policed = police is not None and police.direction == "input"
        if not policed and entry.mark is None:
            continue
        where, done = loaded.class_place(entry.name), "policed" if policed else "marked"
        yield Finding(
            code="input-scope-missing",
            severity=Severity.ERROR if policed and police and not police.prefer else Severity.WARNING,
            message=f"no input in scope recognises classes: this one is {done} nowhere",
            traffic_class=entry.name,
            file=where.file if where else None,
            line=where.line if where else None,
            hint="put interfaces tagged lan under a scope of direction input without trust",
        )


def agree_on(
    loaded: LoadedIntent, device: Device, interface: Interface, scopes: Sequence[Scope], field: str
) -> tuple[object, Iterable[Finding]]:
    """What the scopes of one side say of an interface; a finding where they differ (the first wins)."""
    said = list(dict.fromkeys(value for s in scopes if (value := getattr(s, field)) is not None))
    if len(said) < 2:
        return (said[0] if said else None), ()
    position = next(n for n, s in enumerate(loaded.intent.apply) if s in scopes and getattr(s, field) == said[1])
    finding = _scope_finding(
        loaded, position, "scopes-disagree", f"two scopes give this interface a {field} each", "narrow one of them"
    )
    place = {"device": device.name, "interface": interface.name, "direction": scopes[0].direction}
    words = {"requested": _word(said[1]), "applied": _word(said[0]), "severity": Severity.ERROR}
    return said[0], (finding.model_copy(update=place | words),)


def _word(value: object) -> str:
    return format_rate(value.rate) if isinstance(value, PortShape) else str(value)
