"""Class-maps and their access lists: how a rule is entered, and in which versions of IP it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from qosforge.memoise import memoise, memoise_at_most
from qosforge.plan.model import Egress, Plan, Rule, Term
from qosforge.plan.request import DeviceRequest
from qosforge.plan.terms import one_by_one
from qosforge.platforms.cisco_ios.trains import has
from qosforge.platforms.mqc.access_lists import AccessList, lists_of, speaks_ipv6, version
from qosforge.platforms.mqc.blocks import every_rule
from qosforge.platforms.mqc.lines import ACL_PREFIX

EXCEPT_SUFFIX = ".NOT"
"""Ends the name of the list of what a class is not; no class name has a dot."""

SOURCE_SUFFIX, DESTINATION_SUFFIX = ".FROM", ".TO"
"""End the names of a class's two lists where it takes what both permit: shorter than all pairs in one."""
_FLOW = ("protocol", "source", "destination", "source_ports", "destination_ports")


def entry_marks(ip_version: int | None) -> tuple[set[str], ...]:
    """What an access-list entry can ask for beside the flow: those of IPv6 have no precedence."""
    return ({"dscp"}, set()) if ip_version == 6 else ({"dscp"}, {"precedence"}, set())


@dataclass(frozen=True)
class MatchLine:
    """One match line: one condition of a term, or an access list."""

    term: Term | None = None
    access_list: str | None = None
    negated: bool = False


@dataclass(frozen=True)
class ClassMap:
    """A class-map with the access lists that it refers to; ``mode`` is ``any`` or ``all``.

    ``ip`` where its marks are those of IPv4 packets alone, as old images have it; ``modal`` where its mode is said.
    """

    name: str
    mode: str
    lines: tuple[MatchLine, ...]
    access_lists: tuple[AccessList, ...]
    ip: bool
    modal: bool


def matches_marks(request: DeviceRequest) -> bool:
    """Whether the class-maps of an image have lines for DSCPs and precedences."""
    return has(request, "match_marks")


def class_map(request: DeviceRequest, rule: Rule) -> ClassMap:
    """The class-map of a rule on a device."""
    spelling = _spelling(request)
    ip = spelling.ip or (rule.ipv4 and _only_marks(rule))
    # Plain values: what two devices spell alike is made once.
    return _class_map(rule.name, rule.any_of, rule.none_of, tuple(spelling._replace(ip=ip)))


class _Spelling(NamedTuple):
    """How class-maps of a device look at marks, whether lists of both versions hold flows without addresses, and
    whether more than one line stands in a class-map, as it says how they are joined.
    """

    marks_in_list: bool
    ip: bool
    both: bool
    modal: bool


@memoise
def _spelling(request: DeviceRequest) -> _Spelling:
    return _Spelling(
        marks_in_list=not matches_marks(request),
        ip=not has(request, "match_both_versions"),
        both=lists_ipv6(request),
        modal=has(request, "class_map_modes"),
    )


def lists_ipv6(request: DeviceRequest) -> bool:
    """Whether flows without addresses have lists of both versions: not every image of a release has IPv6, so where
    the inventory says that a device does, or the intent asks for its prefixes.
    """
    return has(request, "match_ipv6") and speaks_ipv6(request)


def rule_of(request: DeviceRequest, name: str, any_of: tuple[Term, ...], none_of: tuple[Term, ...] = ()) -> Rule:
    """The rule of a class-map that tells these alternatives, with whether it does so in packets of IPv4 alone."""
    rule = Rule(name=name, any_of=any_of, none_of=none_of)
    made = class_map(request, rule)
    excepted = {line.access_list for line in made.lines if line.negated}
    joined = made.mode == "all" and any(a.name not in excepted for a in made.access_lists)
    ipv4 = (
        (made.ip and any(line.term and (line.term.dscp or line.term.precedence) for line in made.lines))
        or (joined and any(version(t) is None for t in any_of))
        or any(a.of_one_version for a in made.access_lists if not joined or a.name in excepted)
    )
    return rule.model_copy(update={"ipv4": True}) if ipv4 else rule


def _only_marks(rule: Rule) -> bool:
    return all({*_entry_fields(t)} <= {"dscp", "precedence"} for t in (*rule.any_of, *rule.none_of))


