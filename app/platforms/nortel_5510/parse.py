"""Read a running configuration of the 5510 into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re
from functools import cached_property
from ipaddress import ip_network

from app.configtree import Line
from app.plan.model import Ingress, InterfacePlan, Plan, PortRange, Rule, System, Term, Trust, UnknownLine
from app.platforms.handwriting import is_number, read_tree
from app.platforms.nortel_5510.capabilities import (
    PORT,
    capabilities,
    factory_cos_to_dscp,
    factory_dscp_to_cos,
    factory_queue,
    port_count,
    queue_set_known,
    scheduler,
)
from app.platforms.nortel_5510.grammar import GRAMMAR
from app.platforms.nortel_5510.handwriting import DIALECT

_TRUST = {"trusted": Trust.DSCP, "untrusted": Trust.NONE, "unrestricted": Trust.KEEP}
_MODEL = re.compile(r"^! *Model = .*?(\S+)\s*$", re.MULTILINE)
_SERVICE = {
    "2": (0, 0), "3": (10, 2), "4": (18, 3), "5": (26, 4), "6": (34, 5), "7": (46, 6), "8": (48, 7),
}  # fmt: skip
_SERVICE_NAMES = {
    "2": "Standard_Service", "3": "Bronze_Service", "4": "Silver_Service", "5": "Gold_Service",
    "6": "Platinum_Service", "7": "Premium_Service", "8": "Network_Service",
}  # fmt: skip
_KEYS = {
    "ip-element": {"name", "addr-type", "src-ip", "dst-ip", "ds-field", "protocol", "src-port-min",
                   "src-port-max", "dst-port-min", "dst-port-max"},
    "classifier": {"set-id", "name", "element-type", "element-id"},
    "action": {"name", "drop-action", "update-dscp", "update-1p", "set-drop-prec"},
    "policy": {"name", "if-group", "port", "clfr-type", "clfr-id", "clfr-name", "in-profile-action",
               "in-profile-action-name", "precedence", "track-statistics"},
}  # fmt: skip
_HIGHEST = {"update-dscp": 63, "update-1p": 7, "ds-field": 63, "protocol": 255, "precedence": 65535,
            "src-port-min": 65535, "src-port-max": 65535, "dst-port-min": 65535, "dst-port-max": 65535}  # fmt: skip
_HARMLESS = re.compile(r"qos agent (?:queue-set|buffer|nvram-delay|statistics-tracking|ubp disable)\b.*")

Options = dict[str, str]


class _Reader:
    """One reading: the objects found so far, and what was not understood."""

    def __init__(self, text: str) -> None:
        self.tree = read_tree(text, GRAMMAR, DIALECT)
        model = _MODEL.search(text)
        self.port_count = port_count(model[1] if model else "")
        self.unknown: list[UnknownLine] = []
        self.groups = {capabilities()["default_group"]["value"]: Trust.NONE}
        self.assigned: dict[str, str] = {}
        self.objects: dict[str, dict[str, tuple[Line, Options]]] = {kind: {} for kind in _KEYS}
        self.queue_set: int = capabilities()["factory_queue_set"]["value"]
        self.to_cos = list(factory_dscp_to_cos())
        self.to_dscp = list(factory_cos_to_dscp())
        self.queue_of: dict[tuple[int, int], int] = {}

    def plan(self, device: str, platform: str) -> Plan:
        for line in self.tree:
            self._line(line)
        names = [str(n) for n in range(1, self.port_count + 1)]
        names += [p for p in self.assigned if PORT.fullmatch(p) and p not in names]
        ingress = {group: self._ingress(group) for group in {*self.groups, *self.assigned.values()}}
        fallback: str = capabilities()["default_group"]["value"]
        interfaces = tuple(
            InterfacePlan(name=name, ingress=ingress[self.assigned.get(name, fallback)]) for name in names
        )
        known = queue_set_known(self.queue_set)
        queues = [self.queue_of.get((self.queue_set, cos)) for cos in range(8)]
        system = System(
            queue_set=self.queue_set,
            scheduler=scheduler(self.queue_set) if known else None,
            cos_to_queue=tuple(q or factory_queue(self.queue_set, cos) for cos, q in enumerate(queues))
            if known
            else None,
            cos_to_dscp=tuple(self.to_dscp),
            dscp_to_cos=tuple(self.to_cos),
        )
        unknown = tuple(sorted(self.unknown, key=lambda u: u.line))
        return Plan(device=device, platform=platform, system=system, interfaces=interfaces, unknown=unknown)

    def _miss(self, line: Line) -> None:
        self.unknown.append(UnknownLine(line=line.number, text=line.text))

    def _line(self, line: Line) -> None:
        for below in line.children:
            if below.text.startswith("qos "):
                self._miss(below)
        match line.text.split():
            case ["qos", "if-group", "name", name, "class", kind] if kind in _TRUST:
                self.groups[name] = _TRUST[kind]
            case ["qos", "if-assign", "port", port, "name", name]:
                self.assigned[port] = name
            case ["qos", kind, number, *words] if kind in _KEYS and is_number(number):
                options = _options(kind, words)
                if options is None:
                    self._miss(line)
                else:
                    self.objects[kind][number] = (line, options)
            case ["qos", "egressmap", "ds", dscp, "1p", cos, "dp", _] if is_number(dscp, 0, 63) and is_number(
                cos, 0, 7
            ):
                self.to_cos[int(dscp)] = int(cos)
            case ["qos", "ingressmap", "1p", cos, "ds", dscp] if is_number(cos, 0, 7) and is_number(dscp, 0, 63):
                self.to_dscp[int(cos)] = int(dscp)
            case ["qos", "queue-set-assignment", "queue-set", queue_set, "1p", cos, "queue", queue] if (
                is_number(queue_set, 1, 8) and is_number(cos, 0, 7) and is_number(queue, 1, 8)
            ):
                self.queue_of[int(queue_set), int(cos)] = int(queue)
            case ["qos", "agent", "queue-set", number] if is_number(number, 1, 8):
                self.queue_set = int(number)
            case ["qos", *_] if not _HARMLESS.fullmatch(line.text):
                self._miss(line)

    # -- filters -------------------------------------------------------------------------------------
    def _ingress(self, group: str) -> Ingress:
        rules: list[tuple[Rule, list[Term]]] = []
        for line, options in sorted(self._policies[group], key=lambda p: -int(p[1].get("precedence", "0"))):
            term, action = self._classifier(options), self._action(options)
            if term is None or action is None:
                self._miss(line)
            elif rules and rules[-1][0] == action:
                rules[-1][1].append(term)
            else:
                rules.append((action, [term]))
        found = tuple(action.model_copy(update={"any_of": tuple(terms)}) for action, terms in rules)
        return Ingress(policy=group, trust=self.groups.get(group, Trust.KEEP), rules=found)

    @cached_property
    def _policies(self) -> dict[str, list[tuple[Line, Options]]]:
        """The policies in force by their port group; others are told."""
        groups: dict[str, list[tuple[Line, Options]]] = {g: [] for g in (*self.groups, *self.assigned.values())}
        for line, options in self.objects["policy"].values():
            group = options.get("if-group")
            if group not in groups:
                self._miss(line)
            elif "disable" not in options:
                groups[group].append((line, options))
        return groups

    @cached_property
    def _classifiers(self) -> dict[tuple[str, str | None], list[Options]]:
        """The elements of classifiers by the number of their set and by name."""
        table: dict[tuple[str, str | None], list[Options]] = {}
        for _, options in self.objects["classifier"].values():
            table.setdefault(("clfr-id", options.get("set-id")), []).append(options)
            table.setdefault(("clfr-name", options.get("name")), []).append(options)
        return table

    def _classifier(self, policy: Options) -> Term | None:
        """The one IP element of a policy's classifier; None where it is something else."""
        key = "clfr-id" if "clfr-id" in policy else "clfr-name"
        found = self._classifiers.get((key, policy.get(key)), []) if key in policy else []
        if not policy.get("clfr-type", "").startswith("c") or len(found) != 1:
            return None
        if found[0].get("element-type") != "ip":
            return None
        element = self.objects["ip-element"].get(found[0].get("element-id", ""))
        return _term(element[1]) if element else None

    @cached_property
    def _actions(self) -> dict[tuple[str, str], Rule | None]:
        """What actions do, by number and by name; nothing where they drop."""
        table: dict[tuple[str, str], Rule | None] = {}
        for own, (dscp, cos) in _SERVICE.items():
            rule = Rule(name=_SERVICE_NAMES[own], set_dscp=dscp, set_cos=cos)
            table["number", own] = table["name", rule.name] = rule
        for own, (_, options) in reversed(self.objects["action"].items()):
            new_dscp, new_cos = options.get("update-dscp"), options.get("update-1p")
            named = Rule(
                name=options.get("name", f"action {own}"),
                set_dscp=int(new_dscp) if new_dscp is not None else None,
                set_cos=int(new_cos) if new_cos is not None else None,
            )
            held = None if options.get("drop-action") == "enable" else named
            table["number", own] = table["name", named.name] = held
        return table

    def _action(self, policy: Options) -> Rule | None:
        if "in-profile-action" in policy:
            return self._actions.get(("number", policy["in-profile-action"]))
        return self._actions.get(("name", policy.get("in-profile-action-name", "")))


