"""Filters of a running configuration as rules: elements, classifiers, blocks, actions, meters, policies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from ipaddress import ip_network
from typing import Any

from qosforge.plan.model import DROP, TRANSMIT, Action, Policer, PortRange, Rule, Term
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.nortel_5510.metering import bucket_of

_SERVICE = {
    "2": (0, 0), "3": (10, 2), "4": (18, 3), "5": (26, 4), "6": (34, 5), "7": (46, 6), "8": (48, 7),
}  # fmt: skip
_SERVICE_NAMES = {
    "2": "Standard_Service", "3": "Bronze_Service", "4": "Silver_Service", "5": "Gold_Service",
    "6": "Platinum_Service", "7": "Premium_Service", "8": "Network_Service",
}  # fmt: skip
_NULL_ACTION = "9"
_DROP_TRAFFIC = "1"
KEYS = {
    "ip-element": {"name", "addr-type", "src-ip", "dst-ip", "ds-field", "protocol", "next-header",
                   "src-port-min", "src-port-max", "dst-port-min", "dst-port-max"},
    "l2-element": {"name", "src-mac", "src-mac-mask", "dst-mac", "dst-mac-mask", "vlan-min", "vlan-max",
                   "vlan-tag", "priority"},
    "classifier": {"set-id", "name", "element-type", "element-id"},
    "classifier-block": {"block-number", "name", "set-id", "set-name", "in-profile-action", "meter"},
    "action": {"name", "drop-action", "update-dscp", "update-1p", "set-drop-prec"},
    "meter": {"name", "committed-rate", "max-burst-rate", "max-burst-duration", "in-profile-action",
              "in-profile-action-name", "out-profile-action", "out-profile-action-name"},
    "policy": {"name", "if-group", "port", "clfr-type", "clfr-id", "clfr-name", "in-profile-action",
               "in-profile-action-name", "meter", "meter-name", "precedence", "track-statistics"},
}  # fmt: skip
"""What is read of each kind of object."""
_HIGHEST = {"update-dscp": 63, "update-1p": 7, "ds-field": 63, "protocol": 255, "next-header": 255,
            "precedence": 65535, "src-port-min": 65535, "src-port-max": 65535, "dst-port-min": 65535,
            "dst-port-max": 65535, "vlan-min": 4094, "vlan-max": 4094, "committed-rate": 10**8,
            "max-burst-rate": 2**32, "max-burst-duration": 2**32}  # fmt: skip
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2}){4}")
_WHOLE = "f" * 12

Options = dict[str, str]


def options_of(kind: str, words: list[str]) -> Options | None:
    """The keyword-value pairs of an object's line; None where one is not known."""
    result: Options = {}
    if kind == "policy" and words[:1] in (["enable"], ["disable"]):
        result[words[0]] = ""
        words = words[1:]
    if len(words) % 2:
        return None
    for key, value in zip(words[::2], words[1::2], strict=True):
        if key not in KEYS[kind] or not _in_range(key, value):
            return None
        result[key] = value
    ends = [result.get(f"{side}-mac-mask") for side in ("src", "dst")]
    if any(mask is not None and _digits(mask) != _WHOLE for mask in ends):
        return None
    if result.get("addr-type", "ipv4") != "ipv4" and not ("src-ip" in result or "dst-ip" in result):
        return None  # all packets of IPv6, which a term cannot say
    return result


def _in_range(key: str, value: str) -> bool:
    """Whether a value is one that the device takes, as far as a plan holds it."""
    if key in _HIGHEST:
        return is_number(value, 0, _HIGHEST[key])
    if key in ("src-ip", "dst-ip"):
        try:
            ip_network(value, strict=False)
        except ValueError:
            return False
    if key.startswith(("src-mac", "dst-mac")):
        return _MAC.fullmatch(value) is not None
    if key == "vlan-tag":
        return value == "ignore"
    return key != "priority" or value == "all" or is_number(value, 0, 7)


def _digits(mac: str) -> str:
    return re.sub("[^0-9a-f]", "", mac.lower())


