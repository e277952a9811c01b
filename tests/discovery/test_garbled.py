"""Discoveries of devices whose answers are garbled."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import pytest

from qosforge.discovery.assemble import assemble
from qosforge.discovery.crawler import crawl
from qosforge.discovery.documents import documents
from qosforge.discovery.facts import Neighbour
from qosforge.errors import DeviceError
from qosforge.platforms.device_text import DeviceText
from tests.device_texts import said
from tests.discovery.test_readers import CDP, ERS, FTOS, INVALID, VERSION, shown


class Texts:
    """A session with one device whose answers are garbled."""

    def __init__(self, line: str, answers: Mapping[str, str], seed: int) -> None:
        self._line = line
        self._answers = answers
        self._random = random.Random(seed)

    def locate(self, neighbour: Neighbour) -> str:
        raise DeviceError(f"not {neighbour}")

    def platform(self, address: str) -> str:
        return self._line

    def run(self, address: str, command: str) -> DeviceText:
        words = re.split(r"(\s)", self._answers.get(command, INVALID))
        for _ in range(self._random.randrange(8)):
            at = self._random.randrange(len(words))
            words[at] = self._random.choice(
                ["", "-", "99999999999", words[self._random.randrange(len(words))], "\x00"]
            )
        return said("".join(words), address, "")


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("line", ["ios", "force10", "ers"])
def test_whatever_a_device_answers_a_discovery_ends_with_a_network_or_notes(line: str, seed: int) -> None:
    router = {
        "show version": VERSION.format(family="2800", image="C2800NM-X-M", version="12.4", name="X", model="2811"),
        "show running-config": "version 12.4\nhostname X\ninterface Serial0/0\n bandwidth 64\n"
        " frame-relay interface-dlci 100\ninterface FastEthernet0/0\n switchport access vlan 3\nend\n",
        "show interfaces": shown("Serial0/0", bandwidth=64, encapsulation="FRAME-RELAY")
        + "\n"
        + shown("FastEthernet0/0", bandwidth=100000, encapsulation="ARPA", speed="100Mb/s"),
        "show cdp neighbors detail": CDP.format(
            name="core", platform="X", capabilities="Router", port="Fa0/0", remote="Gi1"
        ),
    }
    session = Texts(line, {"ios": router, "force10": FTOS, "ers": ERS}[line], seed)
    found = assemble(crawl(session, ["here"], 3))
    assert found.devices or found.notes
    assert set(documents(found)) == {"hosts.yaml", "groups.yaml", "defaults.yaml", "links.yaml"}
