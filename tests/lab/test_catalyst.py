"""The two Catalyst families: tables, refusals, canonical print, and what their data planes do."""

from __future__ import annotations

import pytest

from qoslab.errors import BoxError
from qoslab.packets import Packets

from .conftest import BoxMaker, show, type_lines

WRR = ["wrr-queue bandwidth 5 25 70 0", "wrr-queue cos-map 4 5"]
VOICE = Packets(count=10, bytes=200, dscp=34, cos=5)


@pytest.mark.parametrize(
    "line",
    ["mls qos map cos-dscp 0 8 16 24 33 40 48 56", "wrr-queue bandwidth 0 1 1 1", "wrr-queue bandwidth 1 1 1 256",
     "wrr-queue cos-map 5 1", "mls qos map dscp-cos 20 to 2", "ppp multilink"],
)  # fmt: skip
def test_2950_refuses(make: BoxMaker, line: str) -> None:
    assert "% Invalid input" in type_lines(make("2950"), line)[1][0]


def test_2950_standard_image_has_no_class_maps(make: BoxMaker) -> None:
    assert "% Invalid input" in type_lines(make("2950", enhanced=False), "class-map X")[1][0]
    assert type_lines(make("2950", enhanced=False), *WRR)[1] == []


def test_2950_prints_only_what_differs(make: BoxMaker) -> None:
    box = make("2950")
    before = box.running_text()
    type_lines(box, *WRR, "mls qos map dscp-cos 34 to 5", "mls qos map cos-dscp 0 8 16 24 34 46 48 56")
    text = box.running_text()
    for line in ("wrr-queue cos-map 3 4", "wrr-queue cos-map 4 5 6 7", "mls qos map dscp-cos 34 to 5"):
        assert f"{line}\n" in text
    assert "Bandwidth  :   5  25  70   0" in show(box, "show wrr-queue bandwidth")
    assert make("2950", text).running_text() == text
    type_lines(box, "no wrr-queue bandwidth", "no wrr-queue cos-map", "no mls qos map dscp-cos",
               "no mls qos map cos-dscp")  # fmt: skip
    assert box.running_text() == before
    assert show(box, "show wrr-queue bandwidth") == "wrr-queue bandwidth is disabled"


def _one(box: object, packets: Packets, into: str = "fa0/1", out: str = "fa0/2") -> tuple[int, int, str, str]:
    (outcome,) = box.offer(into, out, [packets], 0)  # type: ignore[attr-defined]
    return outcome.dscp_out, outcome.cos_out, outcome.queue, outcome.egress_class


def test_2950_trust_and_maps_decide(make: BoxMaker) -> None:
    box = make("2950")
    # Untrusted: CoS 0 "without modifying the packets" (78-11380-10, p. 30-25).
    assert _one(box, VOICE) == (34, 0, "queue 1", "strict")
    type_lines(box, *WRR, "interface fa0/1", "mls qos trust cos")
    assert _one(box, VOICE) == (40, 5, "queue 4", "expedite")  # the default map rewrites 34
    type_lines(box, "mls qos map cos-dscp 0 8 16 24 32 34 48 56")
    assert _one(box, VOICE) == (34, 5, "queue 4", "expedite")
    type_lines(box, "interface fa0/1", "mls qos trust dscp")
    assert _one(box, VOICE) == (34, 4, "queue 3", "weight 70")  # DSCP 34 is CoS 4 by default
    # DSCP 50 is none of the thirteen: CoS 0 (OL-10102-01, p. 2-215).
    assert _one(box, Packets(1, 64, dscp=50, cos=6)) == (50, 0, "queue 1", "weight 5")
    type_lines(box, "interface fa0/1", "mls qos trust cos pass-through dscp")
    assert _one(box, Packets(1, 64, dscp=46, cos=5))[0] == 46
    assert _one(box, VOICE, "fa0/2", "fa0/1")[1] == 0  # an access port carries no tag


def test_2950_policy_marks_and_polices(make: BoxMaker) -> None:
    box = make("2950")
    _, answers = type_lines(
        box, "access-list 101 permit udp any any eq 16384", "class-map RTP", "match access-group 101",
        "policy-map IN", "class RTP", "set ip dscp 34", "police 1000000 4096 exceed-action dscp 8",
        "interface fa0/1", "service-policy input IN",
    )  # fmt: skip
    assert answers == []
    rtp = Packets(1000, 200, dst_port=16384)
    outcomes = box.offer("fa0/1", "fa0/2", [rtp, Packets(5, 64, dscp=46, protocol=6)], 1.0)
    assert [(one.dscp_in, one.count, one.ingress_class) for one in outcomes] == [
        (34, 645, "RTP"), (8, 355, "RTP"), (46, 5, ""),  # what no class takes has no QoS processing
    ]  # fmt: skip
    assert outcomes[2].queue == "queue 1"


