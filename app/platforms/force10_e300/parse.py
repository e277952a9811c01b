"""Read an FTOS running configuration into a plan, with the defaults that FTOS does not print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.configtree import Line, Tree
from app.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Policer,
    Queue,
    Red,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
    UnknownLine,
)
from app.platforms.force10_e300.access import read_entry
from app.platforms.force10_e300.capabilities import (
    capabilities,
    default_scheduler,
    default_wred,
    dot1p_to_queue,
    dscp_to_queue,
    predefined_wred,
    queue_limit,
    red,
)
from app.platforms.force10_e300.grammar import GRAMMAR
from app.platforms.force10_e300.handwriting import DIALECT
from app.platforms.handwriting import is_number, read_tree, verbatim

_PORT = re.compile(r"interface (?P<family>GigabitEthernet|TenGigabitEthernet) ?(?P<number>\d+/\d+)", re.IGNORECASE)
_QOS_ON_PORT = re.compile(r"(?:service-policy|dot1p-priority|rate (?:police|limit|shape)|service-class)\b.*")
_QOS_AT_TOP = re.compile(
    r"(?:service-(?:class|policy|queue)|dcb|rate|trust|match|bandwidth-percentage|policy-aggregate|set ip-dscp|"
    r"(?:no )?strict-priority unicast (?![0-7]$)).*"
)
_FAMILIES = {name.lower(): name for name in ("GigabitEthernet", "TenGigabitEthernet")}
_OBJECTS = {
    "ip access-list extended": "acl",
    "class-map match-any": "class-map",
    "class-map match-all": "class-map-all",
    "qos-policy-input": "input-policy",
    "qos-policy-output": "output-policy",
    "policy-map-input": "input-map",
    "policy-map-output": "output-map",
}
_DEFAULT_BURST_KB = 50
_MOST_TERMS = 4096
"""Alternatives of a class: several long access lists that must all match would be their product."""


class _Reader:
    """One reading: the objects found so far, and what was not understood."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.unknown: dict[UnknownLine, None] = {}
        self.objects: dict[tuple[str, str], Line] = {}
        self.profiles = dict(predefined_wred())
        self.strict: int | None = None

    def plan(self, device: str, platform: str) -> Plan:
        for line in self.tree:
            head, _, name = line.text.rpartition(" ")
            if head in _OBJECTS:
                self.objects[_OBJECTS[head], name] = line
            elif match := re.fullmatch(r"wred-profile (\S+)", line.text):
                self.profiles[match[1]] = self._thresholds(line)
            elif match := re.fullmatch(r"strict-priority unicast ([0-7])", line.text):
                self.strict = int(match[1])
        interfaces = tuple(
            self._interface(line, f"{_FAMILIES[match['family'].lower()]} {match['number']}")
            for line in self.tree
            if (match := _PORT.fullmatch(line.text))
        )
        self._read_unattached()
        system = System(
            cos_to_queue=dot1p_to_queue(),
            dscp_to_queue=dscp_to_queue(),
            queue_on_input=True,
            scheduler=default_scheduler(self.strict),
        )
        return Plan(
            device=device,
            platform=platform,
            system=system,
            interfaces=interfaces,
            unknown=tuple(sorted(self.unknown, key=lambda u: u.line)),
        )

    def _read_unattached(self) -> None:
        """Keep what is not understood of objects that no interface refers to, and of lines at the top."""
        for (kind, name), body in self.objects.items():
            if kind == "input-map":
                self._ingress(body, name)
            elif kind == "output-map":
                self._egress(body, name, "GigabitEthernet")
            elif kind == "input-policy":
                self._actions(name)
            elif kind == "output-policy":
                self._queue(0, name, "GigabitEthernet")
            elif kind in ("class-map", "class-map-all"):
                tuple(self._terms(body, name))
        for line in self.tree:
            if _QOS_AT_TOP.fullmatch(line.text):
                self._miss(line, "")
            elif line.text.startswith("interface ") and _PORT.fullmatch(line.text) is None:
                for below in line.children:
                    if _QOS_ON_PORT.fullmatch(below.text):
                        self._miss(below, line.text)

    def _miss(self, line: Line, context: str) -> None:
        self.unknown[UnknownLine(line=line.number, text=line.text, context=context)] = None

    def _thresholds(self, profile: Line) -> tuple[int, int]:
        for line in profile.children:
            if match := re.fullmatch(r"threshold min ([0-9]{1,9}) max ([0-9]{1,9})", line.text):
                return int(match[1]), int(match[2])
            self._miss(line, profile.text)
        return self.profiles["wred_ge_g"]

    def _interface(self, interface: Line, name: str) -> InterfacePlan:
        ingress, egress = Ingress(), Egress(default_queue=0)
        for line in interface.children:
            match line.text.split():
                case ["service-policy", "input", policy] if ("input-map", policy) in self.objects:
                    ingress = self._ingress(self.objects["input-map", policy], policy)
                case ["service-policy", "output", policy] if ("output-map", policy) in self.objects:
                    egress = self._egress(self.objects["output-map", policy], policy, name.partition(" ")[0])
                case _ if _QOS_ON_PORT.fullmatch(line.text):
                    self._miss(line, interface.text)
        return InterfacePlan(name=name, ingress=ingress, egress=egress)

    # -- input ---------------------------------------------------------------------------------------
    def _ingress(self, policy: Line, name: str) -> Ingress:
        trust, fallback = Trust.KEEP, False
        services: dict[int, tuple[Line, str, str]] = {}
        for line in policy.children:
            match line.text.split():
                case ["trust", "diffserv", *rest] if rest in ([], ["fallback"]):
                    trust, fallback = Trust.DSCP, bool(rest)
                case ["trust", "dot1p", *rest] if rest in ([], ["fallback"]):
                    trust, fallback = Trust.COS, bool(rest)
                case ["service-queue", queue, "class-map", class_map] if is_number(queue, 0, 7):
                    services[int(queue)] = (line, class_map, "")
                case ["service-queue", queue, "class-map", class_map, "qos-policy", marker] if is_number(
                    queue, 0, 7
                ):
                    services[int(queue)] = (line, class_map, marker)
                case _:
                    self._miss(line, policy.text)
        if trust is not Trust.KEEP and not fallback:
            # Only the trust rule is programmed beside it (E600i command reference, trust).
            for line, _, _ in services.values():
                self._miss(line, policy.text)
            services = {}
        rules = tuple(self._rule(queue, *services[queue]) for queue in sorted(services, reverse=True))
        return Ingress(policy=name, trust=trust, rules=rules)

    def _rule(self, queue: int, line: Line, class_map: str, marker: str) -> Rule:
        values = self._actions(marker)
        if marker and ("input-policy", marker) not in self.objects:
            self._miss(line, "")
        terms = tuple(self._terms(line, class_map))
        return Rule.model_validate({"name": class_map, "any_of": terms, "queue": queue, **values})

    def _actions(self, marker: str) -> dict[str, object]:
        values: dict[str, object] = {}
        body = self.objects.get(("input-policy", marker))
        for action in body.children if body else ():
            match action.text.split():
                case ["set", "ip-dscp", value] if is_number(value, 0, 63):
                    values["set_dscp"] = int(value)
                case ["rate-police", *rate] if (police := _policer(rate)) is not None:
                    values["police"] = police
                case _:
                    self._miss(action, f"qos-policy-input {marker}")
        return values

    def _terms(self, service: Line, name: str) -> Iterator[Term]:
        both = self.objects.get(("class-map-all", name))
        body = both or self.objects.get(("class-map", name))
        if body is None:
            self._miss(service, "")
            return
        terms = [list(self._term(line, body.text)) for line in body.children]
        if both is None:
            yield from (term for group in terms for term in group)
            return
        # One access list at most stands beside DSCPs here; its entries hold together with every other line.
        joined: list[dict[str, object]] = [{}]
        for line, group in zip(body.children, terms, strict=True):
            if len(joined) * len(group) > _MOST_TERMS:
                self._miss(line, body.text)
                continue
            parts = [term.model_dump(exclude_defaults=True) for term in group]
            joined = [{**old, **part} for old in joined for part in parts]
        yield from (Term.model_validate(values) for values in joined)

    def _term(self, line: Line, context: str) -> Iterator[Term]:
        match line.text.split():
            case ["match", "ip", "dscp", *values] if _all_in(values, 63):
                yield Term(dscp=_numbers(values))
            case ["match", "ip", "precedence", *values] if _all_in(values, 7):
                yield Term(precedence=_numbers(values))
            case ["match", "ip", "access-group", name] if ("acl", name) in self.objects:
                for entry in self.objects["acl", name].children:
                    term = read_entry(entry.text)
                    if term is not None:
                        yield term
                    elif not entry.text.startswith(("remark ", "description ")):
                        self._miss(entry, f"ip access-list extended {name}")
            case _:
                self._miss(line, context)

    # -- output --------------------------------------------------------------------------------------
    def _egress(self, policy: Line, name: str, family: str) -> Egress:
        chosen: dict[int, str] = {}
        for line in policy.children:
            match line.text.split():
                case ["service-queue", queue, "qos-policy", marker] if (
                    is_number(queue, 0, 7) and ("output-policy", marker) in self.objects
                ):
                    chosen[int(queue)] = marker
                case _:
                    self._miss(line, policy.text)
        queues = [
            self._queue(number, chosen.get(number), family) for number in range(capabilities()["queues"]["value"])
        ]
        unset = [q for q in queues if q.share is None]
        left = 100 - sum(q.share.value for q in queues if q.share)
        # What has no percentage divides the remainder, and gets one per cent where there is none.
        rest = Share(unit=ShareUnit.PERCENT, value=max(1, left // len(unset)) if unset else 0)
        filled = tuple(q if q.share else q.model_copy(update={"share": rest}) for q in queues)
        return Egress(policy=name, default_queue=0, scheduler=Scheduler(discipline=Discipline.WFQ, queues=filled))

    def _queue(self, number: int, policy: str | None, family: str) -> Queue:
        share: Share | None = None
        colours: dict[str, str] = {}
        body = self.objects["output-policy", policy] if policy else None
        for line in body.children if body else ():
            match line.text.split():
                case ["bandwidth-percentage", value] if is_number(value, 0, 100):
                    share = Share(unit=ShareUnit.PERCENT, value=int(value))
                case ["wred", "green" | "yellow" as colour, profile] if profile in self.profiles:
                    colours[colour] = profile
                case _:
                    self._miss(line, f"qos-policy-output {policy}")
        return Queue(
            number=number,
            name=policy,
            priority=number == self.strict,
            share=share,
            limit_packets=queue_limit(),
            red=self._red(colours, family) if colours else None,
        )

    def _red(self, colours: dict[str, str], family: str) -> Red:
        """A colour without a line of its own keeps the default of the port's speed."""
        names = {**default_wred(family), **colours}
        return red({colour: self.profiles[name] for colour, name in names.items()})


def _all_in(words: list[str], high: int) -> bool:
    return bool(words) and all(is_number(n, 0, high) for word in words for n in word.split(",") if n)


def _numbers(words: list[str]) -> tuple[int, ...]:
    return tuple(sorted(int(n) for word in words for n in word.split(",") if n))


def _policer(words: list[str]) -> Policer | None:
    """``[kbps] RATE [BURST-KB]``; anything beside it is not held by a plan."""
    kbps = words[:1] == ["kbps"]
    numbers = words[1:] if kbps else words
    if not 1 <= len(numbers) <= 2 or not all(is_number(n) for n in numbers):
        return None
    burst = int(numbers[1]) if len(numbers) > 1 else _DEFAULT_BURST_KB
    return Policer(rate=int(numbers[0]) * (1000 if kbps else 1_000_000), burst=burst * 1024)


def parse(text: str, device: str, platform: str = "force10_e300") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    return verbatim(_Reader(read_tree(text, GRAMMAR, DIALECT)).plan(device, platform), text)
