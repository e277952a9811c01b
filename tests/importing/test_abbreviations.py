"""Configurations as people write them: what becomes an intent, and that the rest is told, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.importing import import_configurations, read_configuration
from qosforge.inventory.loader import load_network
from qosforge.platforms.base import platform

from .support import compiled_again, imported, told, unlike

BRANCH = """\
version 12.4
hostname branch
class-map match-any voice
 match ip dscp ef
 match access-group name PHONES
class-map match-any bulk.data
 match access-group 120
policy-map MARK-IN
 class voice
  set dscp ef
 class bulk.data
  set dscp af11
  police cir 256000 bc 8000
   conform-action transmit
   exceed-action set-dscp-transmit af13
policy-map WAN-OUT
 class voice
  priority percent 33
 class bulk.data
  bandwidth remaining percent 20
  random-detect dscp-based
  random-detect dscp af13 10 30 5
 class class-default
  queue-limit 100
interface FastEthernet0/0
 service-policy input MARK-IN
interface Serial0/0
 bandwidth 512
 encapsulation ppp
 service-policy output WAN-OUT
 ip rtp header-compression iphc-format
ip access-list extended PHONES
 permit udp 10.0.0.0 0.0.0.255 any range 16384 32767
access-list 120 permit tcp any any eq ftp
access-list 120 permit tcp any any eq 2049
"""
BRANCH_INTENT = """\
# Read from the configurations of branch.
version: 1
intent: made
classes:
  - name: voice
    match: {any: [{dscp: ef}, {protocol: udp, source: "10.0.0.0/24", destination_port: "16384-32767"}]}
    mark: {dscp: ef}
    treatment: {priority: {percent: 33}}
  - name: bulk-data
    match: {any: [{protocol: tcp, destination_port: 21}, {protocol: tcp, destination_port: 2049}]}
    mark: {dscp: af11}
    treatment:
      bandwidth: {remaining_percent: 20}
      wred: {profiles: [{dscp: [af13], minimum: 10 packets, maximum: 30 packets, probability: 20 %}]}
      police: {rate: 256 kb/s, exceed: {remark: af13}}
  - name: default
    treatment: {queue_limit: {packets: 100}}
link_efficiency:
  - {when: {framing: ppp}, header_compression: rtp}
apply:
  - {devices: branch, ports: [Serial0/0], direction: output, policy: WAN-OUT}
  - {devices: branch, ports: [FastEthernet0/0], direction: input, policy: MARK-IN}
"""

SWITCH = """\
hostname sw1
mls qos map cos-dscp 0 8 16 26 32 46 48 56
wrr-queue bandwidth 10 20 70 0
wrr-queue cos-map 1 0 1
wrr-queue cos-map 2 2 3
wrr-queue cos-map 3 4 6 7
wrr-queue cos-map 4 5
interface FastEthernet0/1
 switchport voice vlan 110
 mls qos trust device cisco-phone
 mls qos trust cos
interface FastEthernet0/2
 mls qos trust dscp
interface GigabitEthernet0/1
 switchport mode trunk
 mls qos trust cos
