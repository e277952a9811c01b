"""Read an IOS running configuration into a plan, with the defaults that IOS does not print."""

from __future__ import annotations

import re

from qosforge.configtree import ConfigLine, Tree
from qosforge.plan.model import Efficiency, Ingress, InterfacePlan, InterfacePolicer, Plan, System, UnknownLine
from qosforge.platforms.abbreviations import is_number, read_tree, verbatim
from qosforge.platforms.cisco_ios.abbreviations import SYNTAX, astray, cleaned
from qosforge.platforms.cisco_ios.applications import application_of
from qosforge.platforms.cisco_ios.capabilities import capabilities, default_bandwidth
from qosforge.platforms.cisco_ios.car import read_rate_limit
from qosforge.platforms.cisco_ios.circuits import CircuitReader
from qosforge.platforms.cisco_ios.efficiency import read_efficiency
from qosforge.platforms.cisco_ios.grammar import GRAMMAR
from qosforge.platforms.cisco_ios.lower import default_egress
from qosforge.platforms.cisco_ios.policies import PolicyReader
from qosforge.platforms.mqc.access_lists import AccessLists
from qosforge.platforms.mqc.classes import ClassReader, MatchAlternatives

_QOS_ON_INTERFACE = re.compile(
    r"(?:service-policy|fair-queue|random-detect|rate-limit|traffic-shape|priority-group|custom-queue-list|"
    r"ip rtp|tx-ring-limit|max-reserved-bandwidth|ppp multilink|ip mtu|"
    r"frame-relay (?:fragment|ip rtp|fair-queue|payload-compression|qos-autosense))\b.*"
)
_CEF = re.compile(r"ip cef(?: .+)?")


class _Reader:
    """One reading: the class- and policy-maps found so far, and what was not understood."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.unknown: list[UnknownLine] = []
        self.lists = AccessLists(tree, self._miss)
        self.class_maps: dict[str, MatchAlternatives] = {}
        self.policies: dict[str, ConfigLine] = {}
        self.circuits = CircuitReader(tree, self._miss)
        self.reader = PolicyReader(self.policies, self.class_maps, self._miss)

    def plan(self, device: str) -> Plan:
        classes = ClassReader(self.lists, self._miss, application_of)
        for line in self.tree:
            if match := re.fullmatch(r"class-map (?:match-(all|any) )?(\S+)", line.text):
                self.class_maps[match[2]] = classes.read(line, match[1] or "all")
            elif match := re.fullmatch(r"policy-map (\S+)", line.text):
                self.policies[match[1]] = line
        interfaces = [
            self._interface(line, match[1])
            for line in self.tree
            if (match := re.fullmatch(r"interface (\S+)(?: \S+)?", line.text))
        ]
        self._read_unattached()
        self.circuits.read_unused()
        self.unknown.extend(astray(self.tree))
        return Plan(
            device=device,
            platform="cisco_ios",
            # No interface has this command: below one it stands in a text without indentation.
            system=System(
                express_forwarding=any(_CEF.fullmatch(t.text) for top in self.tree for t in (top, *top.children))
            ),
            interfaces=tuple(interfaces),
            unknown=tuple(dict.fromkeys(self.unknown)),
            foreign_lists=self.lists.foreign_numbers,
        )

    def _read_unattached(self) -> None:
        """Keep what is understood on neither side: a policy may be attached to no interface."""
        known = self.unknown
        for name, policy in self.policies.items():
            sides: list[dict[UnknownLine, None]] = []
            for read in (self.reader.input, self.reader.output):
                self.unknown = []
                read(policy, name)
                sides.append(dict.fromkeys(self.unknown))
            known.extend(line for line in sides[0] if line in sides[1])
        self.unknown = known

    def _miss(self, line: ConfigLine, context: str, undefined: str | None = None) -> None:
        self.unknown.append(UnknownLine(line=line.number, text=line.text, context=context, undefined=undefined))

    def _interface(self, interface: ConfigLine, name: str) -> InterfacePlan:
        bandwidth = default_bandwidth(name)
        ingress, egress = Ingress(), None
        efficiency: dict[str, object] = {}
        flow_wfq = True
        reservable: int | None = None
        ring: int | None = None
        policers: dict[str, list[InterfacePolicer]] = {"input": [], "output": []}
        circuit, carried = self.circuits.read(interface, name)
        for line in (*interface.children, *carried):
            match line.text.split():
                case ["bandwidth", kbps] if is_number(kbps):
                    bandwidth = int(kbps)
                case ["max-reserved-bandwidth", percent] if is_number(percent, 1, 100):
                    reservable = int(percent)
                case ["service-policy", "input", policy]:
                    ingress = self.reader.input(line, policy)
                case ["service-policy", "output", policy]:
                    egress = self.reader.output(line, policy)
                case ["no", "fair-queue"]:
                    flow_wfq = False
                case ["tx-ring-limit", packets] if is_number(packets):
                    ring = int(packets)
                case ["rate-limit", *_]:
                    if found := read_rate_limit(line, self.lists, self._miss, interface.text):
                        policers[found[0]].append(found[1])
                case words if (said := read_efficiency(words)) is not None:
                    efficiency |= said
                case ["frame-relay", "interface-dlci" | "class" | "traffic-shaping", *_] | ["pvc", *_]:
                    pass  # read with the circuit
                case _ if _QOS_ON_INTERFACE.fullmatch(line.text):
                    self._miss(line, interface.text)
        if circuit is not None and circuit.sustained is not None:
            bandwidth = circuit.sustained // 1000
        if efficiency.get("interleave"):
            efficiency.setdefault("fragment_delay_ms", capabilities()["fragment_delay_ms"]["interleaved"])
        delay = efficiency.get("fragment_delay_ms")
        if isinstance(delay, int) and bandwidth is not None:
            efficiency["fragment_bytes"] = bandwidth * delay // 8
        if egress is None:
            egress = default_egress(name, bandwidth if flow_wfq else 10**9)
        return InterfacePlan(
            name=name,
            bandwidth_kbps=bandwidth,
            reservable_percent=reservable,
            circuit=circuit,
            ingress=ingress.model_copy(update={"policers": tuple(policers["input"])}),
            egress=egress.model_copy(update={"policers": tuple(policers["output"]), "transmit_ring": ring}),
            efficiency=Efficiency.model_validate(efficiency),
        )


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    return verbatim(_Reader(read_tree(cleaned(text), GRAMMAR, SYNTAX)).plan(device), text)
