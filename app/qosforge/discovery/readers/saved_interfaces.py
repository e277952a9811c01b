"""Interfaces of a saved configuration, by its lines alone: no answer of a device is beside it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from qosforge.configtree import ConfigLine, Tree
from qosforge.discovery.readers.cisco_ports import NO_PORTS, lag_of

_INTERFACE = re.compile(r"interface (\S+(?: \d\S*)?)(?: (?:point-to-point|multipoint))?", re.I)
_ADDRESS = re.compile(r"ip address (\d+\.\d+\.\d+\.\d+)(?:/(\d+)| (\d+\.\d+\.\d+\.\d+))(?: secondary)?")
_MANAGEMENT = re.compile(r"Management\s?\S*", re.I)


class SavedInterfaces:
    """What the lines of a configuration's tree say of its interfaces."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def _blocks(self) -> Mapping[str, tuple[ConfigLine, ...]]:
        """The lines of each interface by its name."""
        found: dict[str, tuple[ConfigLine, ...]] = {}
        for line in self._tree:
            if (match := _INTERFACE.fullmatch(line.text)) is not None:
                found[match[1]] = (*found.get(match[1], ()), *line.children)
        return found

    @cached_property
    def addresses(self) -> tuple[tuple[str, ipaddress.IPv4Interface], ...]:
        """Interfaces with their addresses, loopbacks and then VLAN interfaces first: those are for management."""
        found = [(name, address) for name, lines in self._blocks.items() for address in _addresses(lines)]
        return tuple(sorted(found, key=lambda one: _for_management(one[0])))

    def is_port(self, name: str) -> bool:
        """Whether it is a port that is up, and no VLAN of one."""
        is_other = NO_PORTS.fullmatch(name) or _MANAGEMENT.fullmatch(name)
        return not is_other and "shutdown" not in self._lines(name) and not self._is_vlan_part(name)

    def is_tagged(self, name: str) -> bool:
        """Whether VLANs of a port are interfaces of their own."""
        return any(self._is_vlan_part(other) and other.partition(".")[0] == name for other in self._blocks)

    def port(self, name: str) -> str:
        """The port that an interface runs over, itself unless it is a VLAN of one."""
        return name.partition(".")[0] if self._is_vlan_part(name) else name

    def lag(self, name: str) -> str | None:
        """The link aggregation of a port."""
        return lag_of(self._lines(name))

    def _lines(self, name: str) -> list[str]:
        return [line.text for line in self._blocks.get(name, ())]

    def _is_vlan_part(self, name: str) -> bool:
        return any(line.lower().startswith("encapsulation dot1q") for line in self._lines(name))


def _addresses(lines: Iterable[ConfigLine]) -> Iterator[ipaddress.IPv4Interface]:
    for line in lines:
        if (match := _ADDRESS.fullmatch(line.text)) is not None:
            try:
                yield ipaddress.IPv4Interface(f"{match[1]}/{match[2] or match[3]}")
            except ValueError:
                continue  # no address of any network: nothing can be told by it


def _for_management(name: str) -> int:
    kinds = ("loopback", "vlan", "management")
    return next((at for at, kind in enumerate(kinds) if name.lower().startswith(kind)), len(kinds))
