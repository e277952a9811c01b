"""The Catalysts' show commands."""

from __future__ import annotations

import pytest

from .conftest import BoxMaker, show, type_lines

POLICY = ["class-map WEB", "match ip dscp 10", "class-map VOICE", "match ip dscp 46", "policy-map IN", "class WEB",
          "set ip dscp 18", "police 1000000 8192 exceed-action drop", "class VOICE", "set ip dscp 46",
          "interface {}", "service-policy input IN"]  # fmt: skip


@pytest.mark.parametrize(
    ("image", "port", "mark"), [("2950", "fa0/1", "ip dscp 18"), ("2970", "gi0/1", "dscp af21")]
)
def test_class_maps_and_policy_maps(make: BoxMaker, image: str, port: str, mark: str) -> None:
    box = make(image)
    assert type_lines(box, *(line.format(port) for line in POLICY))[1] == []
    value = "10" if image == "2950" else "af11"
    assert show(box, "show class-map WEB") == f" Class Map match-all WEB (id 1)\n   Match ip dscp {value}\n"
    assert show(box, "show class-map").count("Class Map") == 2
    web = f"    Class WEB\n      set {mark}\n      police 1000000 8192 exceed-action drop\n"
    assert show(box, "show policy-map IN class WEB") == f"  Policy Map IN\n{web}"
    assert "    Class VOICE" in show(box, "show policy-map")
    assert show(box, "show policy-map NONE") == ""
    policers = show(box, f"show mls qos interface {port} policers")
    assert "policymap=IN" in policers
    assert "police 1000000 8192 exceed-action drop" in policers
    assert "VOICE" not in policers


@pytest.mark.parametrize("image", ["2950", "2970"])
def test_switch_ports(make: BoxMaker, image: str) -> None:
    box = make(image)
    type_lines(box, "interface fa0/1", "switchport access vlan 3", "switchport voice vlan 12",
               "switchport priority extend trust", "interface Vlan1")  # fmt: skip
    text = show(box, "show interfaces fa0/1 switchport")
    assert text.startswith("Name: Fa0/1\nSwitchport: Enabled\nAdministrative Mode: static access\n")
    assert "Access Mode VLAN: 3\n" in text
    assert "Voice VLAN: 12\n" in text
    assert "Appliance trust: trust\n" in text
    assert "Administrative Mode: trunk" in show(box, "show interfaces fa0/2 switchport")
    assert show(box, "show interfaces switchport").count("Name: ") == 4
    assert "% Invalid input" in show(box, "show interfaces fa0/9 switchport")
    assert "% Invalid input" in show(box, "show mls qos interface Vlan1")


def test_2950_port_report_follows_the_port(make: BoxMaker) -> None:
    box = make("2950")
    type_lines(box, "interface fa0/1", "mls qos trust cos pass-through dscp", "mls qos cos 5",
               "mls qos trust device cisco-phone", "interface fa0/2", "mls qos cos override")  # fmt: skip
    assert show(box, "show mls qos interface fastethernet 0/1") == (
        "FastEthernet0/1\ntrust state: trust cos\ntrust mode: trust cos\nCOS override: dis\ndefault COS: 5\n"
        "pass-through: dscp\ntrust device: cisco-phone\n"
    )
    assert "not trusted" in show(box, "show mls qos interface fa0/2")
    assert "COS override: ena" in show(box, "show mls qos interface fa0/2")


def test_2970_reports(make: BoxMaker) -> None:
    box = make("2970")
    assert show(box, "show mls qos").startswith("QoS is disabled\nQoS ip packet dscp rewrite is enabled")
    assert show(box, "show mls qos interface gi0/1 queueing") == (
        "GigabitEthernet0/1\nEgress Priority Queue : disabled\nShaped queue weights (absolute) :  25 0 0 0\n"
        "Shared queue weights  :  25 25 25 25\nThe port bandwidth limit : 100  (Operational Bandwidth:100.0)\n"
        "The port is mapped to qset : 1\n"
    )
    assert "reserved  :      50     100      50     100" in show(box, "show mls qos queue-set 1")
    type_lines(box, "mls qos", "no mls qos rewrite ip dscp", "mls qos map dscp-mutation CORE 10 12 to 18",
               "mls qos aggregate-policer G 1000000 8000 exceed-action drop",
               "mls qos srr-queue input buffers 60 40",
               "mls qos srr-queue input threshold 1 80 90", "mls qos srr-queue input priority-queue 1 bandwidth 30",
               "interface gi0/1", "mls qos trust dscp", "mls qos dscp-mutation CORE", "queue-set 2")  # fmt: skip
    assert show(box, "show mls qos").startswith("QoS is enabled\nQoS ip packet dscp rewrite is disabled")
    assert "DSCP Mutation Map: CORE\n" in show(box, "show mls qos interface gi0/1")
    assert "qos mode: port-based" in show(box, "show mls qos interface gi0/1")
    assert show(box, "show mls qos interface gi0/1 buffers").endswith("The port is mapped to qset : 2\n")
    assert show(box, "show mls qos aggregate-policer G") == "aggregate-policer G 1000000 8000 exceed-action drop"
    assert show(box, "show mls qos aggregate-policer H") == ""
    table = show(box, "show mls qos maps dscp-mutation CORE").splitlines()
    assert table[0] == "   CORE:"
    assert table[5] == "      1 :    18 11 18 13 14 15 16 17 18 19 "
    assert show(box, "show mls qos input-queue").splitlines()[2:] == [
        "buffers   :      60      40", "bandwidth :       4       4", "priority  :      30       0",
        "threshold1:      80     100", "threshold2:      90     100",
    ]  # fmt: skip


def test_maps_print_as_published(make: BoxMaker) -> None:
    lines = show(make("2970"), "show mls qos maps dscp-output-q").splitlines()
    assert lines[1] == "     d1 :d2    0     1     2     3     4     5     6     7     8     9 "
    assert lines[2] == "     " + "-" * 60
    assert lines[4] == "      1 :    " + "02-01 " * 6 + "03-01 " * 4
    assert lines[-1].rstrip() == "      6 :    04-01 04-01 04-01 04-01"
    assert show(make("2970"), "show mls qos maps cos-output-q").splitlines() == [
        "   Cos-outputq-threshold map:",
        "              cos:  0   1   2   3   4   5   6   7  ",
        "              ------------------------------------",
        "  queue-threshold: 2-1 2-1 3-1 3-1 4-1 1-1 4-1 4-1 ",
    ]
    for image in ("2950", "2970"):
        box = make(image)
        type_lines(box, "mls qos map cos-dscp 0 8 16 24 34 46 48 56")
        assert show(box, "show mls qos maps cos-dscp").splitlines() == [
            "   Cos-dscp map:",
            "        cos:   0  1  2  3  4  5  6  7",
            "     --------------------------------",
            "       dscp:   0  8 16 24 34 46 48 56",
        ]
