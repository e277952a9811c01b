"""What a change alters of forwarding: interfaces, VLANs, neighbours, routes, and which packets arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qosforge.batfish.answers import Answers, Row, node_of, packet
from qosforge.batfish.parse_results import ParseResults
from qosforge.batfish.question_list import AFTER, BEFORE
from qosforge.batfish.snapshots import DeviceCopies, Snapshots
from qosforge.batfish.text_changes import ChangedLine, changed_lines, list_heads, squeezed
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.units import listed

_NEW, _GONE = "Only in Snapshot", "Only in Reference"
_UNIMPORTANT = ("Description", "Declared_Names")
_MOST_DETAILS = 4


@dataclass
class _Altered:
    """What is altered of a part of a device: an interface, a VLAN, its peers."""

    copies: DeviceCopies
    what: str
    details: list[str] = field(default_factory=list)


def forwarding_findings(snapshots: Snapshots, readings: ParseResults, answers: Answers) -> Iterator[Finding]:
    """Each interface that is altered, and the routes and packets that follow it, at the lines that alter it.

    What devices say that were not known before, or that Batfish did not read whole, is no change.
    """
    sound = {
        node: copies
        for node, copies in snapshots.devices.items()
        if copies.known and all(readings[side][node].has_all_stanzas for side in (BEFORE, AFTER))
    }
    changes = _Changes(sound)
    altered: dict[tuple[str, str], _Altered] = {}
    for question in ("interfaces", "vlans", "edges", "ospf", "bgp"):
        for row in answers.of(question):
            node, what, detail = _DETAILS[question](row)
            copies = sound.get(node)
            if copies is None or _is_meant(copies, question, row) or changes.is_of_others(copies, row):
                continue
            at = altered.setdefault((node, what), _Altered(copies, what))
            at.details.append(detail)
    for each in altered.values():
        line = changes.of_part(each.copies, each.what)
        interface = each.what.removeprefix("interface ") if each.what.startswith("interface ") else None
        details = list(dict.fromkeys(each.details))
        place = Place(device=each.copies.name, interface=interface)
        yield _finding(place, each.what, "; ".join(details[:_MOST_DETAILS]), line)
    everything_read = len(sound) == len(snapshots.devices)
    yield from _consequences(changes, answers, everything_read=everything_read)


class _Changes:
    """Lines of neither quality of service nor access lists that the change adds or takes away, by device."""

    def __init__(self, devices: Mapping[str, DeviceCopies]) -> None:
        self.devices = devices
        self._lines: dict[str, tuple[ChangedLine, ...]] = {}

    def of(self, copies: DeviceCopies) -> tuple[ChangedLine, ...]:
        if copies.node not in self._lines:
            lists = list_heads(copies.before, copies.after)
            self._lines[copies.node] = tuple(
                line
                for line in changed_lines(copies.before, copies.after)
                if line.head not in lists and (line.gone or line.text not in copies.own)
            )
        return self._lines[copies.node]

    def of_part(self, copies: DeviceCopies, what: str) -> ChangedLine | None:
        """The line that alters an interface: below its heading, else of a protocol, else any other."""
        heading = squeezed(what)
        lines = self.of(copies)
        groups = (
            [line for line in lines if squeezed(line.head) == heading],
            [line for line in lines if line.head.startswith("router ")],
            list(lines),
        )
        return next((_first(group) for group in groups if group), None)

    def is_of_others(self, copies: DeviceCopies, row: Row) -> bool:
        """Whether a neighbour is altered by what the other end does, or was not read there."""
        other = row.get("Remote_Interface")
        if other is None or self.of(copies):
            return False
        there = self.devices.get(other["hostname"])
        return there is None or bool(self.of(there))

    def of_routes(self, copies: DeviceCopies) -> ChangedLine | None:
        """The line that alters routes: a static one, else of a protocol, else any other."""
        lines = self.of(copies)
        static = [line for line in lines if line.text.startswith("ip route")]
        return _first(static or lines) if lines else None


def _first(lines: Sequence[ChangedLine]) -> ChangedLine:
    """The first line that is new, else the first one that is lost."""
    return next((line for line in lines if not line.gone), lines[0])


def _consequences(changes: _Changes, answers: Answers, *, everything_read: bool) -> Iterator[Finding]:
    """What the routing tables and the paths of packets make of it, told of the devices whose lines alter it."""
    causes = [(copies, line) for copies in changes.devices.values() if (line := changes.of_routes(copies))]
    if not causes and not everything_read:
        return
    routes = [row for row in answers.of("routes") if node_of(row["Node"]) in changes.devices]
    details = []
    if routes:
        nodes = dict.fromkeys(changes.devices[node_of(row["Node"])].name for row in routes)
        details.append(("routes", f"{len(routes)} rows on {listed(nodes, 8)}, such as {_route(routes[0])}"))
    packets = answers.of("reachability")
    if packets:
        details.append(("the paths of packets", _path(packets[0])))
    for what, detail in details:
        if not causes:
            yield _finding(Place(), what, detail, None)
        for copies, line in causes:
            yield _finding(Place(device=copies.name), what, detail, line)


def _finding(place: Place, what: str, detail: str, line: ChangedLine | None) -> Finding:
    facts: dict[str, Any] = {"what": what, "detail": detail}
    if line is None:
        return note("batfish-forwarding-changed", place, **facts)
    variant = "gone" if line.gone else "line"
    return note("batfish-forwarding-changed", place, variant=variant, text=line.text, line=line.number, **facts)


def _is_meant(copies: DeviceCopies, question: str, row: Row) -> bool:
    """Whether the policy itself alters this: a longest packet, or a new interface without an address."""
    if question != "interfaces":
        return False
    if row["KeyPresence"] == _NEW:
        return not row["Snapshot_All_Prefixes"]
    altered = _properties(row)
    return not altered or (altered == ["MTU"] and row["Interface"]["interface"] in copies.resized)


def _properties(row: Row) -> list[str]:
    names = [key.removeprefix("Snapshot_") for key in row if key.startswith("Snapshot_")]
    return [
        name
        for name in names
        if row[f"Snapshot_{name}"] != row.get(f"Reference_{name}") and name not in _UNIMPORTANT
    ]


def _presence(row: Row, thing: str) -> str | None:
    return {_NEW: f"{thing} is new", _GONE: f"{thing} is lost"}.get(row["KeyPresence"])


def _differences(row: Row) -> str:
    parts = []
    for name in _properties(row)[:_MOST_DETAILS]:
        old, new = _words(row[f"Reference_{name}"]), _words(row[f"Snapshot_{name}"])
        parts.append(f"{name.replace('_', ' ').lower()} {old} becomes {new}")
    return ", ".join(parts)


def _words(value: object) -> str:
    if isinstance(value, list):
        return listed(map(_words, value), 6) or "none"
    if isinstance(value, Mapping):
        named = (value[key] for key in ("interface", "name", "value") if value.get(key))
        return str(next(named, None) or next(iter(value.values()), "none"))
    return "none" if value in (None, "") else str(value)


_Detail = tuple[str, str, str]
"""The device, the part of it, and what is altered."""


def _interface(row: Row) -> _Detail:
    at = row["Interface"]
    return at["hostname"], f"interface {at['interface']}", _presence(row, "it") or _differences(row)


def _edge(row: Row) -> _Detail:
    at, to = row["Interface"], row["Remote_Interface"]
    thing = f"neighbour {to['hostname']} {to['interface']}"
    return at["hostname"], f"interface {at['interface']}", _presence(row, thing) or f"{thing}: {_differences(row)}"


def _ospf(row: Row) -> _Detail:
    at = row["Interface"]
    return (
        at["hostname"],
        f"interface {at['interface']}",
        _presence(row, "OSPF on it") or f"OSPF on it: {_differences(row)}",
    )


def _vlan(row: Row) -> _Detail:
    old, new = (_words(row[f"{side}_Interfaces"]) for side in ("Reference", "Snapshot"))
    thing = f"VLAN {row['VLAN_ID']}"
    return node_of(row["Node"]), thing, _presence(row, "it") or f"ports {old} become {new}"


def _bgp(row: Row) -> _Detail:
    thing = f"BGP peer {_words(row.get('Remote_IP'))}"
    return node_of(row["Node"]), "its BGP peers", _presence(row, thing) or f"{thing}: {_differences(row)}"


_DETAILS = {"interfaces": _interface, "edges": _edge, "ospf": _ospf, "vlans": _vlan, "bgp": _bgp}


def _route(row: Row) -> str:
    side = "Snapshot" if row["Entry_Presence"] == _NEW else "Reference"
    lost = {_NEW: "new", _GONE: "lost"}.get(row["Entry_Presence"], "altered")
    return f"{row['Network']} of {row[f'{side}_Protocol']} at {node_of(row['Node'])}: {lost}"


def _path(row: Row) -> str:
    old, new = (_end(row.get(f"{side}_Traces")) for side in ("Reference", "Snapshot"))
    flow = row["Flow"]
    return f"{packet(flow)}, entering at {flow['ingressNode']}: {old} becomes {new}"


def _end(traces: object) -> str:
    if isinstance(traces, list) and traces:
        hops = traces[0].get("hops") or [{}]
        where = hops[-1].get("node", {}).get("name", "")
        return f"{str(traces[0].get('disposition', '')).replace('_', ' ').lower()} at {where}"
    return "nothing"