def _options(kind: str, words: list[str]) -> Options | None:
    """The keyword-value pairs of an object's line; None where one is not known."""
    result: Options = {}
    if kind == "policy" and words[:1] in (["enable"], ["disable"]):
        result[words[0]] = ""
        words = words[1:]
    if len(words) % 2:
        return None
    for key, value in zip(words[::2], words[1::2], strict=True):
        if key not in _KEYS[kind] or not _in_range(key, value):
            return None
        result[key] = value
    return result


def _in_range(key: str, value: str) -> bool:
    """Whether a value is one that the box takes, as far as a plan holds it."""
    if key in _HIGHEST:
        return is_number(value, 0, _HIGHEST[key])
    if key in ("src-ip", "dst-ip"):
        try:
            ip_network(value, strict=False)
        except ValueError:
            return False
    return True


def _term(element: Options) -> Term:
    def span(side: str) -> tuple[PortRange, ...]:
        low, high = element.get(f"{side}-port-min"), element.get(f"{side}-port-max")
        return (PortRange(first=int(low), last=int(high)),) if low is not None and high is not None else ()

    dscp, protocol = element.get("ds-field"), element.get("protocol")
    return Term(
        dscp=(int(dscp),) if dscp is not None else (),
        protocol=int(protocol) if protocol is not None else None,
        source=element.get("src-ip"),
        destination=element.get("dst-ip"),
        source_ports=span("src"),
        destination_ports=span("dst"),
    )


def parse(text: str, device: str, platform: str = "nortel_5510") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    return _Reader(text).plan(device, platform)
