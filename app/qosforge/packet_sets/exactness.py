"""Whether the packets that a device puts into a class are those of the intent, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.intent.applications import Application
from qosforge.memoise import MAX_RESULTS, memoise, memoise_by_value
from qosforge.packet_sets.classification import (
    NamedSet,
    acts,
    done,
    every_class,
    marked,
    meant_on_input,
    regions,
    together,
)
from qosforge.packet_sets.space import PacketSet, PacketSpace, TooComplexError
from qosforge.packet_sets.terms import Applications, of_class, of_term
from qosforge.packet_sets.witness import Witness
from qosforge.plan.model import Egress, Rule
from qosforge.plan.request import ClassRequest, TermRequest


@dataclass(frozen=True)
class Misclassified:
    """Packets of a class that a device serves as another one, or as none; ``witness`` is one of them.

    ``witness`` is None where the sets are too large to be compared.
    """

    meant: str
    served_as: str | None
    witness: Witness | None


RuleTree = tuple[tuple[Rule, ...], tuple[tuple[int, "RuleTree"], ...]]
"""The rules of an output, and those inside its queues by their numbers."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a device's classification without the sets.

    ``names`` are the classes of its rules; ``by_ports`` the applications that it tells by their ports, by class;
    ``groups`` the classes that it serves as one; ``lost`` those that it is said to miss packets of.
    """

    names: Mapping[str, str]
    applications: Mapping[str, Application]
    by_ports: tuple[tuple[str, tuple[str, ...]], ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    lost: frozenset[str] = frozenset()
    cos_to_dscp: tuple[int, ...] | None = None

    def ports_of(self, name: str) -> Applications:
        """The applications of a class that are told by ports."""
        mine = (application for owner, each in self.by_ports if owner == name for application in each)
        return {application: self.applications[application] for application in mine}

    def served_as(self, name: str, rules: Sequence[Rule]) -> str:
        """The class that a class is served as by some rules: its own, or the one of its group that has a rule."""
        ruled = {self.names.get(rule.name) for rule in rules}
        if name in ruled:
            return name
        others = (other for group in self.groups if name in group for other in group)
        return next((other for other in others if other in ruled), name)


known_of = memoise(Known)
"""As `Known`, one for the same arguments, so that what is proven with it is found again."""


@memoise_by_value(MAX_RESULTS)
def shared(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules, the very same object for rules alike: devices that run something have plans of their own."""
    return rules


@memoise
def rule_tree(egress: Egress) -> RuleTree:
    """The rules of an output and of the policies in its queues."""
    queues = egress.scheduler.queues if egress.scheduler else ()
    below = tuple((queue.number, rule_tree(queue.child)) for queue in queues if queue.child is not None)
    return shared(egress.rules), below


@memoise
def on_input(
    classes: tuple[ClassRequest, ...], rules: tuple[Rule, ...], known: Known, tagged: bool
) -> tuple[Misclassified, ...]:
    """What an input that recognises classes tells otherwise than they are meant.

    Without a tag no packet carries a CoS.
    """
    space = PacketSpace()
    idle = {c.name for entry in classes for c in every_class(entry) if c.is_default or not acts(c)}
    try:
        meant = tuple(meant_on_input(space, classes, known.ports_of))
        comparison = _Comparison(space, known, _domain(space, tagged), idle)
        return tuple(comparison.differences(meant, rules, tuple(done(space, rules, known.names))))
    except TooComplexError:
        return (Misclassified(classes[0].name, None, None),)


@memoise
def on_output(
    classes: tuple[ClassRequest, ...], tree: RuleTree, known: Known, tagged: bool, by_mark: bool
) -> tuple[Misclassified, ...]:
    """What an output tells otherwise than the classes are meant.

    A class is told by what it matches, or by marks: the one it carries, those that it matches, and those that
    inputs write for the CoS that it matches. One that carries a mark is told by it alone where ``by_mark``.
    """
    space = PacketSpace()
    try:
        defaults = {c.name for c in classes if c.is_default}
        comparison = _Comparison(space, known, _domain(space, tagged), defaults)
        return tuple(_level(comparison, classes, tree, by_mark))
    except TooComplexError:
        return (Misclassified(classes[0].name, None, None),)


def _level(
    comparison: _Comparison, classes: tuple[ClassRequest, ...], tree: RuleTree, by_mark: bool
) -> Iterator[Misclassified]:
    space, known = comparison.space, comparison.known
    rules, inside = tree
    found = tuple(done(space, rules, known.names))
    taken = together(found)
    groups: dict[str, list[ClassRequest]] = {}
    for entry in classes:
        groups.setdefault(known.served_as(entry.name, rules), []).append(entry)
    told = {
        name: _told(comparison, group, [taken[c.name] for c in group if c.name in taken], by_mark)
        for name, group in groups.items()
    }
    # One of several classes that are served as one is looked at where the first of them stands.
    meant = tuple(NamedSet(name, told[name]) for name in groups)
    yield from comparison.differences(meant, rules, found)
    for entry in classes:
        queues = {rule.queue for rule in rules if known.names.get(rule.name) == entry.name}
        below = next((each for number, each in inside if number in queues), None)
        if entry.children and below is not None and below[0]:
            yield from _level(comparison, entry.children, below, by_mark)


