"""Filters of a running configuration as rules: elements, classifiers, blocks, actions, meters, policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from qosforge.commands import ReadLine
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer, PortRange, Rule, Term
from qosforge.platforms.nortel_5510.policing import bucket_of

_SERVICE = {
    "2": (0, 0), "3": (10, 2), "4": (18, 3), "5": (26, 4), "6": (34, 5), "7": (46, 6), "8": (48, 7),
}  # fmt: skip
_SERVICE_NAMES = {
    "2": "Standard_Service", "3": "Bronze_Service", "4": "Silver_Service", "5": "Gold_Service",
    "6": "Platinum_Service", "7": "Premium_Service", "8": "Network_Service",
}  # fmt: skip
_NULL_ACTION = "9"
_DROP_TRAFFIC = "1"


def is_held(entry: ReadLine) -> bool:
    """Whether a term can say what an element looks at: all packets of IPv6 it cannot."""
    return entry.get("version", "ipv4") == "ipv4" or "src_ip" in entry or "dst_ip" in entry


class FilterTable:
    """The objects of a configuration by kind and number."""

    def __init__(self, objects: Mapping[str, Mapping[str, ReadLine]]) -> None:
        self._objects = objects

    def alternatives(self, policy: ReadLine) -> list[tuple[Rule, Term]] | None:
        """What a policy looks at and what happens to it, in order; None where that is not understood."""
        rule = self._treated(policy)
        if policy.get("type", "").startswith("c"):
            term = self._term(*_reference(policy, "classifier"))
            return None if term is None or rule is None else [(rule, term)]
        members = self._members(policy)
        found = [
            (
                self._treated(member) if "inside" in member or "meter" in member else rule,
                self._term(*_reference(member, "set")),
            )
            for member in members
        ]
        known = [(treated, term) for treated, term in found if treated is not None and term is not None]
        return known if known and len(known) == len(found) else None

    def referred(self, policy: ReadLine) -> Iterator[ReadLine]:
        """All objects that a policy looks at or does something by."""
        members = [policy]
        if policy.get("type", "").startswith("c"):
            yield from self._elements(*_reference(policy, "classifier"))
        else:
            members += self._members(policy)
            for member in members[1:]:
                yield member
                yield from self._elements(*_reference(member, "set"))
        for member in members:
            meter = self._meter(member)
            if meter is not None:
                yield meter
            for entry, side in ((member, "inside"), (meter, "inside"), (meter, "outside")):
                key, value = _reference(entry, side) if entry is not None else ("number", "")
                for own, action in self._objects["action"].items():
                    if value == (own if key == "number" else action.get("name", f"action {own}")):
                        yield action

    def _members(self, policy: ReadLine) -> list[ReadLine]:
        """The members of the block that a policy looks at."""
        key = "block" if "classifier" in policy else "name"
        wanted = policy.get("classifier", policy.get("classifier_name", ""))
        return [m for m in self._objects["classifier-block"].values() if m.get(key) == wanted]

    def _elements(self, key: str, value: str) -> Iterator[ReadLine]:
        """The classifiers of a set with their elements."""
        for entry in self._sets.get((key, value), []):
            yield entry
            element = self._objects.get(f"{entry.get('kind', '')}-element", {}).get(entry.get("element", ""))
            if element is not None:
                yield element

    # -- what is looked at ---------------------------------------------------------------------------
    @cached_property
    def _sets(self) -> dict[tuple[str, str], list[ReadLine]]:
        """The classifiers of a set by its number and by name."""
        table: dict[tuple[str, str], list[ReadLine]] = {}
        classifiers = self._objects["classifier"].values()
        for entry in classifiers:
            table.setdefault(("number", entry.get("set", "")), []).append(entry)
        for entry in classifiers:
            if "name" in entry:
                table["name", entry.name] = table["number", entry.get("set", "")]
        return table

    def _term(self, key: str, value: str) -> Term | None:
        """The elements of a set as one alternative: at most one of each type."""
        found = self._sets.get((key, value), [])
        kinds = [entry.get("kind", "") for entry in found]
        if not found or len(set(kinds)) < len(kinds) or "" in kinds:
            return None
        values: dict[str, Any] = {}
        for kind, entry in zip(kinds, found, strict=True):
            element = self._objects[f"{kind}-element"].get(entry.get("element", ""))
            fields = None if element is None else _ip(element) if kind == "ip" else _l2(element)
            if fields is None:
                return None
            values |= fields
        return Term.model_validate(values)

    # -- what happens to it --------------------------------------------------------------------------
    @cached_property
    def _actions(self) -> dict[tuple[str, str], Rule | None]:
        """What actions do, by number and by name; nothing where they drop."""
        table: dict[tuple[str, str], Rule | None] = {
            ("number", _DROP_TRAFFIC): None,
            ("name", "Drop_Traffic"): None,
        }
        for own, (dscp, cos) in _SERVICE.items():
            rule = Rule(name=_SERVICE_NAMES[own], set_dscp=dscp, set_cos=cos)
            table["number", own] = table["name", rule.name] = rule
        table["number", _NULL_ACTION] = table["name", "Null_Action"] = Rule(name="Null_Action")
        for own, entry in reversed(tuple(self._objects["action"].items())):
            named = Rule(
                name=entry.get("name", f"action {own}"),
                set_dscp=entry.get("set_dscp"),
                set_cos=entry.get("set_cos"),
                set_drop_precedence="high" if entry.get("drop_precedence") == "high-drop" else None,
            )
            held = None if entry.get("drop") == "enable" else named
            table["number", own] = table["name", named.name] = held
        return table

    def _treated(self, entry: ReadLine) -> Rule | None:
        if "meter" in entry or "meter_name" in entry:
            return self._metered(self._meter(entry))
        return self._actions.get(_reference(entry, "inside"))

    def _meter(self, entry: ReadLine) -> ReadLine | None:
        """The meter that a line refers to."""
        meters = self._objects["meter"]
        if "meter" in entry:
            return meters.get(entry["meter"])
        wanted = entry.get("meter_name")
        return next((m for m in meters.values() if wanted is not None and m.get("name") == wanted), None)

    def _metered(self, meter: ReadLine | None) -> Rule | None:
        if meter is None or not {"rate", "burst_rate"} <= set(meter.values):
            return None
        rule, outside = self._actions.get(_reference(meter, "inside")), _reference(meter, "outside")
        if rule is None or outside not in self._actions:
            return None
        beyond = self._actions[outside]
        exceed = DROP if beyond is None else TRANSMIT
        if beyond is not None and beyond != rule:
            exceed = Action(set_dscp=beyond.set_dscp, set_cos=beyond.set_cos)
        bucket = bucket_of(meter["rate"], meter["burst_rate"], meter.get("duration"))
        return rule.model_copy(update={"police": Policer(rate=meter["rate"] * 1000, burst=bucket, exceed=exceed)})


def _reference(entry: ReadLine, what: str) -> tuple[str, str]:
    """How a line refers to another object: by its number or by its name."""
    return ("number", str(entry[what])) if what in entry else ("name", entry.get(f"{what}_name", ""))


def _ip(element: ReadLine) -> dict[str, Any]:
    def span(side: str) -> tuple[PortRange, ...]:
        low, high = element.get(f"{side}_port_min"), element.get(f"{side}_port_max")
        return (PortRange(first=low, last=high),) if low is not None and high is not None else ()

    return {
        "dscp": (element["dscp"],) if "dscp" in element else (),
        "protocol": element.get("protocol"),
        "source": element.get("src_ip"),
        "destination": element.get("dst_ip"),
        "source_ports": span("src"),
        "destination_ports": span("dst"),
    }


def _l2(element: ReadLine) -> dict[str, Any] | None:
    low, high = element.get("vlan_min"), element.get("vlan_max")
    values: dict[str, Any] = {
        "cos": (element["cos"],) if "cos" in element else (),
        "vlan": tuple(range(low, high + 1)) if low is not None and high is not None else (),
        "source_mac": element.get("src_mac"),
        "destination_mac": element.get("dst_mac"),
    }
    # Every frame of every kind is more than a term says, which is all IP packets where it says nothing.
    return values if any(values.values()) else None