class FilterTable:
    """The objects of a configuration by kind and number."""

    def __init__(self, objects: Mapping[str, Mapping[str, Options]]) -> None:
        self._objects = objects

    def alternatives(self, policy: Options) -> list[tuple[Rule, Term]] | None:
        """What a policy looks at and what happens to it, in order; None where that is not understood."""
        rule = self._treated(policy)
        if policy.get("clfr-type", "").startswith("c"):
            key = "clfr-id" if "clfr-id" in policy else "clfr-name"
            term = self._term(key, policy.get(key, ""))
            return None if term is None or rule is None else [(rule, term)]
        key = "block-number" if "clfr-id" in policy else "name"
        wanted = policy.get("clfr-id", policy.get("clfr-name", ""))
        members = [m for m in self._objects["classifier-block"].values() if m.get(key) == wanted]
        found = [
            (
                self._treated(m) if {"in-profile-action", "meter"} & set(m) else rule,
                self._term("clfr-id" if "set-id" in m else "clfr-name", m.get("set-id", m.get("set-name", ""))),
            )
            for m in members
        ]
        known = [(treated, term) for treated, term in found if treated is not None and term is not None]
        return known if known and len(known) == len(found) else None

    # -- what is looked at ---------------------------------------------------------------------------
    @cached_property
    def _sets(self) -> dict[tuple[str, str], list[Options]]:
        """The classifiers of a set by its number and by name."""
        table: dict[tuple[str, str], list[Options]] = {}
        numbers = {o["name"]: o.get("set-id", "") for o in self._objects["classifier"].values() if "name" in o}
        for options in self._objects["classifier"].values():
            table.setdefault(("clfr-id", options.get("set-id", "")), []).append(options)
        for name, number in numbers.items():
            table["clfr-name", name] = table["clfr-id", number]
        return table

    def _term(self, key: str, value: str) -> Term | None:
        """The elements of a set as one alternative: at most one of each type."""
        found = self._sets.get((key, value), [])
        kinds = [options.get("element-type", "") for options in found]
        if not found or len(set(kinds)) < len(kinds) or not {"ip", "l2"}.issuperset(kinds):
            return None
        values: dict[str, Any] = {}
        for kind, options in zip(kinds, found, strict=True):
            element = self._objects[f"{kind}-element"].get(options.get("element-id", ""))
            fields = None if element is None else _ip(element) if kind == "ip" else _l2(element)
            if fields is None:
                return None
            values |= fields
        return Term.model_validate(values)

    # -- what happens to it --------------------------------------------------------------------------
    @cached_property
    def _actions(self) -> dict[tuple[str, str], Rule | None]:
        """What actions do, by number and by name; nothing where they drop."""
        table: dict[tuple[str, str], Rule | None] = {("number", _DROP_TRAFFIC): None}
        for own, (dscp, cos) in _SERVICE.items():
            rule = Rule(name=_SERVICE_NAMES[own], set_dscp=dscp, set_cos=cos)
            table["number", own] = table["name", rule.name] = rule
        table["number", _NULL_ACTION] = table["name", "Null_Action"] = Rule(name="Null_Action")
        for own, options in reversed(tuple(self._objects["action"].items())):
            dscp_word, cos_word = options.get("update-dscp"), options.get("update-1p")
            named = Rule(
                name=options.get("name", f"action {own}"),
                set_dscp=int(dscp_word) if dscp_word is not None else None,
                set_cos=int(cos_word) if cos_word is not None else None,
                set_drop_precedence="high" if options.get("set-drop-prec") == "high-drop" else None,
            )
            held = None if options.get("drop-action") == "enable" else named
            table["number", own] = table["name", named.name] = held
        return table

    def _named(self, options: Options, key: str) -> tuple[str, str] | None:
        """How an action is referred to; None where it is not there."""
        name = ("number", options[key]) if key in options else ("name", options.get(f"{key}-name", ""))
        return name if name in self._actions or name == ("name", "Drop_Traffic") else None

    def _treated(self, options: Options) -> Rule | None:
        meters = self._objects["meter"]
        if "meter" in options:
            return self._metered(meters.get(options["meter"]))
        if "meter-name" in options:
            return self._metered(next((m for m in meters.values() if m.get("name") == options["meter-name"]), None))
        name = self._named(options, "in-profile-action")
        return self._actions.get(name) if name else None

    def _metered(self, meter: Options | None) -> Rule | None:
        if meter is None or not {"committed-rate", "max-burst-rate"} <= set(meter):
            return None
        inside, outside = (self._named(meter, f"{side}-profile-action") for side in ("in", "out"))
        rule = self._actions.get(inside) if inside else None
        if rule is None or outside is None:
            return None
        beyond = self._actions.get(outside)
        exceed = DROP if beyond is None else TRANSMIT
        if beyond is not None and beyond != rule:
            exceed = Action(set_dscp=beyond.set_dscp, set_cos=beyond.set_cos)
        rate, duration = int(meter["committed-rate"]), meter.get("max-burst-duration")
        bucket = bucket_of(rate, int(meter["max-burst-rate"]), int(duration) if duration else None)
        return rule.model_copy(update={"police": Policer(rate=rate * 1000, burst=bucket, exceed=exceed)})


def _ip(element: Options) -> dict[str, Any] | None:
    def span(side: str) -> tuple[PortRange, ...]:
        low, high = element.get(f"{side}-port-min"), element.get(f"{side}-port-max")
        return (PortRange(first=int(low), last=int(high)),) if low is not None and high is not None else ()

    protocol = element.get("protocol", element.get("next-header"))
    return {
        "dscp": tuple(int(dscp) for dscp in _given(element, "ds-field")),
        "protocol": int(protocol) if protocol is not None else None,
        "source": element.get("src-ip"),
        "destination": element.get("dst-ip"),
        "source_ports": span("src"),
        "destination_ports": span("dst"),
    }


def _l2(element: Options) -> dict[str, Any] | None:
    low, high = element.get("vlan-min"), element.get("vlan-max")
    values: dict[str, Any] = {
        "cos": tuple(int(cos) for cos in _given(element, "priority") if cos != "all"),
        "vlan": tuple(range(int(low), int(high) + 1)) if low is not None and high is not None else (),
        "source_mac": _dotted(element.get("src-mac")),
        "destination_mac": _dotted(element.get("dst-mac")),
    }
    # Every frame of every kind is more than a term says, which is all IP packets where it says nothing.
    return values if any(values.values()) else None


def _given(element: Options, key: str) -> Iterator[str]:
    if key in element:
        yield element[key]


def _dotted(mac: str | None) -> str | None:
    if mac is None:
        return None
    digits = _digits(mac)
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))
