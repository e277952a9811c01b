"""Read an FTOS running configuration into a plan, with the defaults that FTOS does not print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.configtree import ConfigLine, Tree
from qosforge.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
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
from qosforge.platforms.abbreviations import is_number, read_tree, verbatim
from qosforge.platforms.force10_e300.abbreviations import SYNTAX
from qosforge.platforms.force10_e300.access import NO_ORDER, read_entry, read_mac_entry
from qosforge.platforms.force10_e300.capabilities import (
    capabilities,
    default_scheduler,
    default_wred,
    dot1p_to_queue,
    dscp_to_queue,
    predefined_wred,
    queue_limit,
    red,
)
from qosforge.platforms.force10_e300.grammar import GRAMMAR
from qosforge.platforms.force10_e300.policing import read_meter, read_shape

_PORT = re.compile(r"interface (?P<family>GigabitEthernet|TenGigabitEthernet) ?(?P<number>\d+/\d+)", re.IGNORECASE)
_QOS_ON_PORT = re.compile(r"(?:service-policy|dot1p-priority|rate (?:police|limit|shape)|service-class)\b.*")
_QOS_AT_TOP = re.compile(
    r"(?:service-(?:class|policy|queue)|dcb|rate|trust|match|bandwidth-percentage|policy-aggregate|set ip-dscp|"
    r"(?:no )?strict-priority unicast (?![0-7]$)).*"
)
_FAMILIES = {name.lower(): name for name in ("GigabitEthernet", "TenGigabitEthernet")}
_OBJECTS = {
    "ip access-list extended": "ip acl",
    "mac access-list extended": "mac acl",
    "class-map match-any": "class-map",
    "class-map match-all": "class-map-all",
    "qos-policy-input": "input-policy",
    "qos-policy-output": "output-policy",
    "policy-map-input": "input-map",
    "policy-map-output": "output-map",
}
_REMARKS = ("remark ", "description ")
_MOST_TERMS = 4096
"""Alternatives of a class: several long access lists that must all match would be their product."""


class _Reader:
    """One reading: the objects found so far, and what was not understood."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.unknown: dict[UnknownLine, None] = {}
        self.objects: dict[tuple[str, str], ConfigLine] = {}
        self.profiles = dict(predefined_wred())
        self.strict: int | None = None
        self.switched: list[str] = []
        # A policy stands on many ports, and is read once.
        self._inputs: dict[str, Ingress] = {}
        self._outputs: dict[tuple[str, str], Egress] = {}

    def plan(self, device: str, platform: str) -> Plan:
        for line in self.tree:
            head, _, name = line.text.removesuffix(" layer2").rpartition(" ")
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
            switched=tuple(self.switched),
            unknown=tuple(sorted(self.unknown, key=lambda u: u.line)),
        )

    def _read_unattached(self) -> None:
        """Keep what is not understood of objects that no interface refers to, and of lines at the top."""
        for (kind, name), body in self.objects.items():
            if kind == "input-map":
                self._input(name)
            elif kind == "output-map":
                self._output(name, "GigabitEthernet")
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

    def _miss(self, line: ConfigLine, context: str) -> None:
        self.unknown[UnknownLine(line=line.number, text=line.text, context=context)] = None

    def _thresholds(self, profile: ConfigLine) -> tuple[int, int]:
        for line in profile.children:
            if match := re.fullmatch(r"threshold min ([0-9]{1,9}) max ([0-9]{1,9})", line.text):
                return int(match[1]), int(match[2])
            self._miss(line, profile.text)
        return self.profiles["wred_ge_g"]

    def _interface(self, interface: ConfigLine, name: str) -> InterfacePlan:
        ingress, egress = Ingress(), Egress(default_queue=0)
        for line in interface.children:
            match line.text.split():
                case ["service-policy", "input", policy, *layer] if (
                    "input-map",
                    policy,
                ) in self.objects and layer in ([], ["layer2"]):
                    ingress = self._input(policy)
                case ["service-policy", "output", policy] if ("output-map", policy) in self.objects:
                    egress = self._output(policy, name.partition(" ")[0])
                case ["dot1p-priority", value] if is_number(value, 0, 7):
                    queue = dot1p_to_queue()[int(value)]
                    own = Rule(name="dot1p-priority", any_of=(Term(),), set_cos=int(value), queue=queue)
                    ingress = ingress.model_copy(update={"rules": (*ingress.rules, own)})
                case ["rate", "police", *words] if (meter := _port_meter(words)) is not None:
                    ingress = ingress.model_copy(update={"policers": (*ingress.policers, meter)})
                case ["rate", "limit", *words] if (meter := _port_meter(words)) is not None:
                    egress = egress.model_copy(update={"policers": (*egress.policers, meter)})
                case ["rate", "shape", *words] if (shape := read_shape(words)) is not None:
                    egress = egress.model_copy(update={"shape_rate": shape[0], "shape_burst": shape[1]})
                case _ if _QOS_ON_PORT.fullmatch(line.text):
                    self._miss(line, interface.text)
        if any(line.text == "switchport" for line in interface.children):
            self.switched.append(name)
        return InterfacePlan(name=name, ingress=ingress, egress=egress)

    # -- input ---------------------------------------------------------------------------------------
    def _input(self, name: str) -> Ingress:
        if name not in self._inputs:
            self._inputs[name] = self._ingress(self.objects["input-map", name], name)
        return self._inputs[name]

    def _ingress(self, policy: ConfigLine, name: str) -> Ingress:
        trust, fallback = Trust.KEEP, False
        services: dict[int, tuple[ConfigLine, str, str]] = {}
        for line in policy.children:
            match line.text.split():
                case ["trust", "diffserv", *rest] if rest in ([], ["fallback"]):
                    trust, fallback = Trust.DSCP, bool(rest)
                case ["trust", "dot1p", *rest] if rest in ([], ["fallback"]):
                    trust, fallback = Trust.COS, bool(rest)
                case ["service-queue", queue, "class-map", class_map, *rest] if (
                    is_number(queue, 0, 7) and (marker := _marker(rest)) is not None
                ):
                    services[int(queue)] = (line, class_map, marker)
                case _:
                    self._miss(line, policy.text)
        if trust is not Trust.KEEP and not fallback:
            # Only the trust rule is programmed beside it (E600i command reference, trust).
            for line, _, _ in services.values():
                self._miss(line, policy.text)
            services = {}
        looked_at = sorted(services, key=lambda queue: (self._order(services[queue][1]), -queue))
        rules = tuple(self._rule(queue, *services[queue]) for queue in looked_at)
        return Ingress(policy=name, trust=trust, rules=rules)

    def _rule(self, queue: int, line: ConfigLine, class_map: str, marker: str) -> Rule:
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
                case ["set", "mac-dot1p", value] if is_number(value, 0, 7):
                    values["set_cos"] = int(value)
                case ["rate-police", *rate] if (police := read_meter(rate)) is not None:
                    values["police"] = police
                case _:
                    self._miss(action, f"qos-policy-input {marker}")
        return values

    def _terms(self, service: ConfigLine, name: str) -> Iterator[Term]:
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

    def _term(self, line: ConfigLine, context: str) -> Iterator[Term]:
        match line.text.split():
            case ["match", "ip", "dscp", *values] if _all_in(values, 63):
                yield Term(dscp=_numbers(values))
            case ["match", "ip", "precedence", *values] if _all_in(values, 7):
                yield Term(precedence=_numbers(values))
            case ["match", "mac", "dot1p", *values] if _all_in(values, 7):
                yield Term(cos=_numbers(values))
            case ["match", "ip" | "mac", "vlan", value] if is_number(value, 1, 4094):
                yield Term(vlan=(int(value),))
            case ["match", "ip" | "mac" as layer, "access-group", name] if (f"{layer} acl", name) in self.objects:
                order = self._order(context.split()[2])
                body = self.objects[f"{layer} acl", name]
                for entry in body.children:
                    term, own = read_entry(entry.text) if layer == "ip" else read_mac_entry(entry.text)
                    if term is not None and own == order:
                        yield term
                    elif not entry.text.startswith(_REMARKS):
                        self._miss(entry, body.text)
            case _:
                self._miss(line, context)

    def _order(self, class_map: str) -> int:
        """When the device looks at a class map: by the ``order`` of its entries where all have one, else last."""
        body = self.objects.get(("class-map-all", class_map)) or self.objects.get(("class-map", class_map))
        found: set[int] = set()
        for line in body.children if body else ():
            match line.text.split():
                case ["match", "ip" | "mac" as layer, "access-group", name] if (
                    f"{layer} acl",
                    name,
                ) in self.objects:
                    read = read_entry if layer == "ip" else read_mac_entry
                    held = self.objects[f"{layer} acl", name].children
                    found |= {read(e.text)[1] for e in held if not e.text.startswith(_REMARKS)}
                case _:
                    found.add(NO_ORDER)
        return found.pop() if len(found) == 1 else NO_ORDER

    # -- output --------------------------------------------------------------------------------------
    def _output(self, name: str, family: str) -> Egress:
        if (name, family) not in self._outputs:
            self._outputs[name, family] = self._egress(self.objects["output-map", name], name, family)
        return self._outputs[name, family]

    def _egress(self, policy: ConfigLine, name: str, family: str) -> Egress:
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
        limit: Policer | None = None
        shaped: int | None = None
        body = self.objects["output-policy", policy] if policy else None
        for line in body.children if body else ():
            match line.text.split():
                case ["bandwidth-percentage", value] if is_number(value, 0, 100):
                    share = Share(unit=ShareUnit.PERCENT, value=int(value))
                case ["wred", "green" | "yellow" as colour, profile] if profile in self.profiles:
                    colours[colour] = profile
                case ["rate-limit", *words] if (meter := read_meter(words)) is not None:
                    limit = meter
                case ["rate-shape", *words] if (shape := read_shape(words)) is not None:
                    shaped = shape[0]
                case _:
                    self._miss(line, f"qos-policy-output {policy}")
        return Queue(
            number=number,
            name=policy,
            priority=number == self.strict,
            share=share,
            limit_packets=queue_limit(),
            red=self._red(colours, family) if colours else None,
            shape_rate=shaped,
            police=limit,
        )

    def _red(self, colours: dict[str, str], family: str) -> Red:
        """A colour without a line of its own keeps the default of the port's speed."""
        names = {**default_wred(family), **colours}
        return red({colour: self.profiles[name] for colour, name in names.items()})


def _all_in(words: list[str], high: int) -> bool:
    return bool(words) and all(is_number(n, 0, high) for word in words for n in word.split(",") if n)


def _numbers(words: list[str]) -> tuple[int, ...]:
    return tuple(sorted(int(n) for word in words for n in word.split(",") if n))


def _marker(words: list[str]) -> str | None:
    """The policy of a service line behind its class map: none, or one; None where it is something else."""
    words = words[:-1] if words[-1:] == ["layer2"] else words
    match words:
        case []:
            return ""
        case ["qos-policy", name]:
            return name
    return None


def _port_meter(words: list[str]) -> InterfacePolicer | None:
    """A rate of a port, or of one of its VLANs."""
    any_of: tuple[Term, ...] = ()
    match words:
        case [*rate, "vlan", vlan] if is_number(vlan, 1, 4094):
            any_of, words = (Term(vlan=(int(vlan),)),), rate
    police = read_meter(words)
    return InterfacePolicer(any_of=any_of, police=police) if police else None


def parse(text: str, device: str, platform: str = "force10_e300") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    return verbatim(_Reader(read_tree(text, GRAMMAR, SYNTAX)).plan(device, platform), text)
