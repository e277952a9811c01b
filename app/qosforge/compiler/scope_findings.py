"""Findings on the scopes of an intent: unknown names, scopes without an interface, and contradictions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from qosforge.compiler.scope_resolution import in_scope
from qosforge.errors import InputError, Place
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import PortShape, Scope, TrafficClass, every_class
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.note import note
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.units import format_rate

MOST_SELECTIONS = 4_000_000
"""Values of scopes that may be looked for at interfaces."""
MOST_LOOKED_UP = 20
"""Unknown names for which it is looked up what may be meant: networks have many ports."""
NEAR_TO_NAMED = 0.8
"""How alike (0 to 1) an unknown name has to be to one that the intent names itself: ``wan`` is 0.67 to ``lan``, and
``wann`` 0.86 to ``wan``.
"""
_OF_TAG = {
    (False, False): "tag",
    (False, True): "tag-near",
    (True, False): "tag-alone",
    (True, True): "tag-alone-near",
}
"""The variant for a tag that no port has, by whether ports have none of its scope's, and whether one is like it."""


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
    named = {selector: {n for scope in loaded.intent.apply for n in getattr(scope, selector)} for selector in known}
    for position, scope in enumerate(loaded.intent.apply):
        missing = [(k, name) for k, names in sets.items() for name in getattr(scope, k) if name not in names]
        tagless = bool(scope.interfaces) and sets["interfaces"].isdisjoint(scope.interfaces)
        for selector, name in missing:
            told += 1
            near = _nearest(name, known[selector], named[selector]) if told <= MOST_LOOKED_UP else []
            of_name = "near" if near else DEFAULT
            yield note(
                "scope-unknown-name",
                _scope_place(loaded, position),
                variant=_OF_TAG[tagless, bool(near)] if selector == "interfaces" else of_name,
                selector=selector,
                name=name,
                network=network.name,
                **({"near": near[0]} if near else {}),
            )
        if not missing and not any(in_scope(scope, d, i) for d in network.devices for i in d.interfaces):
            yield note(
                "scope-matches-nothing",
                _scope_place(loaded, position),
                network=network.name,
                selectors=", ".join(scope.selectors),
            )


def _nearest(name: str, known: Sequence[str], named: Collection[str]) -> list[str]:
    """The known name that is most likely meant, or none. One that scopes of the intent name themselves is a word of
    its writer's own, as ``lan`` is beside ``wan``: that one is only meant by what differs from it by a slip.
    """
    others = [one for one in known if one not in named]
    return get_close_matches(name, others, n=1) or get_close_matches(name, known, n=1, cutoff=NEAR_TO_NAMED)


def _scope_place(loaded: LoadedIntent, position: int) -> Place:
    return Place(file=loaded.document.file, line=loaded.document.place(("apply", position)).line)


def find_unrecognised(
    loaded: LoadedIntent, requests: Iterable[DeviceRequest], network: Network
) -> Iterable[Finding]:
    """``input-scope-missing``: classes that are to be policed or marked on input, where no input recognises any;
    and inputs in scope that recognise none, where others do.
    """
    acting = [
        entry
        for entry in every_class(loaded.intent.classes)
        if (entry.mark is not None and not entry.mark.keep) or _policed(entry)
    ]
    inputs = [(r.device, i) for r in requests for i in r.interfaces if i.recognise or i.trust]
    if any(i.recognise for _, i in inputs):
        unsaid = [(device, i) for device, i in inputs if i.trust and i.trust_in is None] if acting else []
        yield from (_unrecognised_at(device, i, acting) for device, i in unsaid if not _inner(device, i, network))
        return
    for entry in acting:
        where = loaded.class_place(entry.name)
        yield note(
            "input-scope-missing",
            Place(traffic_class=entry.name, file=where.file if where else None, line=where.line if where else None),
            variant="policed" if _policed(entry) else "marked",
            preferred=_police_preferred(entry),
        )


def _inner(device: str, interface: InterfaceRequest, network: Network) -> bool:
    """Whether another device of the network is at the other end, where packets have been recognised on entry; the
    link may be that of a subinterface's interface, or of a link aggregation.
    """
    names = {interface.name, interface.name.partition(".")[0], interface.lag}
    return any(name is not None and network.neighbour((device, name)) is not None for name in names)


def _unrecognised_at(device: str, interface: InterfaceRequest, acting: Sequence[TrafficClass]) -> Finding:
    policed = [entry for entry in acting if _policed(entry)]
    return note(
        "input-scope-missing",
        Place(device=device, interface=interface.name, direction="input"),
        requested=", ".join(entry.name for entry in policed or acting),
        applied="packets keep the marks that they arrive with",
        variant="unpoliced-here" if policed else "unmarked-here",
        preferred=all(map(_police_preferred, policed)),
    )


def _policed(entry: TrafficClass) -> bool:
    police = entry.treatment.police
    return police is not None and police.direction == "input"


def _police_preferred(entry: TrafficClass) -> bool:
    police = entry.treatment.police
    return police is not None and police.prefer


def agree_on(
    loaded: LoadedIntent, device: Device, interface: Interface, scopes: Sequence[Scope], field: str
) -> tuple[object, Iterable[Finding]]:
    """What the scopes of one side say of an interface; a finding where they differ (the first wins)."""
    said = list(dict.fromkeys(value for s in scopes if (value := getattr(s, field)) is not None))
    if len(said) < 2:
        return (said[0] if said else None), ()
    position = next(n for n, s in enumerate(loaded.intent.apply) if s in scopes and getattr(s, field) == said[1])
    place = replace(
        _scope_place(loaded, position),
        device=device.name,
        interface=interface.name,
        direction=scopes[0].direction,
    )
    found = note("scopes-disagree", place, requested=_word(said[1]), applied=_word(said[0]), field=field)
    return said[0], (found,)


def _word(value: object) -> str:
    if not isinstance(value, PortShape):
        return str(value)
    return f"{value.percent} %" if value.rate is None else format_rate(value.rate)
