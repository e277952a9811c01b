"""Random lines out of both boxes' own command tables: no crash, and what prints loads again unchanged."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.patterns import Node
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

LINES = 1500
STARTUPS = {
    "nortel_5510": """\
enable
configure terminal
qos if-group name a class trusted
qos ip-element 1 protocol 17
qos classifier 1 set-id 1 name a element-type ip element-id 1
qos ip-acl name a protocol 6
qos l2-acl name A priority 5
""",
    "force10_e300": """\
ip access-list extended a
 permit ip any any
mac access-list extended A
 permit any any
class-map match-any a
class-map match-any A layer2
qos-policy-input a
qos-policy-input A layer2
qos-policy-output a
wred-profile a
policy-map-input a
policy-map-input A layer2
policy-map-output a
interface GigabitEthernet 0/1
interface GigabitEthernet 0/2
 switchport
""",
}
SAMPLES = {
    "WORD": ["a", "A", "layer2"],
    "LINE": ["a", "x y", "gi 0/1 - 3"],
    "NAME": ["a", "A", "allQoSPolicyIfcs"],
    "IP": ["10.0.0.1", "255.255.255.0", "0.0.0.0"],
    "PREFIX": ["10.0.0.0/8", "10.1.2.3/32"],
    "PREFIXED": ["10.0.0.1/24"],
    "LENGTH": ["/24"],
    "ETHER": ["00:01:02:03:04:05", "ff:ff:ff:ff:ff:ff"],
    "TYPE": ["0x800"],
    "PORT": ["1", "48"],
    "PORTS": ["1", "3-4,1/48", "ALL"],
    "SLOTPORT": ["0/1", "0/2", "5/47"],
    "PORTLIST": ["0/1", "0/1-3,9"],
    "IFACE": ["gi0/1", "gi0/2", "po5"],
    "DSCPS": ["46", "0,8"],
    "PRIORITIES": ["5", "1,3"],
}
"""Sample values per argument type; few names, so that lines meet the objects of other lines."""


def _line(node: Node, rng: random.Random) -> str:
    """A random way through an automaton."""
    words: list[str] = []
    while len(words) < 40:
        ways = [*node.edges, *node.free]
        if not ways or (node.accepts is not None and rng.random() < 0.4):
            break
        way = rng.choice(ways)
        if isinstance(way, Node):
            node = way
            continue
        if way.word is not None:
            words.append(way.word)
        elif way.kind is not None:
            limits = re.match(r"<(\d+)-(\d+)>", way.kind.name)
            if limits:
                low, high = int(limits[1]), int(limits[2])
                words.append(str(rng.choice([low, high, min(low + 1, high), rng.randint(low, min(high, low + 9))])))
            else:
                words.append(rng.choice(SAMPLES[way.kind.name]))
        node = way.target
    return " ".join(words)


def _boot(folder: Path, platform: str, startup: str) -> Box:
    spec = BoxSpec(name="box", platform=platform, username="u", password="p")
    made = make_box(spec, Storage(folder, startup), Clock())
    made.boot()
    assert made.boot_messages == []
    return made


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("platform", list(STARTUPS))
def test_random_lines(tmp_path: Path, platform: str, seed: int) -> None:
    rng = random.Random(seed)
    box = _boot(tmp_path / "box", platform, STARTUPS[platform])
    shell = box.new_shell("u")
    shell.length = 0
    taken = 0
    for _ in range(LINES):
        if not shell.configuring:
            shell.feed("configure terminal")
        mode = shell.mode if rng.random() < 0.5 else rng.choice(list(box.modes.values()))
        line = _line(mode.grammar._start, rng)
        if "qos agent reset-default" in line:
            continue
        before = box.running_text()
        reply = shell.feed(line)
        taken += before != box.running_text()
        if reply.ask is not None:
            reply = reply.ask.answer("n")
        if reply.close:
            shell = box.new_shell("u")
    assert taken > LINES / 30
    text = box.running_text()
    again = _boot(tmp_path / "again", platform, text)
    assert again.running_text() == text
