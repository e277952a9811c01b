"""A small hand-written network with one fault planted at a time, and what Batfish is to say of each.

Nothing here is compiled, so that recorded answers stay those of the question. ``python -m tests.batfish.planted``
asks the service at QOSFORGE_BATFISH_HOST and records its answers anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from pydantic import BaseModel, TypeAdapter

from qosforge.batfish import process
from qosforge.batfish.analysis_copy import AnalysisCopy, analysis_copy
from qosforge.batfish.class_filters import class_filters
from qosforge.batfish.copy_rules import copy_rules
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.networks import clean_up
from qosforge.batfish.snapshots import DeviceCopies, Snapshots
from qosforge.errors import Place
from qosforge.plan.model import Ingress, InterfacePlan, Plan, PortRange, Rule, Term
from qosforge.platforms.device_text import DeviceWords

RECORDED = Path(__file__).parent / "recorded.json"

R1 = """\
version 12.4
hostname Switch
enable secret 0 Planted1Enable
snmp-server community Planted1Community RO
interface FastEthernet0/0
 description door code Planted1Community
 ip address 10.1.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 ip address 10.0.0.1 255.255.255.252
 encapsulation ppp
router ospf 1
 network 10.0.0.0 0.255.255.255 area 0
router bgp 65001
 network 10.1.0.0 mask 255.255.255.0
 neighbor 10.0.0.2 remote-as 65002
line con 0
"""
R2 = """\
version 12.4
hostname Switch
interface FastEthernet0/0
 ip address 10.2.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 ip address 10.0.0.2 255.255.255.252
 encapsulation ppp
router ospf 1
 network 10.0.0.0 0.255.255.255 area 0
router bgp 65002
 network 10.2.0.0 mask 255.255.255.0
 neighbor 10.0.0.1 remote-as 65001
line con 0
"""
S1 = """\
version 12.1
hostname Switch
interface FastEthernet0/1
 switchport access vlan 3
interface FastEthernet0/2
 switchport access vlan 3
interface Vlan1
 no ip address
line con 0
"""
F1 = """\
hostname FTOS
interface GigabitEthernet 0/0
 no ip address
 switchport
 no shutdown
interface Vlan 4
 ip address 10.1.0.4/24
 tagged GigabitEthernet 0/0
 no shutdown
"""
CLASSES = """\
ip access-list extended QOSFORGE-web
 permit tcp any any eq www
 permit tcp any any range 8080 8089
class-map match-all web
 match access-group name QOSFORGE-web
class-map match-any voice
 match ip dscp ef
 match ip dscp af41
policy-map QOSFORGE-IN
 class web
  set ip dscp af21
 class voice
  set ip dscp ef
"""
FTOS_CLASSES = """\
ip access-list extended QOSFORGE-web
 seq 5 permit tcp any any eq 80 order 3
class-map match-any web
 match ip access-group QOSFORGE-web
policy-map-input QOSFORGE-IN
 service-queue 2 class-map web
"""
BEFORE = {"r1": R1, "r2": R2, "s1": S1, "f1": F1}
AFTER = {
    "r1": CLASSES + R1.replace("255.255.255.0\n", "255.255.255.0\n service-policy input QOSFORGE-IN\n", 1),
    "r2": CLASSES + R2.replace("255.255.255.0\n", "255.255.255.0\n service-policy input QOSFORGE-IN\n", 1),
    "s1": CLASSES + S1.replace("vlan 3\n", "vlan 3\n service-policy input QOSFORGE-IN\n"),
    "f1": FTOS_CLASSES + F1.replace(" switchport\n", " switchport\n service-policy input QOSFORGE-IN\n"),
}
PLATFORMS = {"r1": "cisco_ios", "r2": "cisco_ios", "s1": "catalyst_2950", "f1": "force10_e300"}
WEB = tuple(
    Term(protocol=6, destination_ports=(PortRange(first=first, last=last),))
    for first, last in ((80, 80), (8080, 8089))
)
RULES = (Rule(name="web", any_of=WEB), Rule(name="voice", any_of=(Term(dscp=(46, 34)),)))
PLACES = {"web": 7, "voice": 3}
SECRETS = ("Planted1Enable", "Planted1Community")


class Told(BaseModel):
    """A finding: its code without ``batfish-``, and the text of the line of the device that it names."""

    code: str
    severity: str
    device: str | None
    line: str | None


class Planted(BaseModel):
    """A fault: what is replaced in the text that a device comes to hold, and the findings that come of it."""

    name: str
    device: str = "r1"
    old: str = ""
    new: str = ""
    found: tuple[Told, ...] = ()


PLANTED = TypeAdapter(tuple[Planted, ...]).validate_python(
    yaml.safe_load((Path(__file__).parent / "planted.yaml").read_text(encoding="utf-8"))
)
SOUND = PLANTED[0]


def snapshots_of(planted: Planted) -> Snapshots:
    """Both snapshots with the fault."""
    before, after = BEFORE, dict(AFTER)
    assert planted.old in after[planted.device]
    after[planted.device] = after[planted.device].replace(planted.old, planted.new, 1)
    devices: dict[str, DeviceCopies] = {}
    for name, platform in PLATFORMS.items():
        words = DeviceWords(name, platform)
        words.learn(before[name])
        rules = copy_rules(platform)
        assert rules is not None

        def copy(text: str, words: DeviceWords = words, rules: Any = rules, name: str = name) -> AnalysisCopy:
            lines = text.splitlines()
            return analysis_copy(lines, words.covered(lines), rules, name)

        devices[name] = DeviceCopies(
            name,
            name,
            known=True,
            before=copy(before[name]),
            after=copy(after[name]),
            classes={
                each: Place(device=name, traffic_class=each, file="small.yaml", line=line)
                for each, line in PLACES.items()
            },
            own=frozenset(line.strip() for line in (CLASSES + FTOS_CLASSES).splitlines()),
            resized=frozenset(),
            unanswered=rules.unanswered,
        )
    ingress = Ingress(policy="QOSFORGE-IN", rules=RULES)
    plan = Plan(device="", platform="", interfaces=(InterfacePlan(name="", ingress=ingress),))
    return Snapshots(devices, class_filters((name, each.after, plan) for name, each in devices.items()))


def ask(address: Address, snapshots: Snapshots) -> Any:
    """What a service answers."""
    network = f"qosforge-test-{uuid.uuid4().hex}"
    with TemporaryDirectory() as folder:
        try:
            question = json.dumps({"snapshots": snapshots.files, "computing": snapshots.may_forward_otherwise})
            return process.ask(address, network, question, seconds=300, folder=Path(folder))
        finally:
            clean_up(address, "test", network, 10)


def digest(snapshots: Snapshots) -> str:
    """What a recorded answer is an answer to."""
    return hashlib.sha256(json.dumps(snapshots.files, sort_keys=True).encode()).hexdigest()


def write(recorded: dict[str, Any]) -> None:
    """Write all recorded answers, a case a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(recorded[name], sort_keys=True)}" for name in sorted(recorded)]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Record the answers of the service at QOSFORGE_BATFISH_HOST."""
    address = Address(os.environ["QOSFORGE_BATFISH_HOST"], int(os.environ.get("QOSFORGE_BATFISH_PORT", "9996")))
    chosen = [each for each in PLANTED if each.name in sys.argv[1:] or not sys.argv[1:]]
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for each in chosen:
        snapshots = snapshots_of(each)
        recorded[each.name] = {"question": digest(snapshots), "answers": ask(address, snapshots)}
    write(recorded)


if __name__ == "__main__":
    main()
