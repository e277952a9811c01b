"""Class maps and policy maps of the Catalysts: ingress only, classify, mark, police."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qoslab.boxes.catalyst.policing import Policers
from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.arguments import dscp_value
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.classes import CLASS_RANK, POLICY_RANK, class_names, in_class, match_mode, policies
from qoslab.boxes.ios.rows import leaving, row, setting
from qoslab.config import Section
from qoslab.grammar import Command, Match, Refused
from qoslab.packets import Packets
from qoslab.shell import Reply, Row, Run, Shell

ATTACHED = "service-policy input"
ACL = "access-group {<1-199>|<1300-2699>|name WORD}"
_INPUT = "input-interface"


@dataclass(frozen=True)
class Dialect:
    """What differs between the two families.

    ``dscp`` is the argument type of a DSCP, ``mark`` the words in front of one as the box prints them, of which
    ``ip`` may not be left out where ``spells_ip``.
    ``vlan``: policies on VLAN interfaces, of two levels (3560 and 3750).
    """

    hows: str
    matches: tuple[str, ...]
    dscp: str
    mark: str
    trust_in_class: bool
    class_default: bool
    vlan: bool = False
    spells_ip: bool = False


class SwitchPolicies:
    """Rows of class-map, policy-map and policy-class mode, and the attachment."""

    def __init__(
        self,
        box: IosBox,
        dialect: Dialect,
        policers: Policers,
        check: Callable[[Section, Section], None],
        taken: Callable[[Section], None],
    ) -> None:
        """``check`` refuses (Refused) a policy that a port's hardware cannot hold; it also runs when an
        attached policy, its class maps or their lists grow. ``taken`` clears what a policy on a port replaces.
        """
        self._box = box
        self._dialect = dialect
        self._policers = policers
        self._check = check
        self._taken = taken

    def global_rows(self) -> list[Row]:
        """``class-map`` and ``policy-map``."""
        return [
            row(f"class-map [{self._dialect.hows}]:how WORD:name", self._class_map, True),
            row("policy-map WORD:name", self._policy_map, True),
        ]

    def interface_rows(self) -> list[Row]:
        """``service-policy input``."""
        return [row(f"{ATTACHED} WORD:name", self._attach, f"{ATTACHED} [WORD]")]

    def tables(self) -> dict[str, list[Row]]:
        """The submodes."""
        dialect = self._dialect
        kinds = [*dialect.matches, *([f"{_INPUT} {{IFACE|IFTYPE IFNUM}}:port*6"] if dialect.vlan else [])]
        mark = "set ip dscp" if dialect.spells_ip else "set [ip] dscp"
        rows = [
            *leaving(),
            row(f"{mark} {dialect.dscp}:dscp", self._set, f"{mark} [{dialect.dscp}]"),
            *self._policers.class_rows(),
        ]
        if dialect.trust_in_class:
            rows += [
                row("set ip precedence PREC:precedence", self._set, "set ip precedence [PREC]"),
                row("trust [cos|dscp|ip-precedence]:what", self._trust, "trust [cos|dscp|ip-precedence]"),
            ]
        if dialect.vlan:
            rows.append(row("service-policy WORD:name", self._nest, True))
        tables = {
            "cmap": [
                *leaving(),
                setting("description LINE", rank=0),
                *(row(f"match {kind}", self._match, True) for kind in kinds),
            ],
            "pmap": [
                *leaving(),
                setting("description LINE", rank=0),
                row("class WORD:name", self._class, True),
            ],
            "pmap-c": rows,
        }
        return {mode: self.guarded(held) for mode, held in tables.items()}

    # -- what is attached --------------------------------------------------------------------------------
    def policy_on(self, interface: Section) -> Section | None:
        """The policy of a port."""
        words = interface.value(ATTACHED).split()
        return self._box.running.get(f"policy-map {words[2]}") if len(words) == 3 else None

    def classify(self, policy: Section, packets: Packets, into: str) -> Section | None:
        """The class of a policy that takes the packets; None when none does."""
        for name in class_names(policy):
            if name != "class-default" and self._takes(name, packets, into):
                return policy.get(f"class {name}")
        return policy.get("class class-default")

    def _takes(self, name: str, packets: Packets, into: str) -> bool:
        held = self._box.running.get(f"class-map {name}")
        ports = held.starting(f"match {_INPUT}") if held is not None else []
        if ports:
            return any(into in line.text.split()[2:] for line in ports)
        return in_class(self._box, name, packets, into)

    def nested(self, held: Section) -> Section | None:
        """The policy of the second level under a class."""
        words = held.value("service-policy").split()
        return self._box.running.get(f"policy-map {words[1]}") if words else None

    def guarded(self, rows: Iterable[Row]) -> list[Row]:
        """Rows whose lines are refused when an attached policy would no longer fit its port's hardware."""
        return [Command(one.pattern, self._guard(one.run), one.no) for one in rows]

    def _guard(self, run: Run) -> Run:
        def guarded(shell: Shell, match: Match) -> Reply | str | None:
            section, levels = shell.section, list(shell.levels)
            before = {line.key: line.text for line in section}
            answer = run(shell, match)
            if match.undone or before == {line.key: line.text for line in section}:
                return answer
            try:
                for port in self._box.interfaces():
                    policy = self.policy_on(port)
                    if policy is not None:
                        self._check(port, policy)
            except Refused:
                for line in list(section):
                    if line.key in before:
                        line.text = before[line.key]
                    else:
                        section.remove(line.key)
                shell.levels = levels
                raise
            return answer

        return guarded

    # -- class maps --------------------------------------------------------------------------------------
    def _class_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class-map {name}"
        if match.undone:
            if any(name in class_names(policy) for policy in policies(self._box)):
                raise Refused(refusals.class_in_use(name))
            shell.section.remove(key)
            return
        if name == "class-default":
            raise Refused(f"% Invalid class-map name {name}")  # unconfirmed wording
        held = shell.section.get(key)
        how = match.get("how") or (match_mode(held) if held is not None else "match-all")
        if held is None or match_mode(held) != how:
            held = shell.store(Section(f"class-map {how} {name}", key=key, rank=CLASS_RANK, mode="cmap"))
        shell.enter("cmap", held)

    def _match(self, shell: Shell, match: Match) -> None:
        text = match.text
        if "port" in match:
            text = f"match {_INPUT} {' '.join(_ports(match.values('port')))}"
        if match.undone:
            shell.section.remove(text)
            return
        if any(line.text != text for line in shell.section.starting("match ")):
            # One list and one match command a class map; the wording is unconfirmed.
            raise Refused("% Only one match statement per class-map is supported")
        shell.store(Section(text, rank=10))

    # -- policy maps -------------------------------------------------------------------------------------
    def _policy_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"policy-map {name}"
        if match.undone:
            attached = any(held.value(ATTACHED) == f"{ATTACHED} {name}" for held in self._box.interfaces())
            parents = (held for policy in policies(self._box) for held in policy.starting("class "))
            if attached or any(held.value("service-policy") == f"service-policy {name}" for held in parents):
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
        if name == "class-default" and not self._dialect.class_default:
            raise Refused("% class-default is not supported in a policy map")  # unconfirmed wording
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
        text = f"{self._dialect.mark} {match['dscp']}" if "dscp" in match else match.text
        shell.store(Section(text, key="set", rank=10))

    def _trust(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("trust")
            return
        if "set" in shell.section:
            raise Refused(refusals.deconfigure("set", "trust"))
        shell.store(Section(f"trust {match.get('what', 'dscp')}", key="trust", rank=10))

    def _nest(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        if match.undone:
            shell.section.remove("service-policy")
            return
        child = self._box.running.get(f"policy-map {name}")
        own = shell.section.parent
        if child is None and not shell.loading:
            raise Refused(refusals.unknown_policy(name))
        deeper = child is not None and any("service-policy" in held for held in child.starting("class "))
        above = [held for policy in policies(self._box) for held in policy.starting("class ")]
        if child is own or deeper or any(self.nested(held) is own for held in above):
            raise Refused("% Only two levels of policy maps are supported")  # unconfirmed wording
        shell.store(Section(match.text, key="service-policy", rank=30))

    def _attach(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove(ATTACHED)
            return
        name = match["name"]
        policy = self._box.running.get(f"policy-map {name}")
        if policy is None:
            raise Refused(refusals.unknown_policy(name))
        present = shell.section.value(ATTACHED).split()[2:]
        if present and present != [name]:
            raise Refused(refusals.already_attached(present[0]))
        self._check(shell.section, policy)
        self._taken(shell.section)
        shell.store(Section(f"{ATTACHED} {name}", key=ATTACHED, rank=75))


def written_dscp(held: Section) -> int | None:
    """The DSCP a class writes; None when it writes none."""
    words = held.value("set").split()
    if not words:
        return None
    return 8 * int(words[-1]) if words[-2] == "precedence" else dscp_value(words[-1])


def _ports(words: list[str]) -> list[str]:
    """Interface names that may have been typed as type and number."""
    names: list[str] = []
    for word in words:
        if names and word[0].isdigit():
            names[-1] += word
        else:
            names.append(word)
    return names