@pytest.mark.parametrize("police", ["police 1500000 4096", "police 200000000 4096", "police 1000000 131072"])
def test_2950_port_limits_of_a_policer(make: BoxMaker, police: str) -> None:
    _, answers = type_lines(make("2950"), "class-map C", "match ip dscp 0", "policy-map P", "class C", police,
                            "interface fa0/1", "service-policy input P")  # fmt: skip
    assert answers[0].startswith("%Error")


def test_2970_refuses(make: BoxMaker) -> None:
    box = make("2970")
    _, answers = type_lines(
        box, "mls qos queue-set output 1 buffers 25 25 25 26",
        "mls qos srr-queue output dscp-map queue 5 threshold 1 1", "interface gi0/1",
        "srr-queue bandwidth limit 95",
        "srr-queue bandwidth share 0 1 1 1", "service-policy output X",
    )  # fmt: skip
    assert answers[0] == "%Error: total buffer allocation must be 100%"
    assert len(answers) == 5
    assert all("% Invalid input" in answer for answer in answers[1:])
    assert type_lines(box, "class-map C", "match ip dscp 1", "match ip dscp 2")[1] != []


SRR = ["mls qos", "mls qos map cos-dscp 0 8 16 24 32 34 48 56", "mls qos map dscp-cos 34 to 5",
       "mls qos srr-queue output dscp-map queue 1 threshold 3 34 46",
       "mls qos srr-queue output cos-map queue 1 threshold 3 5",
       "mls qos queue-set output 1 threshold 1 138 138 92 138", "mls qos queue-set output 1 buffers 10 10 26 54",
       "interface gi0/1", "mls qos trust dscp", "interface gi0/2", "srr-queue bandwidth share 10 10 60 20",
       "srr-queue bandwidth shape 0 0 0 0", "priority-queue out"]  # fmt: skip


def test_2970_round_trip_and_undo(make: BoxMaker) -> None:
    box = make("2970")
    before = box.running_text()
    assert type_lines(box, *SRR)[1] == []
    text = box.running_text()
    for line in SRR:
        assert line in {one.strip() for one in text.replace("GigabitEthernet", "gi").splitlines()}
    assert make("2970", text).running_text() == text
    undo = ["no mls qos", "no mls qos map cos-dscp", "no mls qos map dscp-cos",
            "no mls qos srr-queue output dscp-map", "no mls qos srr-queue output cos-map",
            "no mls qos queue-set output 1 threshold 1",
            "no mls qos queue-set output 1 buffers", "interface gi0/1", "no mls qos trust", "interface gi0/2",
            "no srr-queue bandwidth share", "no srr-queue bandwidth shape", "no priority-queue out"]  # fmt: skip
    assert type_lines(box, *undo)[1] == []
    assert box.running_text() == before


def test_2970_data_plane(make: BoxMaker) -> None:
    box = make("2970")
    ports = ("gi0/1", "gi0/2")
    assert _one(box, VOICE, *ports) == (34, 5, "fifo", "")  # mls qos off: untouched
    type_lines(box, "mls qos")
    assert _one(box, VOICE, *ports) == (0, 0, "queue 2 threshold 1", "shared 25")
    type_lines(box, "interface gi0/1", "mls qos trust cos")
    assert _one(box, VOICE, *ports) == (40, 5, "queue 1 threshold 1", "shaped 25")
    type_lines(box, *SRR)
    assert _one(box, VOICE, *ports) == (34, 5, "queue 1 threshold 3", "expedite")
    assert _one(box, Packets(1, 64, dscp=18), *ports) == (18, 2, "queue 3 threshold 1", "shared 60")
    statistics = show(box, "show mls qos interface gi0/2 statistics")
    assert " queue 0:           10            0           10" in statistics
    box.faults.plant("ignore_priority", {})
    assert _one(box, VOICE, *ports)[3] == "shared 10"


def test_2970_policy_takes_the_place_of_trust(make: BoxMaker) -> None:
    box = make("2970")
    type_lines(box, *SRR, "class-map C", "match ip dscp 0", "policy-map P", "class C", "set ip dscp 34",
               "interface gi0/1", "service-policy input P")  # fmt: skip
    assert "mls qos trust" not in box.running_text()
    assert _one(box, Packets(1, 64), "gi0/1", "gi0/2")[0] == 34


def test_unknown_port(make: BoxMaker) -> None:
    with pytest.raises(BoxError, match="no interface"):
        make("2970").offer("gi0/9", "gi0/1", [VOICE], 0)