"""


def test_an_intent_in_the_words_of_the_language(tmp_path: Path) -> None:
    found = imported(BRANCH)
    assert told(found) == []
    assert [i.text for i in found.intents] == [BRANCH_INTENT]
    (again,) = compiled_again(found, tmp_path)
    assert {b.name for b in again.blocks} >= {"voice", "WAN-OUT", "MARK-IN"}
    assert "10.0.0.0 0.0.0.255 any range 16384 32767" in again.text


def test_the_inventory_that_the_intent_needs(tmp_path: Path) -> None:
    compiled_again(imported(BRANCH), tmp_path)
    device = load_network(tmp_path).device("branch")
    assert (device.platform, device.image, device.role.value) == ("cisco_ios", "12.4", "edge")
    serial, lan = device.interface("Serial0/0"), device.interface("FastEthernet0/0")
    assert (serial.rate, serial.encapsulation.value, serial.tags) == (512_000, "ppp", frozenset())
    assert (lan.rate, lan.tags) == (100_000_000, {"lan"})


@pytest.mark.parametrize(
    ("line", "below", "message"),
    [
        (" custom-queue-list 3", "interface Serial0/0", "'custom-queue-list 3' (in interface Serial0/0) is not"),
        (
            " max-reserved-bandwidth 90",
            "interface Serial0/0",
            "reservable_percent is not what the intent compiles to",
        ),
        (
            " match protocol unheard-of",
            "class-map match-any voice",
            "application unheard-of: the catalogue does not have it",
        ),
        (" match any", "class-map match-any voice", "a class of its own that takes every packet"),
    ],
)
def test_what_has_no_word_is_told(line: str, below: str, message: str) -> None:
    text = BRANCH.replace(f"{below}\n", f"{below}\n{' ' if below.startswith('class class') else ''}{line}\n")
    assert text != BRANCH
    findings = imported(text).findings
    assert any(message in f.message and f.code == "import-not-expressed" for f in findings)


def test_a_line_that_is_not_understood_is_told_with_its_number() -> None:
    text = BRANCH + "interface Serial0/1\n priority-group 4\n"
    (finding,) = [f for f in imported(text).findings if "priority-group" in f.message]
    assert (finding.code, finding.file, finding.line) == ("import-not-expressed", "box.cfg", text.count("\n"))


def test_a_policy_that_no_interface_has_is_told() -> None:
    found = imported(BRANCH + "policy-map IDLE\n class voice\n  priority 64\n")
    assert [f.line for f in found.findings if f.variant == "unattached"] == [36]


def test_a_switch_that_only_trusts() -> None:
    found = imported(SWITCH, image="12.1EA-SI")
    assert told(found) == ["import-not-expressed: the device's cos to dscp is not as delivered"]
    (intent,) = found.intents
    words = {c.name: c for c in intent.loaded.intent.classes}
    assert set(words) == {"queue-4", "queue-2", "queue-3", "default"}
    assert words["queue-4"].treatment.priority is not None
    weights = [words[n].treatment.bandwidth for n in ("default", "queue-2", "queue-3")]
    assert [b.weight for b in weights if b] == [1, 2, 7]
    assert {(s.ports, s.trust) for s in intent.loaded.intent.apply if s.direction == "input"} == {
        (("FastEthernet0/1",), "phone"),
        (("FastEthernet0/2",), None),
        (("GigabitEthernet0/1",), "cos"),
    }


def test_boxes_whose_classes_agree_have_one_intent(tmp_path: Path) -> None:
    texts = [BRANCH.replace("hostname branch", f"hostname branch-{n}") for n in (1, 2)]
    found = import_configurations([read_configuration(t, "x.cfg") for t in texts], "made")
    assert told(found) == []
    assert [s.devices for s in found.intents[0].loaded.intent.apply] == [("branch-1",)] * 2 + [("branch-2",)] * 2
    assert [d.name for d in compiled_again(found, tmp_path)] == ["branch-1", "branch-2"]


def test_boxes_whose_classes_differ_have_intents_of_their_own(tmp_path: Path) -> None:
    other = BRANCH.replace("hostname branch", "hostname other").replace("percent 33", "percent 40")
    found = import_configurations([read_configuration(t, "x.cfg") for t in (BRANCH, other)], "made")
    assert [i.name for i in found.intents] == ["made", "made-2"]
    (split,) = [f for f in found.findings if f.code == "import-split"]
    assert "classes voice differ" in split.message
    for again, text in zip(compiled_again(found, tmp_path), (BRANCH, other), strict=True):
        held = platform("cisco_ios").parse(text.replace("bulk.data", "bulk-data"), again.name, "12.4")
        assert unlike(again.plan, held) == ()


def test_a_side_that_has_other_classes_has_an_intent_of_its_own() -> None:
    text = BRANCH.replace(" class voice\n  set dscp ef\n", " class phones\n  set dscp ef\n")
    text = text.replace("policy-map MARK-IN", "class-map match-any phones\n match ip dscp cs5\npolicy-map MARK-IN")
    found = imported(text)
    assert told(found) == []
    assert [[s.direction for s in i.loaded.intent.apply] for i in found.intents] == [["output"], ["input"]]


def test_output_classes_that_read_the_marks_of_an_input() -> None:
    text = (
        "version 12.0(5)T\nhostname car\n"
        "class-map match-any gold\n match ip precedence 5\n"
        "policy-map OUT\n class gold\n  bandwidth 300\n class class-default\n"
        "interface Serial0/0\n bandwidth 512\n service-policy output OUT\n"
        "interface Ethernet0/0\n"
        " rate-limit input access-group 101 64000 8000 8000 conform-action set-prec-transmit 5 exceed-action drop\n"
        "access-list 101 permit udp any any eq 5000\n"
    )
    (intent,) = imported(text).intents
    (gold, _) = intent.loaded.intent.classes
    assert (gold.name, gold.mark.precedence if gold.mark else None) == ("gold", 5)
    assert gold.match is not None
    assert gold.match.any[0].destination_port == ((5000, 5000),)
    assert [s.recognise_by for s in intent.loaded.intent.apply] == ["mark", "match"]