def _told(
    comparison: _Comparison, group: Sequence[ClassRequest], taken: Sequence[PacketSet], by_mark: bool
) -> PacketSet:
    """The packets that an output should look for: what it takes, where that is one of the ways to tell classes."""
    space, known, domain = comparison.space, comparison.known, comparison.domain
    if any(entry.is_default for entry in group):
        return space.everything
    own = space.union(taken) & domain
    match = space.union(of_class(space, entry, known.ports_of(entry.name)) for entry in group)
    marks = [marked(space, entry) for entry in group]
    carried = [_carried(space, entry, known) for entry in group]
    numbered = [_numbered(space, entry) for entry in group]
    least = space.union(
        of_class(space, entry, known.ports_of(entry.name)) if mark is None else mark
        for entry, mark in zip(group, marks, strict=True)
    )
    others = [
        space.union(one or mark or space.nothing for one, mark in zip(ways, marks, strict=True))
        for ways in (carried, numbered)
    ]
    every = space.union(mark for mark in (*marks, *carried, *numbered) if mark is not None)
    marked_alone = by_mark and all(entry.recognised_by is not None for entry in group)
    if not marked_alone:
        every |= match
        if own.same_as(match & domain):
            return match
    for one in (least, *others):
        if (one & domain).inside(own) and own.inside(every) and not own.is_void:
            return own
    return least if marked_alone or not own.inside(match) else match


def _carried(space: PacketSpace, entry: ClassRequest, known: Known) -> PacketSet | None:
    """The packets with a DSCP that stands for a CoS of the class: of its mark, else of what it matches."""
    own = entry.mark.cos if entry.mark else None
    values = [own] if own is not None else [cos for term in entry.terms for cos in term.cos]
    points = {8 * cos for cos in values} | {known.cos_to_dscp[cos] for cos in values if known.cos_to_dscp}
    return of_term(space, TermRequest(dscp=tuple(sorted(points))), {}) if points else None


def _numbered(space: PacketSpace, entry: ClassRequest) -> PacketSet | None:
    """The packets to which inputs of the device give the number of the class, or of one below it."""
    groups = {c.mark.qos_group for c in every_class(entry) if c.mark and c.mark.qos_group is not None}
    return of_term(space, TermRequest(qos_group=tuple(sorted(groups))), {}) if groups else None


def _domain(space: PacketSpace, tagged: bool) -> PacketSet:
    """The packets of a port: those without a tag where it has none."""
    return space.everything if tagged else space.among("tagged", [0])


@dataclass(frozen=True)
class _Comparison:
    """A comparison of classes as they are meant and as they are served, of the packets in ``domain``.

    ``rest`` are the classes whose packets may be left to no rule.
    """

    space: PacketSpace
    known: Known
    domain: PacketSet
    rest: set[str]

    def differences(
        self, meant: Sequence[NamedSet], rules: Sequence[Rule], found: Sequence[NamedSet]
    ) -> Iterator[Misclassified]:
        """The pairs of classes between which packets fall, but for what is known to be lost."""
        known, domain = self.known, self.domain
        as_served = {one.name: known.served_as(one.name, rules) for one in meant if one.name is not None}
        if len(meant) == len(found) and all(
            a.name is not None and as_served[a.name] == b.name and (a.packets & domain).same_as(b.packets & domain)
            for a, b in zip(meant, found, strict=True)
        ):
            return
        in_ipv4 = {known.names.get(rule.name) for rule in rules if rule.ipv4}
        wanted = together(regions(meant))
        served = together(regions(found))
        for name, packets in wanted.items():
            if name is None or name in known.lost:
                continue
            # A device that tells a class in IPv4 alone has no IPv6, or is said to.
            own = as_served[name]
            left = packets & domain & ~self.space.ipv6 if own in in_ipv4 else packets & domain
            for other, theirs in served.items():
                if other != own and other is not None:
                    yield from self._difference(name, other, left & theirs)
                left -= theirs
            if name not in self.rest:
                yield from self._difference(name, None, left)

    def _difference(self, meant: str, served_as: str | None, packets: PacketSet) -> Iterator[Misclassified]:
        witness = self.space.witness(packets, self.domain)
        if witness is not None:
            yield Misclassified(meant, served_as, witness)
