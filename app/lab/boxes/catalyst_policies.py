"""Class maps and policy maps of the Catalysts: ingress only, classify, mark, police."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.lab.boxes import ios_refusals as refusals
from app.lab.boxes.ios_arguments import dscp_value
from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_classes import CLASS_RANK, POLICY_RANK, class_names, in_class, policies
from app.lab.boxes.ios_rows import leaving, row, setting
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.packets import Packets
from app.lab.shell import Row, Shell


@dataclass(frozen=True)
class Dialect:
    """What differs between the two families."""

    hows: str  # class-map operators
    matches: tuple[str, ...]
    dscp: str  # argument type of a DSCP
    police: str  # rate and burst pattern
    exceed: str  # exceed actions
    trust_in_class: bool
    one_match: bool


class SwitchPolicies:
    """Rows of class-map, policy-map and policy-class mode, and the attachment."""

    def __init__(self, box: IosBox, dialect: Dialect, attached: Callable[[Shell, Section], None]) -> None:
        """``attached`` checks a policy against the port (raises Refused) and adapts the port."""
        self._box = box
        self._dialect = dialect
        self._attached = attached

    def global_rows(self) -> list[Row]:
        """``class-map`` and ``policy-map``."""
        return [
            row(f"class-map [{self._dialect.hows}]:how WORD:name", self._class_map, True),
            row("policy-map WORD:name", self._policy_map, True),
        ]

    def interface_rows(self) -> list[Row]:
        """``service-policy input``."""
        return [row("service-policy input WORD:name", self._attach, "service-policy input [WORD]")]

    def tables(self) -> dict[str, list[Row]]:
        """The submodes."""
        dialect = self._dialect
        rows = [
            *leaving(),
            row(f"set [ip] dscp {dialect.dscp}:dscp", self._set, f"set [ip] dscp [{dialect.dscp}]"),
            row(f"police {dialect.police} [exceed-action {dialect.exceed}]:exceed", self._police, "police [LINE]"),
        ]
        if dialect.trust_in_class:
            rows += [
                row("set ip precedence PREC:prec", self._set, "set ip precedence [PREC]"),
                row("trust [cos|dscp|ip-precedence]:what", self._trust, "trust [cos|dscp|ip-precedence]"),
                row("police aggregate WORD:name", self._aggregate),
            ]
        return {
            "cmap": [
                *leaving(),
                setting("description LINE", rank=0),
                *(row(f"match {kind}", self._match, True) for kind in dialect.matches),
            ],
            "pmap": [
                *leaving(),
                setting("description LINE", rank=0),
                row("class WORD:name", self._class, True),
            ],
            "pmap-c": rows,
        }

    def policy_on(self, interface: Section) -> Section | None:
        """The policy of a port."""
        words = interface.value("service-policy input").split()
        return self._box.running.get(f"policy-map {words[2]}") if len(words) == 3 else None

    def classify(self, policy: Section, packets: Packets, into: str) -> Section | None:
        """The class of a policy that takes the packets; None when none does."""
        for name in class_names(policy):
            if name != "class-default" and in_class(self._box, name, packets, into):
                return policy.get(f"class {name}")
        return policy.get("class class-default")

    def _class_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class-map {name}"
        if match.undone:
            if any(name in class_names(policy) for policy in policies(self._box)):
                raise Refused(refusals.class_in_use(name))
            shell.section.remove(key)
            return
        text = f"class-map {match.get('how', 'match-all')} {name}"
        shell.enter(
            "cmap", shell.section.get(key) or shell.store(Section(text, key=key, rank=CLASS_RANK, mode="cmap"))
        )

    def _match(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove(match.text)
            return
        if self._dialect.one_match and any(line.text != match.text for line in shell.section.starting("match ")):
            raise Refused("% Only one match statement per class-map is supported")  # unconfirmed wording
        shell.store(Section(match.text, rank=10))

    def _policy_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"policy-map {name}"
        if match.undone:
            if any(
                held.value("service-policy input") == f"service-policy input {name}"
                for held in self._box.interfaces()
            ):
                raise Refused(refusals.policy_in_use(name))
            shell.section.remove(key)
            return
        shell.enter("pmap", shell.section.get(key) or shell.store(Section(key, rank=POLICY_RANK, mode="pmap")))

    def _class(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class {name}"
        if match.undone:
            shell.section.remove(key)
            return
        if name != "class-default" and f"class-map {name}" not in self._box.running:
            raise Refused(refusals.unknown_class(name))
        rank = 99 if name == "class-default" else 50
        shell.enter("pmap-c", shell.section.get(key) or shell.store(Section(key, rank=rank, mode="pmap-c")))

    def _set(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("set")
            return
        if "trust" in shell.section:
            raise Refused(refusals.deconfigure("trust", "set"))
        shell.store(Section(match.text, key="set", rank=10))

    def _trust(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("trust")
            return
        if "set" in shell.section:
            raise Refused(refusals.deconfigure("set", "trust"))
        shell.store(Section(f"trust {match.get('what', 'dscp')}", key="trust", rank=10))

    def _police(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("police")
            return
        text = match.text if "exceed" in match else f"{match.text} exceed-action drop"
        shell.store(Section(text, key="police", rank=20))

    def _aggregate(self, shell: Shell, match: Match) -> None:
        if f"mls qos aggregate-policer {match['name']}" not in self._box.running:
            raise Refused(f"% aggregate policer {match['name']} not configured")
        shell.store(Section(match.text, key="police", rank=20))

    def _attach(self, shell: Shell, match: Match) -> None:
        key = "service-policy input"
        if match.undone:
            shell.section.remove(key)
            return
        name = match["name"]
        policy = self._box.running.get(f"policy-map {name}")
        if policy is None:
            raise Refused(refusals.unknown_policy(name))
        present = shell.section.value(key).split()[2:]
        if present and present != [name]:
            raise Refused(refusals.already_attached(present[0]))
        self._attached(shell, policy)
        shell.store(Section(f"{key} {name}", key=key, rank=75))


def written_dscp(held: Section) -> int | None:
    """The DSCP a class writes; None when it writes none."""
    words = held.value("set").split()
    if not words:
        return None
    return 8 * int(words[-1]) if words[-2] == "precedence" else dscp_value(words[-1])


def policed(running: Section, held: Section) -> tuple[int, int, str] | None:
    """Rate (bit/s), burst (bytes) and exceed action of a class; None when it does not police."""
    words = held.value("police").split()
    if not words:
        return None
    if words[1] == "aggregate":
        words = ["police", *running.value(f"mls qos aggregate-policer {words[2]}").split()[4:]]
    found = re.fullmatch(r"police (\d+) (\d+) exceed-action (.+)", " ".join(words))
    assert found is not None, words
    return int(found[1]), int(found[2]), found[3].strip()


def split_by_policer(
    limit: tuple[int, int, str] | None, packets: Packets, seconds: float, budgets: dict[str, float], key: str
) -> tuple[int, str]:
    """How many packets conform, and what happens to the others. Without a duration all conform."""
    if limit is None or seconds <= 0 or packets.bytes == 0:
        return packets.count, ""
    rate, burst, exceed = limit
    left = budgets.setdefault(key, burst + rate * seconds / 8)
    conforming = min(packets.count, int(left // packets.bytes))
    budgets[key] = left - conforming * packets.bytes
    return conforming, exceed