def told_as_running(plan: Plan, running: Plan | None) -> Plan:
    """The plan with classes that look for marks told in IPv4 where the device tells them so and has no IPv6.

    No packet is another class's for it, and class-maps that others use too stay as they are.
    """
    if running is None or running.system.ipv6 is not False:
        return plan
    theirs = {
        (rule.name, frozenset(one_by_one(rule.any_of)), frozenset(one_by_one(rule.none_of)))
        for interface in running.interfaces
        for rule in (*interface.ingress.rules, *every_rule(interface.egress))
        if rule.ipv4
    }

    def told(rule: Rule) -> Rule:
        key = (rule.name, frozenset(one_by_one(rule.any_of)), frozenset(one_by_one(rule.none_of)))
        return rule.model_copy(update={"ipv4": True}) if key in theirs and _only_marks(rule) else rule

    def output(egress: Egress) -> Egress:
        scheduler = egress.scheduler
        if scheduler is not None and any(queue.child for queue in scheduler.queues):
            queues = (q.model_copy(update={"child": output(q.child)}) if q.child else q for q in scheduler.queues)
            scheduler = scheduler.model_copy(update={"queues": tuple(queues)})
        return egress.model_copy(update={"rules": tuple(map(told, egress.rules)), "scheduler": scheduler})

    interfaces = (
        entry.model_copy(
            update={
                "ingress": entry.ingress.model_copy(update={"rules": tuple(map(told, entry.ingress.rules))}),
                "egress": output(entry.egress),
            }
        )
        for entry in plan.interfaces
    )
    return plan.model_copy(update={"interfaces": tuple(interfaces)}) if theirs else plan


@memoise_at_most(1024)
def _class_map(
    name: str,
    any_of: tuple[Term, ...],
    none_of: tuple[Term, ...],
    spelling: tuple[bool, ...],
) -> ClassMap:
    marks_in_list, ip, both, modal = spelling
    lists: list[AccessList] = []
    lines: list[MatchLine] = []
    own = f"{ACL_PREFIX}{name}"

    def in_entry(term: Term) -> bool:
        return _in_entry(term) or (marks_in_list and bool(term.dscp or term.precedence))

    in_list = [t for t in any_of if in_entry(t)]
    plain = [t for t in any_of if not in_entry(t)]
    mode = "any" if not none_of and all(needs_one_line(t) for t in any_of) else "all"
    if mode == "all" and len(any_of) > 1 and all(_enterable(t) for t in any_of):
        # A line holds one of them only, a list all: a mark alone is an entry for any flow.
        in_list, plain = list(any_of), []
    if mode == "all" and plain:
        rests = {t.model_copy(update=dict.fromkeys(_FLOW[:3]) | dict.fromkeys(_FLOW[3:], ())) for t in plain}
        flows = [Term.model_validate({n: getattr(t, n) for n in _FLOW}) for t in any_of]
        assert len(rests) == 1
        assert not in_list
        plain = [Term.model_validate({n: getattr(t, n)}) for t in rests for n in _entry_fields(t)]
        in_list = [t for t in flows if _entry_fields(t)]
    sides = _sides(in_list) if modal and (mode == "all" or not plain) else None
    if sides is not None:
        mode = "all"
        lists += [*lists_of(own + SOURCE_SUFFIX, sides[0]), *lists_of(own + DESTINATION_SUFFIX, sides[1])]
    else:
        # Lists of both versions that a class-map joins would take nothing.
        lists += lists_of(own, in_list, both=both and mode == "any")
    lines += [MatchLine(term=t) for t in plain]
    lines += [MatchLine(access_list=access_list.name) for access_list in lists]
    lines += [MatchLine(term=t, negated=True) for t in none_of if not in_entry(t)]
    excepted = lists_of(own + EXCEPT_SUFFIX, [t for t in none_of if in_entry(t)], both=both)
    lines += [MatchLine(access_list=access_list.name, negated=True) for access_list in excepted]
    return ClassMap(name, mode, tuple(lines), (*lists, *excepted), ip, modal)


def _sides(terms: list[Term]) -> tuple[list[Term], list[Term]] | None:
    """Two lists of entries that together permit what ``terms`` do; None where they are not the shorter way."""
    far_fields = ("destination", "destination_ports")
    nothing_far = {"destination": None, "destination_ports": ()}
    near = list(dict.fromkeys(t.model_copy(update=nothing_far) for t in terms))
    far = list(dict.fromkeys(Term(**{n: getattr(t, n) for n in ("protocol", *far_fields)}) for t in terms))
    if len(near) + len(far) >= len(terms) or len({version(t) == 6 for t in (*near, *far)}) > 1:
        return None
    pairs = {
        one.model_copy(update={n: getattr(other, n) for n in far_fields})
        for one in near
        for other in far
        if one.protocol == other.protocol
    }
    return (near, far) if pairs == set(terms) else None


def needs_one_line(term: Term) -> bool:
    """Whether a term needs one line of a class-map only."""
    return _in_entry(term) or len(_entry_fields(term)) == 1


def _entry_fields(term: Term) -> tuple[str, ...]:
    return tuple([name for name, value in vars(term).items() if value is not None and value != ()])


def _in_entry(term: Term) -> bool:
    """Whether a term is an entry of an access list: a flow, with one DSCP or precedence beside it."""
    return bool(set(_entry_fields(term)) & set(_FLOW)) and _enterable(term)


def _enterable(term: Term) -> bool:
    rest = set(_entry_fields(term)) - set(_FLOW)
    return rest in entry_marks(version(term)) and all(len(getattr(term, n)) == 1 for n in rest)
