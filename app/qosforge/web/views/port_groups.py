"""Ports of a device that are treated alike, together: a switch has many, and few ways to treat them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from qosforge.inventory.port_ranges import range_names
from qosforge.platforms.names import ONE_MARK_EACH
from qosforge.web.views.devices import PortView, QueueView


@dataclass(frozen=True)
class PortHeading:
    """Ports that one line tells: a port, or those without a neighbour of which the inventory says the same."""

    ports: tuple[PortView, ...]

    @property
    def first(self) -> PortView:
        """The one whose facts are those of all."""
        return self.ports[0]

    @property
    def name(self) -> str:
        """Their names, with ranges of numbers: ``GigabitEthernet0/1-39, 48``."""
        names = range_names(view.name for view in self.ports)
        return ", ".join(re.sub(r"[\[\]]", "", name).replace(",", ", ") for name in names)


@dataclass(frozen=True)
class PortGroup:
    """Ports with the same treatment. ``egress_as`` and ``ingress_as`` are ports above that are like them."""

    ports: tuple[PortView, ...]
    egress_as: PortView | None
    ingress_as: PortView | None

    @property
    def first(self) -> PortView:
        """The one whose queues and rules stand for all."""
        return self.ports[0]

    @property
    def headings(self) -> tuple[PortHeading, ...]:
        """The ports, those that are alike in one line, which stands where the first of them does."""
        alike: dict[Hashable, list[PortView]] = {}
        for view in self.ports:
            alike.setdefault(_facts(view) or view.anchor, []).append(view)
        return tuple(PortHeading(tuple(views)) for views in alike.values())

    @property
    def busy_queues(self) -> tuple[QueueView, ...]:
        """The queues that classes and network control use."""
        return tuple(queue for queue in self.first.queues if not queue.idle)

    @property
    def idle_queues(self) -> tuple[QueueView, ...]:
        """Those that no class uses, and that the device cannot be without."""
        return tuple(queue for queue in self.first.queues if queue.idle)

    @property
    def rules(self) -> tuple[tuple[str, str, str], ...]:
        """The input rules with the names of classes: a device may hold a name's beginning and a digest alone."""
        classes = [queue.name for queue in self.first.queues]
        return tuple((_whole(name, classes), matches, done) for name, matches, done in self.first.rules)


def port_groups(views: Sequence[PortView]) -> tuple[PortGroup, ...]:
    """The ports in groups, each where its first port stands; one that drifted, or is not there, stands alone."""
    groups: dict[Hashable, list[PortView]] = {}
    for view in views:
        groups.setdefault(_treatment(view) or view.anchor, []).append(view)
    found: list[PortGroup] = []
    egress: dict[Hashable, PortView] = {}
    ingress: dict[Hashable, PortView] = {}
    for members in groups.values():
        first = members[0]
        out, into = _egress(first), _ingress(first)
        # A line that refers to another port says less than one without queues and rules says itself.
        as_out = egress.setdefault(out, first) if len(first.queues) > 1 else first
        as_in = ingress.setdefault(into, first) if first.rules else first
        found.append(
            PortGroup(tuple(members), None if as_out is first else as_out, None if as_in is first else as_in)
        )
    return tuple(found)


def _facts(view: PortView) -> Hashable:
    """What the line of a port says beside its name; nothing of one that has a line of its own."""
    entry = view.interface
    if entry is None or view.far:
        return None
    line = (entry.rate, entry.usable, entry.encapsulation, entry.tagged, frozenset(entry.tags))
    return line, view.port and view.port.qos, view.only_marks


def _treatment(view: PortView) -> Hashable:
    port = view.port
    if port is None:
        return "not read"
    if port.state is None or port.changes or port.differences or port.device_drifted:
        return None
    return _egress(view), _ingress(view), view.efficiency


def _egress(view: PortView) -> Hashable:
    state = view.port.state if view.port else None
    return view.discipline, view.has_policy, state and state.shared, view.sending, view.queues


def _ingress(view: PortView) -> Hashable:
    return view.trust, view.only_marks, view.rules, view.policers_in


def _whole(name: str, classes: Sequence[str]) -> str:
    """The class that a name stands for which ends with a digest; the name itself where none or several could be."""
    cut = ONE_MARK_EACH.fullmatch(name)
    found = [one for one in classes if one.startswith(cut[1])] if cut and name not in classes else []
    return found[0] if len(found) == 1 else name
