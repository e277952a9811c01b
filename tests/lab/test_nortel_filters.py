"""The 5510's elements, access-lists and port resources: syntax, refusals, listing, what packets meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from qoslab.boxes.nortel_5510 import Nortel5510
from qoslab.packets import Outcome, Packets

from .test_nortel_box import boot, said, shown

HOST = """\
qos ip-acl name host src-ip 172.1.1.10/32 protocol 6 src-port-min 21 src-port-max 21 update-dscp 18 block tcpcommon
qos ip-acl name host src-ip 172.1.1.11/32 protocol 6 src-port-min 80 src-port-max 80 update-dscp 26 block tcpcommon
qos ip-acl name host drop-action disable
qos acl-assign port 1/19 acl-type ip name host
"""

GROUP = "qos if-group name wild class unrestricted\nqos if-assign port 5-6 name wild\n"


@pytest.fixture
def box(tmp_path: Path) -> Nortel5510:
    return boot(tmp_path / "sw")


def one(box: Nortel5510, into: str, **fields: object) -> Outcome:
    packets = Packets(**{"count": 100, "bytes": 500, **fields})  # type: ignore[arg-type]
    return box.offer(into, "48", [packets], 1.0)[0]


def qos(box: Nortel5510) -> list[str]:
    """The lines of the QoS section that the box was not born with."""
    return [line for line in box.running_text().split("! *** QOS ***\n!\n")[1].splitlines() if "agent" not in line]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("qos ip-element 4 add ipv6 src-ip 2001:db8::1/64 flow 77 next 17 ds-f 46",
         "qos ip-element 4 addr-type ipv6 src-ip 2001:db8::/64 ds-field 46 flow-id 77 next-header 17"),
        ("qos ip-element 4 dst-ip 10.1.2.3/24 name x src-port-min 0 src-port-max 1023",
         "qos ip-element 4 name x addr-type ipv4 dst-ip 10.1.2.0/24 src-port-min 0 src-port-max 1023"),
        ("qos l2-element 4 src-mac 00-00-0A-00-00-00 src-mac-mask ff:ff:ff:ff:ff:00 ethertype 0x86dd priority all",
         "qos l2-element 4 src-mac 00:00:0a:00:00:00 src-mac-mask ff:ff:ff:ff:ff:00 ethertype 0x86DD"),
        ("qos l2-element 4 vlan-min 16 vlan-max 31 vlan-tag tagged dst-mac 01:00:5e:00:00:01 priority 5",
         ("qos l2-element 4 dst-mac 01:00:5e:00:00:01 dst-mac-mask ff:ff:ff:ff:ff:ff vlan-min 16 vlan-max 31"
          " vlan-tag tagged priority 5")),
        ("qos ip-acl name a ds-field 46 drop enable set-drop-prec high-drop",
         "qos ip-acl name a addr-type ipv4 ds-field 46 drop-action enable set-drop-prec high-drop"),
        ("qos l2-acl name a vlan-min 8 vlan-max 8 update-1p 3 update-dscp 24 block b",
         "qos l2-acl name a vlan-min 8 vlan-max 8 update-dscp 24 update-1p 3 block b"),
    ],
)  # fmt: skip
def test_lines_are_kept_in_one_form(box: Nortel5510, tmp_path: Path, typed: str, kept: str) -> None:
    assert said(box, typed) == []
    assert qos(box) == [kept]
    again = boot(tmp_path / "again", box.running_text())
    assert again.boot_messages == []
    assert qos(again) == [kept]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("qos ip-element 9 flow-id 1", "flow-id does not apply to address type ipv4"),
        ("qos ip-element 9 addr-type ipv6 protocol 6", "protocol does not apply to address type ipv6"),
        ("qos ip-element 9 addr-type ipv6 src-ip 10.0.0.0/8", "does not fit address type ipv6"),
        ("qos ip-acl name host protocol 17", "Access list is assigned to a port"),
        ("no qos ip-acl 1", "Access list is assigned to a port"),
        ("no qos ip-acl 9", "entry 9 does not exist"),
        ("no qos l2-acl 1", "entry 1 does not exist"),
        ("qos ip-acl name n dst-port-min 1 dst-port-max 4", "cannot be expressed by one mask"),
        ("qos ip-acl name a-name-of-17-char", "Name must not exceed 16 characters"),
        ("qos acl-assign port 1 acl-type l2 name host", "Access list host does not exist"),
        ("qos acl-assign port 19-20 acl-type ip name host", "already assigned"),
        ("no qos acl-assign 2 port 19", "assignment 2 does not exist"),
        ("no qos acl-assign 1 port 19-20", "is not assigned to port 19-20"),
        ("qos acl-assign 3 disable", "assignment 3 does not exist"),
        ("qos action 20 action-ext 1", "Action extension 1 does not exist"),
        (("qos meter 1 committed-rate 8000 max-burst-rate 16000 in-profile-action 4"
          " out-profile-action-name Gold_Service"), "Action 5 cannot be an out-of-profile action"),
    ],
)  # fmt: skip
def test_refusals_change_nothing(box: Nortel5510, line: str, reason: str) -> None:
    assert said(box, HOST) == []
    before = box.running_text()
    answer = "\n".join(said(box, line))
    assert answer.startswith("% Cannot modify settings\n% ")
    assert reason in answer
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("qos ip-acl protocol 6", "% Incomplete command."),
        ("qos l2-element 4 src-mac-mask ff:ff:ff:ff:ff:00", "% Incomplete command."),
        ("qos ip-element 4 ds-field 64", "% Invalid input detected at '^' marker."),
        ("qos ip-acl name a name b", "% Invalid input detected at '^' marker."),
        ("qos ip-element 4 src-ip 10.0.0.0/255.0.0.0", "% Invalid input detected at '^' marker."),
        ("qos traffic-profile classifier name a", "% Invalid input detected at '^' marker."),
        ("qos meter 1 committed-rate 8000 burst-size 4 in-profile-action 4 out-profile-action 1",
         "% Invalid input detected at '^' marker."),
    ],
)  # fmt: skip
def test_lines_that_software_5_1_does_not_know(box: Nortel5510, line: str, answer: str) -> None:
    assert said(box, line)[0].split("\n")[-1] == answer


def test_an_access_list_marks_and_drops_the_rest(box: Nortel5510) -> None:
    said(box, "qos if-group name wild class unrestricted\nqos if-assign port 19 name wild")
    assert said(box, HOST) == []
    tcp = {"protocol": 6, "src": "172.1.1.10", "src_port": 21}
    assert one(box, "19", **tcp).dscp_out == 18
    assert one(box, "19", **tcp).ingress_class == "host"
    assert one(box, "19", protocol=17, dscp=3).dscp_out == 3
    assert one(box, "20", **tcp).ingress_class == ""
    assert (
        said(box, "no qos acl-assign 1 port 19\nno qos ip-acl 3\nqos acl-assign port 19 acl-type ip name host")
        == []
    )
    assert one(box, "19", protocol=17).dropped_in == 100
    assert one(box, "19", **tcp).dropped_in == 0
    said(box, "qos acl-assign 1 disable")
    assert one(box, "19", protocol=17).dropped_in == 0


def test_access_lists_are_shown_and_boot_again(box: Nortel5510, tmp_path: Path) -> None:
    said(box, HOST + "qos acl-assign port 3-4 acl-type ip name host\nqos acl-assign 2 disable")
    assert qos(box)[-3:] == [
        "qos acl-assign port 19 acl-type ip name host",
        "qos acl-assign port 3-4 acl-type ip name host",
        "qos acl-assign 2 disable",
    ]
    again = boot(tmp_path / "again", box.running_text())
    assert again.boot_messages == []
    assert again.running_text() == box.running_text()
    assert shown(box, "show qos ip-acl").splitlines()[-1] == "3     name host addr-type ipv4 drop-action disable"
    assert shown(box, "show qos acl-assign").splitlines()[-1].split() == ["2", "host", "Disabled", "IP", "3-4"]
    undo = "no qos acl-assign 1 port 19\nno qos acl-assign 2 port 3-4\n"
    assert said(box, undo + "no qos ip-acl 3\nno qos ip-acl 2\nno qos ip-acl 1") == []
    assert qos(box) == []


def test_a_block_of_entries_shares_one_mask_and_one_precedence(box: Nortel5510) -> None:
    said(box, HOST)
    ladder = shown(box, "show qos diag").splitlines()
    assert ladder[20].split() == ["1/19", "Q", "Q"]  # the block, and the last entry
    said(box, "qos ip-acl name b ds-field 3 block x")
    assert "same mask" in said(box, "qos ip-acl name b protocol 6 block x")[0]
    assert said(box, "qos ip-acl name b ds-field 4 block x\nqos ip-acl name c protocol 6 block x") == []


def test_lists_take_at_most_eight_precedences_and_one_kind_per_port(box: Nortel5510) -> None:
    entries = "".join(f"qos ip-acl name long ds-field {dscp}\n" for dscp in range(9))
    assert said(box, entries) == []
    answer = said(box, "qos acl-assign port 7 acl-type ip name long")[0]
    assert "insufficient resources: port 7 has 8 access list precedences" in answer
    said(box, HOST + "qos l2-acl name l2 priority 5")
    assert "cannot be mixed on port 19" in said(box, "qos acl-assign port 19 acl-type l2 name l2")[0]
    assert qos(box)[-1] == "qos acl-assign port 19 acl-type ip name host"


def _policies(numbers: range, where: str, rest: str = "in-profile-action 5") -> str:
    return "".join(
        f"qos policy {n} {where} clfr-type classifier clfr-id 1 {rest} precedence {n}\n" for n in numbers
    )


CLASSIFIER = "qos ip-element 1 protocol 17\nqos classifier 1 set-id 1 element-type ip element-id 1\n"


def test_a_port_has_fifteen_precedences(box: Nortel5510) -> None:
    assert said(box, GROUP + CLASSIFIER + _policies(range(1, 15), "if-group wild")) == []
    said(box, "qos ip-acl name a\nqos ip-acl name a protocol 6")
    assert "port 5 has 15 masks" in said(box, "qos acl-assign port 5 acl-type ip name a")[0]
    assert "Precedence 3 is already in use on port 6" in said(
        box, "qos policy 40 port 6 clfr-type classifier clfr-id 1 in-profile-action 5 precedence 3"
    )[0]  # fmt: skip
    assert said(box, "qos policy 3 disable\nqos acl-assign port 5 acl-type ip name a") == []
    assert "port 5 has 15 masks" in said(box, "qos policy 3 enable")[0]
    assert "qos policy 3 disable if-group wild" in box.running_text()
    assert "port 5 has 15 masks" in said(box, "qos if-group name x class trusted\n" + _policies(
        range(15, 16), "if-group x") + "qos if-assign port 5 name wild\nqos policy 3 enable")[0]  # fmt: skip


def test_a_port_has_room_for_so_many_classifiers_and_counters(box: Nortel5510) -> None:
    lines = [GROUP]
    for n in range(1, 116):
        lines.append(f"qos ip-element {n} dst-port-min {n} dst-port-max {n}\n")
        lines.append(f"qos classifier {n} set-id {n} element-type ip element-id {n}\n")
        lines.append(f"qos classifier-block {n} block-number {1 + (n > 33)} set-id {n}\n")
    assert said(box, "".join(lines)) == []
    policy = "qos policy {} if-group wild clfr-type block clfr-id {} in-profile-action 5 precedence {}"
    assert "port 5 has 32 counters" in said(box, policy.format(1, 1, 1) + " track-statistics individual")[0]
    assert said(box, policy.format(1, 1, 1)) == []
    assert "port 5 has 114 classifiers" in said(box, policy.format(2, 2, 2))[0]
    assert "port 5 has 32 counters" in said(box, "qos agent statistics-tracking individual")[0]
    assert "statistics" not in box.running_text()
    free = shown(box, "show qos capability").splitlines()[9].split()
    assert free == ["1", "5", "14", "81", "31", "63"]


def test_resetting_qos_leaves_the_rest(box: Nortel5510, tmp_path: Path) -> None:
    said(box, HOST + "qos agent queue-set 5\nqos agent reset-default")
    bare = boot(tmp_path / "bare", 'enable\nconfigure terminal\nsnmp-server name "access"\n')
    assert qos(box) == qos(bare) == []
    assert "queue-set" not in box.running_text()
    assert "vlan create 10 name voice type port" in box.running_text()
    assert box.prompt(box.new_shell("rw")) == "access#"


def test_verbose_shows_the_defaults_and_boots_to_the_same(box: Nortel5510, tmp_path: Path) -> None:
    said(box, HOST)
    text = shown(box, "show running-config verbose")
    assert "\nqos if-group name allQoSPolicyIfcs class untrusted\n" in text
    assert text.count("qos egressmap name ") == 64
    assert text.count("qos ingressmap name ") == 8
    assert text.count("qos queue-set-assignment queue-set ") == 64
    again = boot(tmp_path / "again", text)
    assert again.boot_messages == []
    assert again.running_text() == box.running_text()


def test_a_port_does_not_join_a_group_whose_precedence_it_has_taken(box: Nortel5510) -> None:
    said(box, GROUP + CLASSIFIER + _policies(range(3, 4), "if-group wild"))
    assert said(box, "qos policy 9 port 7 clfr-type classifier clfr-id 1 in-profile-action 5 precedence 3") == []
    assert "Precedence 3 is already in use on port 7" in said(box, "qos if-assign port 7-8 name wild")[0]
    assert "qos if-assign port 5-6 name wild" in box.running_text()
    assert said(box, "no qos policy 9\nqos if-assign port 7-8 name wild") == []


BLOCK = """\
qos action 30 update-dscp 8
qos meter 2 committed-rate 8000 max-burst-rate 16000 in-profile-action 30 out-profile-action 1
qos classifier-block 1 block-number 1 name b set-id 1 meter 2
qos policy 1 name p if-group wild clfr-type block clfr-name b non-match-action-name Null_Action precedence 4
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no qos classifier-block 1", "Classifier block is referenced by a policy"),
        ("qos classifier-block 2 block-number 1 set-id 1 in-profile-action 5", "block is referenced by a policy"),
        ("no qos classifier 1", "Classifier is referenced by a classifier block"),
        ("no qos ip-element 1", "Element is referenced by a classifier"),
        ("no qos meter 2", "Meter is referenced by a policy"),
        ("no qos action 30", "Action is referenced"),
        (
            "qos policy 2 if-group wild clfr-type block clfr-id 1 in-profile-action 5 precedence 5",
            "The members of the block have their own actions",
        ),
        ("no qos if-group name wild", "Interface group is in use"),
    ],
)
def test_objects_go_in_the_order_policy_block_classifier_element(box: Nortel5510, line: str, reason: str) -> None:
    assert said(box, GROUP + CLASSIFIER + BLOCK) == []
    before = box.running_text()
    assert reason in said(box, line)[0]
    assert box.running_text() == before
    undo = "policy 1", "classifier-block 1", "meter 2", "action 30", "classifier 1", "ip-element 1"
    assert said(box, "".join(f"no qos {what}\n" for what in undo)) == []
    assert said(box, "no qos if-assign port 5-6\nno qos if-group name wild") == []
    assert qos(box) == []


def test_a_block_is_listed_after_what_it_refers_to(box: Nortel5510, tmp_path: Path) -> None:
    said(box, GROUP + CLASSIFIER + BLOCK)
    again = boot(tmp_path / "again", box.running_text())
    assert again.boot_messages == []
    assert again.running_text() == box.running_text()
    assert qos(box)[-1] == (
        "qos policy 1 name p if-group wild clfr-type block clfr-id 1 non-match-action 9 precedence 4"
    )
    inside, outside = box.offer("5", "48", [Packets(2000, 1000, protocol=17)], 1.0)
    assert (inside.dscp_out, outside.dropped_in) == (8, outside.count)
