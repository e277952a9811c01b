"""Random lines out of each box's own command tables: no crash, and what prints loads again unchanged."""

from __future__ import annotations

import random
import re

import pytest

from qoslab.patterns import Node

from .conftest import STARTUPS, BoxMaker

LINES = 400
SAMPLES = {
    "WORD": ["A", "B", "class-default"],
    "LINE": ["A", "x y"],
    "IP": ["10.0.0.1", "255.255.255.0", "0.0.0.0", "255.255.255.255"],
    "MAC": ["0000.1111.2222"],
    "PREC": ["5", "critical"],
    "IFACE": ["s0/0", "fa0/1", "gi0/1"],
    "IFTYPE": ["Serial", "Vlan"],
    "IFNUM": ["0/0", "1"],
    "PORT": ["www", "17000"],
    "FILE": ["flash:x", "flash:", "null:", "system:running-config"],
    "DSCP13": ["46", "0"],
    "HEX16": ["0x800", "17"],
    "BURST": ["4096"],
    "QUEUES": ["16", "256"],
    "VCNAME": ["A"],
    "VC": ["4/108", "33"],
    "PAYLOAD": ["0", '"96, 100-105"'],
    "HEXBYTE": ["42"],
    "DSCPNUM": ["46", "af11"],
    "PRECNAME": ["5", "critical"],
    "TOS": ["4", "min-delay"],
}


def _line(node: Node, rng: random.Random) -> str:
    """A random way through an automaton."""
    words: list[str] = []
    while len(words) < 25:
        ways = [*node.edges, *node.free]
        if not ways or (node.accepts is not None and rng.random() < 0.6):
            break
        way = rng.choice(ways)
        if isinstance(way, Node):
            node = way
            continue
        if way.word is not None:
            words.append(way.word)
        elif way.kind is not None:
            limits = re.match(r"<(\d+)-(\d+)>", way.kind.name)
            ends = [limits[1], limits[2]] if limits else SAMPLES.get(way.kind.name, ["ef"])
            words.append(rng.choice(ends))
        node = way.target
    return " ".join(words)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("image", list(STARTUPS))
def test_random_lines(make: BoxMaker, image: str, seed: int) -> None:
    rng = random.Random(seed)
    box = make(image)
    shell = box.new_shell("u")
    for _ in range(LINES):
        if not shell.configuring:
            shell.feed("configure terminal")
        mode = rng.choice(shell.levels).mode if rng.random() < 0.7 else shell.mode
        reply = shell.feed(_line(mode.grammar._start, rng))
        for _ in range(4):
            if reply.ask is None:
                break
            # "no" everywhere: a box outside an event loop cannot be told to reload later.
            reply = reply.ask.answer("n")
        if reply.close:
            shell = box.new_shell("u")
    text = box.running_text()
    fresh = make(image, text)
    fresh.ports = box.ports
    fresh.boot()
    assert fresh.boot_messages == []
    assert fresh.running_text() == text
