"""Traffic through a router's own configuration, its counters, and planted faults."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from qoslab import control
from qoslab.errors import BoxError, ChannelError
from qoslab.packets import Packets

from .conftest import BoxMaker, login, show, type_lines
from .test_session import raw

POLICY = [
    "ip access-list extended WEB", "permit tcp any any eq www", "permit tcp any eq www any",
    "class-map match-any VOICE", "match protocol rtp audio", "match ip dscp ef",
    "class-map match-all HTTP", "match access-group name WEB", "match not ip precedence 5",
    "policy-map WAN", "class VOICE", "set ip dscp af41", "priority percent 30", "class HTTP",
    "bandwidth percent 40", "class class-default", "random-detect",
    "interface Serial0/0", "service-policy output WAN",
]  # fmt: skip
RTP = Packets(100, 200, application="rtp-audio")
WEB = Packets(50, 1500, protocol=6, src_port=80, dscp=18)


def test_classes_are_the_boxs_own(make: BoxMaker) -> None:
    box = make("12.4")
    assert type_lines(box, *POLICY)[1] == []
    odd = Packets(7, 100, protocol=6, dst_port=80, dscp=40)
    outcomes = box.offer("fa0/0", "s0/0", [RTP, WEB, odd], 0)
    assert [(one.egress_class, one.queue, one.dscp_out) for one in outcomes] == [
        ("VOICE", "priority", 34), ("HTTP", "class HTTP", 18), ("class-default", "default", 40),
    ]  # fmt: skip
    text = show(box, "show policy-map interface Serial0/0 output")
    assert "Service-policy output: WAN" in text
    assert re.search(r"Class-map: VOICE \(match-any\)\n\s+100 packets, 20000 bytes", text)
    assert re.search(r"Bandwidth 40 \(%\)\n\s+Bandwidth 800 \(kbps\)Max Threshold 64 \(packets\)\n"
                     r"\s+\(pkts matched/bytes matched\) 50/75000", text)  # fmt: skip
    assert show(box, "show policy-map interface Serial0/0 input") == ""


def test_nbar_needs_cef(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, *POLICY, "no ip cef")
    assert box.offer("fa0/0", "s0/0", [RTP], 0)[0].egress_class == "class-default"


@pytest.mark.parametrize(
    ("word", "packets"),
    [
        ("ospf", Packets(1, 100, protocol=89)),
        ("icmp", Packets(1, 100, protocol=1)),
        ("rip", Packets(1, 100, protocol=17, dst_port=520)),
    ],
)
def test_nbar_tells_some_protocols_by_their_headers(make: BoxMaker, word: str, packets: Packets) -> None:
    box = make("12.4")
    policy = ("class-map C", f"match protocol {word}", "policy-map P", "class C", "bandwidth 100")
    type_lines(box, "ip cef", *policy, "interface s0/0", "service-policy output P")
    other = Packets(1, 100, protocol=6, dst_port=520)
    assert [one.egress_class for one in box.offer("fa0/0", "s0/0", [packets, other], 0)] == ["C", "class-default"]


def test_no_policy_is_wfq_on_serial(make: BoxMaker) -> None:
    box = make("12.2")
    assert box.offer("fa0/0", "s0/0", [RTP], 0)[0].queue == "weighted fair"
    assert box.offer("s0/0", "fa0/0", [RTP], 0)[0].queue == "fifo"
    type_lines(box, "interface s0/0", "shutdown")
    with pytest.raises(BoxError, match="shut down"):
        box.offer("fa0/0", "s0/0", [RTP], 0)


def test_policing_splits_a_group(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, "class-map ANY", "match any", "policy-map IN", "class ANY",
               "police 8000 1500 conform-action set-dscp-transmit af11 exceed-action drop",
               "interface fa0/0", "service-policy input IN")  # fmt: skip
    good, bad = box.offer("fa0/0", "s0/0", [Packets(100, 100)], 1.0)
    assert (good.count, good.dscp_in, good.dropped_in) == (25, 10, 0)
    assert (bad.count, bad.dropped_in) == (75, 75)
    assert "exceeded 75 packets, 7500 bytes" in show(box, "show policy-map interface fa0/0")


def test_hierarchy(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, *POLICY[:-2], "policy-map TOP", "class class-default", "shape average 1000000",
               "service-policy WAN", "interface s0/0", "service-policy output TOP")  # fmt: skip
    outcome = box.offer("fa0/0", "s0/0", [RTP], 0)[0]
    assert (outcome.egress_class, outcome.queue) == ("class-default/VOICE", "priority")


@pytest.mark.parametrize("packets", [{"count": 1}, {"count": -1, "bytes": 1}, {"count": 1, "bytes": 1, "dscp": 64},
                                     {"count": 1, "bytes": 1, "colour": 1}])  # fmt: skip
def test_bad_offers_are_refused(lab: Path, packets: dict[str, object]) -> None:
    with pytest.raises(ChannelError, match="packets"):
        control.offer(lab, "r1", "fa0/0", "s0/0", [packets])


def test_offer_through_the_channel(lab: Path) -> None:
    (outcome,) = control.offer(lab, "r1", "fa0/0", "s0/0", [{"count": 5, "bytes": 100, "dscp": 46}], seconds=1)
    assert (outcome["group"], outcome["count"], outcome["dscp_out"]) == (0, 5, 46)
    for bad in ({"op": "dance"}, {"op": "offer", "box": "r9"}, {"op": "fault", "box": "r1", "kind": "no"}):
        with pytest.raises(ChannelError):
            control.request(lab, bad)


# -- faults ----------------------------------------------------------------------------------------------
def test_drop_replace_and_refuse(lab: Path) -> None:
    control.plant(lab, "r1", "drop_line", pattern="^tx-ring-limit")
    control.plant(lab, "r1", "replace_line", pattern=r"^description (.*)", text=r"description not \1")
    control.plant(lab, "r1", "refuse", pattern="bandwidth 7", text="% No, thank you")
    with login(lab, "r1") as connection:
        lines = ["interface Serial0/0", "tx-ring-limit 3", "description mine", "bandwidth 7"]
        out = connection.send_config_set(lines)
        text = connection.send_command("show running-config interface Serial0/0")
        connection.send_config_set(["interface Serial0/0", "no description"])
    assert "% No, thank you" in out
    assert out.count("%") == 1
    assert "tx-ring-limit" not in text
    assert " description not mine" in text


def test_a_dropped_section_swallows_its_lines(make: BoxMaker) -> None:
    box = make("12.4")
    before = box.running_text()
    box.faults.plant("drop_line", {"pattern": "^class-map"})
    assert type_lines(box, "class-map X", "match any")[1] == []
    assert box.running_text() == before


def test_ignored_priority_is_still_shown(make: BoxMaker) -> None:
    box = make("12.4")
    type_lines(box, *POLICY)
    box.faults.plant("ignore_priority", {})
    assert "  priority percent 30" in box.running_text()
    assert box.offer("fa0/0", "s0/0", [RTP], 0)[0].queue == "default"


def test_slow(lab: Path) -> None:
    with login(lab, "r1") as connection:
        control.plant(lab, "r1", "slow", seconds=0.3)
        start = time.monotonic()
        connection.send_command("show privilege", auto_find_prompt=False, expect_string="R1#")
        assert time.monotonic() - start >= 0.3
        control.plant(lab, "r1", "clear")


def test_disconnect_after_some_lines(lab: Path) -> None:
    made = raw(lab, "r1")
    control.plant(lab, "r1", "disconnect", mode="configuration", lines=2)
    made.ask("configure terminal\r", r"\(config\)#")
    made.ask("interface Serial0/0\r", r"\(config-if\)#")
    made.ask("description one\r", r"\(config-if\)#")
    with pytest.raises(AssertionError, match="closed"):
        made.ask("ip mtu 600\r", r"\(config-if\)#")
    text = str(control.request(lab, {"op": "running", "box": "r1"})["running"])
    assert " description one" in text
    assert "ip mtu" not in text
    control.configure(lab, "r1", ["interface Serial0/0", "no description"])


def test_drip_answers_a_line_without_an_end_and_no_other(lab: Path) -> None:
    control.plant(lab, "r1", "drip", pattern="^show privilege")
    with login(lab, "r1") as connection:
        assert "R1" in connection.send_command("show running-config | include hostname")
        connection.write_channel("show privilege\n")
        time.sleep(1)
        first = connection.read_channel()
        time.sleep(0.5)
        assert set(connection.read_channel()) == {"."}
        assert "#" not in first
        connection.remote_conn.close()  # Netmiko's own way out asks for a prompt


@pytest.mark.parametrize(("kind", "args"), [("drop_line", {}), ("drop_line", {"pattern": "("}), ("nope", {}),
                                            ("drip", {}), ("slow", {"seconds": "x"})])  # fmt: skip
def test_bad_faults_are_refused(make: BoxMaker, kind: str, args: dict[str, object]) -> None:
    with pytest.raises(BoxError):
        make("12.4").faults.plant(kind, args)
