"""Links of NetBox's cables: what it traces from interface to interface, across patch panels and circuits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.model import End
from qosforge.sources.netbox.client import Record
from qosforge.units import listed

_INTERFACE = "dcim.interface"
_BY_HAND = "describe the link in links.yaml by hand"


@dataclass
class CableLinks:
    """Links by their two ends, in the order in which they were met."""

    found: list[tuple[End, End]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def read_links(records: Mapping[End, Record], names: Mapping[int, str]) -> CableLinks:
    """The links between these interfaces, whose devices are named by NetBox's ids.

    An interface whose path is not complete, or has a cable that is not connected yet, has none.
    """
    links = CableLinks()
    peers: dict[End, set[End]] = {}
    elsewhere: dict[str, dict[str, str]] = {}
    for end, record in records.items():
        if record.get("connected_endpoints_type") != _INTERFACE or not record.get("connected_endpoints_reachable"):
            continue
        for peer in record["connected_endpoints"] or ():
            device, port = peer["device"], str(peer["name"])
            name = names.get(int(device["id"]))
            if name is None:
                elsewhere.setdefault(end[0], {})[end[1]] = str(device.get("display") or device.get("name"))
            elif (name, port) not in records:
                message = f"{end[1]} leads to {name} {port}, which is not among the ports that are read"
                links.notes.append(Note(Topic.LEFT_OUT, *end, message, _BY_HAND))
            elif (name, port) != end:
                peers.setdefault(end, set()).add((name, port))
                peers.setdefault((name, port), set()).add(end)
    links.notes += [_elsewhere(device, ports) for device, ports in elsewhere.items()]
    crowded = {end for end, others in peers.items() if len(others) > 1}
    for end in sorted(crowded):
        several = listed(" ".join(other) for other in sorted(peers[end]))
        message = f"the cable of {end[1]} leads to several ports ({several}): a port here takes one"
        links.notes.append(Note(Topic.LEFT_OUT, *end, message, _BY_HAND))
    met: set[frozenset[End]] = set()
    for end, others in peers.items():
        for other in others:
            ends = frozenset((end, other))
            if ends not in met and not ends & crowded:
                met.add(ends)
                links.found.append((end, other))
    return links


def _elsewhere(device: str, ports: Mapping[str, str]) -> Note:
    others = listed(sorted(set(ports.values())), 8)
    message = f"{listed(ports, 8)}: their cables lead to devices that are not read ({others})"
    return Note(Topic.LEFT_OUT, device, "cables", message, "widen the filter if they belong to this network")
