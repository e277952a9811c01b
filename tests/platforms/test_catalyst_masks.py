"""Access lists of a 2950: one mask in a policy, four on the switch, no ranges of ports, one direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge.platforms.catalyst_2950 import PLATFORM as C2950

from .catalyst_support import (
    REST,
    VOICE,
    WEB,
    a_class,
    booted,
    codes,
    delta,
    found,
    intent,
    lowered,
    rendered,
    startup,
)

ONE_MASK = a_class("a", {"protocol": "tcp", "source": "10.0.0.0/8"}, {"source": "11.0.0.0/8"}, dscp="af21")


@pytest.mark.parametrize(
    ("second", "variant", "requested"),
    [
        ({"source": "10.1.0.0/16"}, "default", "2 masks: source /8; source /16"),
        ({"protocol": "udp", "destination_port": 5060}, "default", "2 masks: source /8; destination port"),
        ({"protocol": "tcp"}, "mixed", "2 masks: source /8; permit tcp any any"),
    ],
)
def test_lists_of_a_2950_that_need_two_masks_are_an_error(
    second: dict[str, Any], variant: str, requested: str, tmp_path: Path
) -> None:
    _, one = lowered("s2950", intent(ONE_MASK, REST))
    assert not {"acl-masks-exceeded", "acl-masks-unconfirmed"} & codes(one).keys()
    loaded = intent(ONE_MASK, a_class("b", second, dscp="af31"), REST)
    request, result = lowered("s2950", loaded, startup("s2950"))
    told = found(result, "acl-masks-exceeded")
    assert (told.severity, told.variant, told.requested) == ("error", variant, requested)
    # The emulated switch refuses what was told.
    box = booted("s2950", tmp_path, startup("s2950"))
    forward, _ = delta(C2950.grammar, box.running_text(), rendered("s2950", request, result))
    assert "more than one mask" in box.configure(forward)[0]


def test_lists_of_whole_protocols_in_a_2950_are_of_one_protocol() -> None:
    tcp, udp = (a_class(p, {"protocol": p}, dscp=d) for p, d in (("tcp", "af21"), ("udp", "af31")))
    _, alone = lowered("s2950", intent(tcp, REST))
    assert "acl-masks-exceeded" not in codes(alone)
    _, both = lowered("s2950", intent(tcp, udp, REST))
    told = found(both, "acl-masks-exceeded")
    assert (told.variant, told.requested) == ("system", "2 masks: permit tcp any any; permit udp any any")


def test_classes_by_dscp_beside_lists_of_a_2950_are_a_doubt() -> None:
    marked = a_class("b", {"dscp": ["af31"]}, dscp="af31")
    _, result = lowered("s2950", intent(ONE_MASK, marked, REST))
    assert found(result, "acl-masks-unconfirmed").severity == "warning"
    _, alone = lowered("s2950", intent(marked, REST))
    assert "acl-masks-unconfirmed" not in codes(alone)


FILTERS = (
    "permit tcp any any eq 80",
    "deny tcp any eq 80 any",
    "permit ip 10.0.0.0 0.0.0.255 host 10.1.1.1",
    "deny udp any 10.0.0.0 0.0.255.255 range 1 9",
)


@pytest.mark.parametrize("filters", [3, 4])
def test_masks_of_filters_are_counted_on_a_2950(filters: int, tmp_path: Path) -> None:
    running = startup("s2950").replace("!\nend\n", "")
    for number, entry in enumerate(FILTERS[:filters], start=1):
        running += f"access-list 10{number} {entry}\naccess-list 10{number} permit ip any any\n"
        running += f"interface FastEthernet0/1{number}\n ip access-group 10{number} in\n"
    box = booted("s2950", tmp_path, running)
    request, result = lowered("s2950", intent(ONE_MASK, REST), box.running_text())
    forward, _ = delta(C2950.grammar, box.running_text(), rendered("s2950", request, result))
    refused = box.configure(forward)
    if filters == 3:
        assert "acl-masks-exceeded" not in codes(result)
        assert refused == []
        return
    told = found(result, "acl-masks-exceeded")
    assert (told.severity, told.variant, told.applied) == ("error", "switch", "4 masks")
    assert told.requested == (
        "5 masks: source /8; destination /16 + destination port; destination port; "
        "source /24 + destination /32; source port"
    )
    assert "no mask left" in refused[0]


def test_a_2950_writes_short_ranges_out_and_refuses_others(tmp_path: Path) -> None:
    short = a_class("a", {"protocol": "udp", "destination_port": "5060-5067"}, dscp="af31")
    request, result = lowered("s2950", intent(short, REST), startup("s2950"))
    assert "acl-range-unsupported" not in codes(result)
    text = rendered("s2950", request, result)
    assert text.count(" permit udp any any eq ") == 8
    assert "range" not in text
    _, result = lowered("s2950", intent(VOICE, REST))
    told = found(result, "acl-range-unsupported")
    assert (told.severity, told.traffic_class, told.requested) == ("error", "voice-video", "ports 16384 to 32767")
    assert "trust" in (told.hint or "")


def test_a_2950_matches_well_known_ports_as_destinations_and_says_so() -> None:
    request, result = lowered("s2950", intent(WEB, REST))
    told = found(result, "acl-one-direction")
    assert (told.severity, told.requested) == ("warning", "ports 80, 20-21")
    lines = [line for line in rendered("s2950", request, result).splitlines() if line.startswith(" permit")]
    assert lines == [f" permit tcp any any eq {port}" for port in ("www", "ftp-data", "ftp")]
    assert "acl-masks-exceeded" not in codes(result)


def test_lists_of_a_2950_know_three_protocols() -> None:
    tunnels = a_class("a", {"protocol": "gre", "destination": "10.0.0.0/8"}, dscp="af31")
    _, result = lowered("s2950", intent(tunnels, REST))
    told = found(result, "match-unsupported")
    assert (told.severity, told.requested) == ("error", "protocol 47")
    assert told.message.endswith("ip, tcp, udp alone")


def test_a_filter_with_an_address_that_is_none_has_no_mask_that_is_known() -> None:
    text = """\
interface FastEthernet0/1
 ip access-group IN in
ip access-list extended IN
 permit ip 10.0.0.0 0.0.0.999 any
 permit tcp 10.0.0.0 0.0.255.255 any
"""
    assert C2950.parse(text, "s1", "12.1EA-EI").filter_masks == ("source /16",)
