"""Flows of IPv6 on a Catalyst 9000: access lists of both versions in one class-map."""

from __future__ import annotations

import pytest

from qosforge.findings import Severity
from qosforge.platforms.catalyst_9000 import PLATFORM
from qoslab.box import Box
from qoslab.packets import Packets
from tests.platforms.catalyst_9000_support import (
    LAN,
    REST,
    TRUNK,
    VOICE,
    WEB,
    WEB_6,
    booted,
    compilation,
    finding,
    made,
    pushed,
)

HOSTS = {"src": "2001:db8:1::9", "dst": "2001:db8:2::9"}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    """An emulated switch; every test leaves it as it found it."""
    return booted(tmp_path_factory.mktemp("sw"))


def test_an_entry_that_another_one_takes_is_not_written() -> None:
    both = {**WEB, "match": {"any": [{"application": "http"}, {"protocol": "tcp"}]}}
    text = "".join(block.text for block in made(both, REST).blocks)
    assert "ip access-list extended QOSFORGE-web\n permit tcp any any\nclass-map" in text


def test_protocol_zero_is_an_entry_of_a_list() -> None:
    zero = {**WEB, "match": {"any": [{"protocol": 0}]}}
    text = "".join(block.text for block in made(zero, REST).blocks)
    assert "ip access-list extended QOSFORGE-web\n permit 0 any any\n" in text
    assert "class-map match-any web\n match access-group name QOSFORGE-web\n" in text


def test_a_class_map_names_a_list_of_each_version() -> None:
    text = "".join(block.text for block in made(VOICE, WEB_6, REST).blocks)
    assert (
        "ipv6 access-list QOSFORGE-web.V6\n"
        " permit tcp 2001:DB8:1::/48 any eq 443 dscp af22\n"
        " permit tcp any any eq www\n"
        " permit ipv6 any host 2001:DB8::1\n"
        " permit ipv6 any host 2001:DB8::2\n"
        " permit icmp any any\n"
    ) in text
    assert " match access-group name QOSFORGE-web\n match access-group name QOSFORGE-web.V6\n" in text
    # What is told by its mark is told in both versions by one line.
    assert "class-map match-any voice.Q\n match dscp ef\n" in text


@pytest.mark.parametrize(
    ("packets", "taken"),
    [
        (Packets(1, 100, protocol=6, dst_port=443, dscp=20, **HOSTS), True),
        (Packets(1, 100, protocol=6, dst_port=80, **HOSTS), True),
        (Packets(1, 100, protocol=6, dst_port=80), True),
        (Packets(1, 100, protocol=6, dst_port=443, **HOSTS), False),
        (Packets(1, 100, protocol=6, dst_port=443, dscp=20), False),
    ],
)
def test_packets_of_both_versions_are_told(box: Box, packets: Packets, taken: bool) -> None:
    before = box.running_text()
    inverse = pushed(box, made(VOICE, WEB_6, REST, running=before))
    (out,) = box.offer(LAN, TRUNK, [packets], 1.0)
    assert out.dscp_out == (18 if taken else 0)
    assert box.configure(inverse) == []
    assert box.running_text() == before


def test_a_class_that_ipv6_does_not_reach_is_told() -> None:
    found = finding(compilation(WEB, REST), "told-in-ipv4")
    assert (found.severity, found.traffic_class) == (Severity.WARNING, "web")
    assert "features: [ipv6]" in (found.hint or "")
    assert not [f for f in compilation(VOICE, WEB_6, REST).findings if f.code == "told-in-ipv4"]


def test_a_class_that_people_wrote_for_ipv4_alone_is_read_as_one() -> None:
    text = "class-map match-any A\n match ip dscp ef\npolicy-map P\n class A\n  set dscp cs1\n"
    (port,) = PLATFORM.parse(f"{text}interface {LAN}\n service-policy input P\n", "sw", "17.12").interfaces
    assert [rule.ipv4 for rule in port.ingress.rules] == [True]
