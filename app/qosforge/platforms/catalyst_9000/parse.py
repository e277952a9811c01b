"""Read a Catalyst 9000's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re

from qosforge.configtree import ConfigLine, Tree
from qosforge.plan.model import Ingress, InterfacePlan, Plan, UnknownLine
from qosforge.platforms.abbreviations import read_tree, verbatim
from qosforge.platforms.catalyst_9000.abbreviations import SYNTAX
from qosforge.platforms.catalyst_9000.grammar import GRAMMAR
from qosforge.platforms.catalyst_9000.names import OWN
from qosforge.platforms.catalyst_9000.policies import BEST_EFFORT, QueuingPolicyReader
from qosforge.platforms.mqc.access_lists import AccessLists
from qosforge.platforms.mqc.classes import ClassReader, MatchAlternatives

PORT = re.compile(
    r"interface ((?:(?:Fast|Gigabit|TwoGigabit|FiveGigabit|TenGigabit|FortyGigabit)Ethernet"
    r"|(?:TwentyFive|Hundred)GigE)\d[\d/]*)"
)
"""Heading of a physical port: QoS is configured there, members of an EtherChannel among them."""
_QOS = re.compile(r"(?:no )?(?:service-policy|qos|trust device|auto qos)\b.*")
_TOP = re.compile(r"(?:qos|table-map) .+")


class _Reader:
    """One reading: the class- and policy-maps found so far, and what was not understood."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._unknown: dict[UnknownLine, None] = {}
        self._lists = AccessLists(tree, self._miss)
        classes = ClassReader(self._lists, self._miss)
        matched: dict[str, MatchAlternatives] = {}
        self._policies: dict[str, ConfigLine] = {}
        for line in tree:
            if match := re.fullmatch(rf"class-map (?:match-(all|any) )?((?!{OWN})\S+)", line.text):
                matched[match[2]] = classes.read(line, match[1] or "all")
            elif match := re.fullmatch(rf"policy-map ((?!{OWN})\S+)", line.text):
                self._policies[match[1]] = line
        self._reader = QueuingPolicyReader(self._policies, matched, self._miss)

    def plan(self, device: str) -> Plan:
        interfaces = []
        for line in self._tree:
            if match := PORT.fullmatch(line.text):
                interfaces.append(self._interface(line, match[1]))
            elif line.text.startswith("interface "):
                for below in line.children:
                    if _QOS.fullmatch(below.text):
                        self._miss(below, line.text)
            elif _TOP.fullmatch(line.text):
                self._miss(line, "")
        self._read_unattached()
        unknown = tuple(sorted(self._unknown, key=lambda entry: entry.line))
        return Plan(
            device=device,
            platform="catalyst_9000",
            interfaces=tuple(interfaces),
            unknown=unknown,
            foreign_lists=self._lists.foreign_numbers,
        )

    def _read_unattached(self) -> None:
        """Keep what is understood on neither side: a policy may be attached to no port."""
        known = self._unknown
        for name, policy in self._policies.items():
            sides: list[dict[UnknownLine, None]] = []
            for read in (self._reader.input, self._reader.output):
                self._unknown = {}
                read(policy, name)
                sides.append(self._unknown)
            known |= {line: None for line in sides[0] if line in sides[1]}
        self._unknown = known

    def _miss(self, line: ConfigLine, context: str, undefined: str | None = None) -> None:
        missed = UnknownLine(line=line.number, text=line.text, context=context, undefined=undefined)
        self._unknown.setdefault(missed)

    def _interface(self, port: ConfigLine, name: str) -> InterfacePlan:
        ingress, egress = Ingress(), BEST_EFFORT
        for line in port.children:
            match line.text.split():
                case ["service-policy", "input", policy]:
                    ingress = self._reader.input(line, policy)
                case ["service-policy", "output", policy]:
                    egress = self._reader.output(line, policy)
                case _ if _QOS.fullmatch(line.text):
                    self._miss(line, port.text)
        return InterfacePlan(name=name, ingress=ingress, egress=egress)


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    return verbatim(_Reader(read_tree(text, GRAMMAR, SYNTAX)).plan(device), text)
