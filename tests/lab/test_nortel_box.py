"""The 5510's grammar, refusals, listing, NVRAM and data plane, without a wire."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from qoslab.boxes import make_box
from qoslab.boxes.nortel_5510 import Nortel5510
from qoslab.boxes.nortel_5510.fields import Span
from qoslab.boxes.nortel_5510.state import bucket, port_list
from qoslab.boxes.nortel_5510.tables import AUTOSAVE_SECONDS, BUCKETS
from qoslab.clock import Clock
from qoslab.errors import BoxError
from qoslab.packets import Outcome, Packets
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

DURATIONS = (7, 13, 26, 52, 105, 210, 419, 839)
"""Milliseconds per bucket at 10 Mb/s with bursts of 15 Mb/s, as the guide's table has them."""

SHAPER = """\
interface fastEthernet all
qos if-shaper port 8 shape-rate 40000 max-burst-rate 50000 max-burst-duration 3
"""

STARTUP = """\
! Embedded ASCII Configuration Generator Script
enable
configure terminal
snmp-server name "access"
vlan create 10 name "voice" type port
interface FastEthernet ALL
name port 1 "desk"
exit
qos agent queue-set 4
"""

POLICY = """\
qos if-group name edge class trusted
qos if-group name wild class unrestricted
qos if-assign port 1-4 name edge
qos if-assign port 5 name wild
qos ip-element 1 name rtp protocol 17 dst-port-min 16384 dst-port-max 32767
qos ip-element 2 protocol 6 dst-port-min 80 dst-port-max 80
qos classifier 1 set-id 1 name voice element-type ip element-id 1
qos classifier 2 set-id 2 name web element-type ip element-id 2
qos action 10 name av drop-action disable update-dscp 34 update-1p 5
qos meter 1 committed-rate 8000 max-burst-rate 16000 max-burst-duration 66 in-profile-action 4 out-profile-action 1
qos policy 1 name "p-voice" if-group "edge" clfr-type classifier clfr-id 1 in-profile-action 10 precedence 11
qos policy 2 name p-web if-group edge clfr-type classifier clfr-name web meter 1 precedence 10
qos queue-set-assignment queue-set 4 1p 5 queue 1
"""


def boot(folder: Path, startup: str = STARTUP) -> Nortel5510:
    spec = BoxSpec(name="sw", platform="nortel_5510", username="rw", password="x")
    box = make_box(spec, Storage(folder, startup), Clock())
    assert isinstance(box, Nortel5510)
    box.boot()
    return box


def said(box: Nortel5510, lines: str) -> list[str]:
    """What a login in configuration mode is told."""
    shell = box.new_shell("rw")
    shell.enter("config", box.running)
    return [text for line in lines.splitlines() if (text := shell.feed(line).text)]


def shown(box: Nortel5510, command: str) -> str:
    return box.new_shell("rw").feed(command).text


@pytest.fixture
def box(tmp_path: Path) -> Nortel5510:
    made = boot(tmp_path / "sw")
    assert made.boot_messages == []
    assert said(made, POLICY) == []
    return made


def one(box: Nortel5510, into: str = "1", **fields: object) -> Outcome:
    packets = Packets(**{"count": 100, "bytes": 500, **fields})  # type: ignore[arg-type]
    return box.offer(into, "48", [packets], 1.0)[0]


def test_prompts(box: Nortel5510) -> None:
    shell = box.new_shell("rw")
    seen = [shell.prompt]
    for line in ("configure terminal", "interface fastEthernet all", "exit", "end", "disable"):
        shell.feed(line)
        seen.append(shell.prompt)
    assert seen == ["access#", "access(config)#", "access(config-if)#", "access(config)#", "access#", "access>"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("qos if-assign port 9 name nobody", "Interface group does not exist"),
        ("no qos if-group name edge", "Interface group is in use"),
        ("qos if-group name edge class untrusted", "Interface group already exists"),
        ("qos if-group name allQoSPolicyIfcs class trusted", "Interface group already exists"),
        ("no qos if-group name allQoSPolicyIfcs", "Interface group is in use"),
        ("no qos ip-element 1", "Element is referenced by a classifier"),
        ("qos ip-element 1 protocol 6", "Element is referenced by a classifier"),
        ("no qos ip-element 7", "Element 7 does not exist"),
        ("qos ip-element 7 dst-port-min 3001 dst-port-max 3007", "cannot be expressed by one mask"),
        ("qos l2-element 7 vlan-min 10 vlan-max 12", "cannot be expressed by one mask"),
        ("qos classifier 3 set-id 3 element-type ip element-id 9", "Element 9 does not exist"),
        ("qos classifier 3 set-id 1 element-type ip element-id 2", "Classifier is referenced by a policy"),
        ("no qos classifier 1", "Classifier is referenced by a policy"),
        ("qos classifier-block 1 block-number 1 set-id 9", "Classifier set 9 does not exist"),
        ("qos action 11 name a-name-of-17-char", "Name must not exceed 16 characters"),
        ("no qos action 10", "Action is referenced"),
        ("no qos action 11", "Action 11 does not exist"),
        ("no qos meter 1", "Meter is referenced by a policy"),
        (
            "qos meter 2 committed-rate 1500 max-burst-rate 4000 in-profile-action 4 out-profile-action 1",
            "in steps of 1000",
        ),
        (
            "qos meter 2 committed-rate 4000 max-burst-rate 4000 in-profile-action 4 out-profile-action 1",
            "max-burst-rate must exceed the rate",
        ),
        (
            "qos meter 2 committed-rate 4000 max-burst-rate 5000 in-profile-action 44 out-profile-action 1",
            "Action 44 does not exist",
        ),
        (
            "qos policy 3 if-group edge clfr-type classifier clfr-id 1 in-profile-action 5 precedence 11",
            "already in use",
        ),
        (
            "qos policy 3 if-group none clfr-type classifier clfr-id 1 in-profile-action 5 precedence 9",
            "group does not",
        ),
        (
            "qos policy 3 if-group edge clfr-type classifier clfr-id 8 in-profile-action 5 precedence 9",
            "Classifier 8",
        ),
        (
            "qos policy 3 if-group edge clfr-type block clfr-id 8 in-profile-action 5 precedence 9",
            "block 8 does not",
        ),
        (
            "qos policy 3 if-group edge clfr-type classifier clfr-id 1 meter 9 precedence 9",
            "Meter 9 does not exist",
        ),
        ("qos policy 3 if-group edge clfr-type classifier clfr-id 1 precedence 9", "in-profile action or a meter"),
        (
            "qos policy 1 if-group edge clfr-type classifier clfr-id 1 in-profile-action 5 precedence 9",
            "already exists",
        ),
        ("no qos policy 9", "Policy 9 does not exist"),
        ("qos queue-set-assignment queue-set 4 1p 5 queue 5", "Queue set 4 has no queue 5"),
    ],
)
def test_refusals_change_nothing(box: Nortel5510, line: str, reason: str) -> None:
    before = box.running_text()
    answer = "\n".join(said(box, line))
    assert answer.startswith("% Cannot modify settings\n% ")
    assert reason in answer
    assert box.running_text() == before


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("qos agent queue-set 9", 20),
        ("qos action 9 update-dscp 3", 11),
        ("qos meter 1 committed-rate 63", 27),
        ("qos if-assign port 49 name edge", 19),
        ("qos egressmap ds 64 1p 0 dp low-drop", 17),
        ("qos if-shaper port 8 shape-rate 40000 max-burst-rate 50000", 7),
        ("xmit-queue 1 2 3 4", 0),
    ],
)
def test_syntax_errors_point_at_the_word(box: Nortel5510, line: str, column: int) -> None:
    (answer,) = said(box, line)
    caret, text = answer.split("\n")
    assert text == "% Invalid input detected at '^' marker."
    assert caret == " " * (len("access(config)#") + column) + "^"


@pytest.mark.parametrize("line", ["qos policy 3 if-group edge", "qos ip-element 7 dst-port-min 4", "qos agent"])
def test_incomplete_lines(box: Nortel5510, line: str) -> None:
    assert said(box, line) == ["% Incomplete command."]


@pytest.mark.parametrize(
    ("low", "high", "good"),
    [(0, 1023, True), (16384, 32767, True), (80, 80, True), (3000, 3007, True), (3072, 3135, True),
     (3001, 3007, False), (80, 96, False), (9, 8, False)],
)  # fmt: skip
def test_ranges_that_one_mask_expresses(low: int, high: int, good: bool) -> None:
    assert Span(low, high).maskable() is good


def test_members_of_a_block_share_one_mask(box: Nortel5510) -> None:
    more = """\
qos ip-element 3 protocol 6 dst-port-min 443 dst-port-max 443
qos classifier 3 set-id 3 name tls element-type ip element-id 3
qos ip-element 4 protocol 6 src-port-min 80 src-port-max 80
qos classifier 4 set-id 4 element-type ip element-id 4
qos classifier-block 1 block-number 1 name b set-id 2
qos classifier-block 2 block-number 1 name b set-name tls
"""
    assert said(box, more) == []
    assert "same mask" in said(box, "qos classifier-block 3 block-number 1 set-id 4")[0]
    # NTN-QOS-POLICY-EVOL-PIB, ntnClfrBlockLabel.
    assert "same name" in said(box, "qos classifier-block 3 block-number 1 name c set-id 3")[0]
    assert "All or no members" in said(box, "qos classifier-block 4 block-number 1 set-id 3 in-profile-action 5")[0]
    assert (
        said(box, "qos policy 3 if-group wild clfr-type block clfr-name b in-profile-action 6 precedence 3") == []
    )
    assert one(box, "5", protocol=6, dst_port=443).dscp_out == 34
    assert one(box, "5", protocol=6, dst_port=444).dscp_out == 0


def test_the_listing_is_canonical_and_boots_again(box: Nortel5510, tmp_path: Path) -> None:
    assert said(box, f"{SHAPER}qos egress ds 36 1 5 dp low\nqos ingressmap 1p 5 ds 46\nno autosave enable") == []
    text = box.running_text()
    assert text.startswith(
        "! Embedded ASCII Configuration Generator Script\n! Model = Ethernet Routing Switch 5510-48T\n"
    )
    assert "! *** CORE (Phase 1) ***\n!\nno autosave enable\n" in text
    assert text.split("! *** QOS ***\n!\n")[1] == (
        "qos if-group name edge class trusted\n"
        "qos if-group name wild class unrestricted\n"
        "qos ip-element 1 name rtp addr-type ipv4 protocol 17 dst-port-min 16384 dst-port-max 32767\n"
        "qos ip-element 2 addr-type ipv4 protocol 6 dst-port-min 80 dst-port-max 80\n"
        "qos classifier 1 set-id 1 name voice element-type ip element-id 1\n"
        "qos classifier 2 set-id 2 name web element-type ip element-id 2\n"
        "qos action 10 name av drop-action disable update-dscp 34 update-1p 5\n"
        "qos meter 1 committed-rate 8000 max-burst-rate 16000 max-burst-duration 66"
        " in-profile-action 4 out-profile-action 1\n"
        "qos if-assign port 1-4 name edge\n"
        "qos if-assign port 5 name wild\n"
        "qos agent queue-set 4\n"
        "qos egressmap name Standard_Service ds 36 1p 5 dp low-drop ds-new 36\n"
        "qos ingressmap name Platinum_Service 1p 5 ds 46\n"
        "qos queue-set-assignment queue-set 4 1p 5 queue 1\n"
        "qos policy 1 name p-voice if-group edge clfr-type classifier clfr-id 1"
        " in-profile-action 10 precedence 11\n"
        "qos policy 2 name p-web if-group edge clfr-type classifier clfr-id 2 meter 1 precedence 10\n"
        "interface FastEthernet ALL\n"
        "qos if-shaper port 8 shape-rate 40000 max-burst-rate 50000 max-burst-duration 3\n"
        "exit\n"
    )
    again = boot(tmp_path / "again", text)
    assert again.boot_messages == []
    assert again.running_text() == text


def test_every_line_can_be_undone(box: Nortel5510, tmp_path: Path) -> None:
    undo = """\
no qos policy 2
no qos policy 1
no qos meter 1
no qos action 10
no qos classifier 1
no qos classifier 2
no qos ip-element 1
no qos ip-element 2
no qos if-assign port 1-5
no qos if-group name edge
no qos if-group name wild
default qos queue-set-assignment queue-set 4 1p 5
"""
    assert said(box, undo) == []
    assert box.running_text() == boot(tmp_path / "fresh").running_text()


def test_a_queue_set_waits_for_the_reset(box: Nortel5510) -> None:
    assert one(box, protocol=6, dscp=48).queue == "2"
    said(box, "qos agent queue-set 8\nqos agent buffer maximum\nqos queue-set-assignment queue-set 8 1p 7 queue 6")
    agent = shown(box, "show qos agent")
    assert "QoS Queue Set: 4\nQoS Queue Set (after reset): 8" in agent
    assert "QoS Buffering: Large\nQoS Buffering (after reset): Maximum" in agent
    assert one(box, protocol=6, dscp=48).queue == "2"
    box.new_shell("rw").feed("copy config nvram")
    asked = box.new_shell("rw").feed("boot").ask
    assert asked is not None
    assert asked.answer("y").abort
    assert one(box, protocol=6, dscp=48).queue == "6"
    assert "QoS Queue Set: 8\n" in shown(box, "show qos agent")


def test_a_reset_forgets_what_was_not_saved_and_boot_default_everything(box: Nortel5510) -> None:
    box.reboot()
    assert "qos policy" not in box.running_text()
    assert "qos agent queue-set 4" in box.running_text()
    asked = box.new_shell("rw").feed("boot default").ask
    assert asked is not None
    asked.answer("y")
    assert "queue-set" not in box.running_text()


async def _autosaved(folder: Path, before: str) -> tuple[bool, bool]:
    spec = BoxSpec(name="sw", platform="nortel_5510", username="rw", password="x")
    box = make_box(spec, Storage(folder, STARTUP), Clock(scale=AUTOSAVE_SECONDS / 0.05))
    assert isinstance(box, Nortel5510)
    box.boot()
    said(box, before + "qos action 20 update-dscp 8")
    at_once = "qos action 20" in box.storage.startup()
    await asyncio.sleep(0.15)
    return at_once, "qos action 20" in box.storage.startup()


def test_the_box_saves_on_its_own_unless_told_not_to(tmp_path: Path) -> None:
    assert asyncio.run(_autosaved(tmp_path / "on", "")) == (False, True)
    assert asyncio.run(_autosaved(tmp_path / "off", "no autosave enable\n")) == (False, False)


def test_packets_follow_the_configuration(box: Nortel5510) -> None:
    voice = one(box, dst_port=20000)
    assert (voice.ingress_class, voice.dscp_out, voice.cos_out, voice.queue) == ("p-voice", 34, 5, "1 strict")
    web = one(box, protocol=6, dst_port=80)
    assert (web.ingress_class, web.dscp_out, web.cos_out) == ("p-web", 18, 3)


@pytest.mark.parametrize(
    ("port", "fields", "marks"),
    [
        ("1", {"dscp": 46, "cos": 1}, (46, 6)),  # trusted: the DSCP says the priority
        ("1", {"dscp": 45, "cos": 1}, (45, 1)),  # trusted, not a well-known DSCP: priority kept
        ("5", {"dscp": 46, "cos": 1}, (46, 1)),  # unrestricted: nothing changes
        ("5", {"dscp": 46, "cos": 1, "tagged": False}, (46, 0)),
        ("6", {"dscp": 46, "cos": 5}, (0, 0)),  # untrusted
        ("6", {"dscp": 46, "tagged": False}, (0, 0)),
    ],
)
def test_default_actions_by_group_class(
    box: Nortel5510, port: str, fields: dict[str, object], marks: tuple[int, int]
) -> None:
    outcome = one(box, port, **fields)
    assert (outcome.dscp_out, outcome.cos_out) == marks


def test_maps_move_marks_and_queues(box: Nortel5510) -> None:
    said(box, "qos egressmap ds 45 1p 4 dp low-drop ds-new 26\nqos ingressmap 1p 0 ds 18")
    mapped = one(box, dscp=45)
    assert (mapped.dscp_out, mapped.cos_out) == (26, 4)
    assert one(box, "6", tagged=False).dscp_out == 18
    said(box, "default qos egressmap ds 45\ndefault qos ingressmap")
    assert one(box, dscp=45).dscp_out == 45
    assert one(box, "6", tagged=False).dscp_out == 0


def test_policies_merge_and_a_lower_drop_beats_a_deferred_pass(box: Nortel5510) -> None:
    more = """\
qos action 11 update-1p 3
qos action 12 drop-action enable
qos ip-element 5 protocol 1
qos classifier 5 set-id 5 element-type ip element-id 5
qos policy 5 if-group wild clfr-type classifier clfr-id 5 in-profile-action 11 precedence 5
qos policy 6 if-group wild clfr-type classifier clfr-id 5 in-profile-action 6 precedence 4
"""
    assert said(box, more) == []
    merged = one(box, "5", protocol=1)
    assert (merged.dscp_out, merged.cos_out) == (34, 3)
    said(box, "qos policy 7 if-group wild clfr-type classifier clfr-id 5 in-profile-action 12 precedence 3")
    assert one(box, "5", protocol=1).dropped_in == 100
    said(box, "qos policy 7 disable")
    assert one(box, "5", protocol=1).dropped_in == 0


def test_the_meter_splits_and_the_policy_counts(box: Nortel5510) -> None:
    inside, outside = box.offer("1", "2", [Packets(2000, 1000, protocol=6, dst_port=80)], 1.0)
    size = bucket(8000, 16000, 66)
    assert size == 65536
    allowed = (8_000_000 // 8 + size) // 1000
    assert (inside.count, inside.dropped_in, inside.dscp_out) == (allowed, 0, 18)
    assert (outside.count, outside.dropped_in, outside.queue) == (2000 - allowed, 2000 - allowed, "")
    row = shown(box, "show qos statistics 2").splitlines()[-1]
    assert row.split() == ["2", "p-web", str(allowed), str(2000 - allowed)]


@pytest.mark.parametrize(("size", "duration"), list(zip(BUCKETS, DURATIONS, strict=True)))
def test_buckets_of_the_published_table(size: int, duration: int) -> None:
    assert bucket(10_000, 15_000, duration) == size


def test_show_tables_keep_the_published_layouts(box: Nortel5510) -> None:
    actions = shown(box, "show qos action").splitlines()
    assert actions[2] == "_____ ________________ _____ ______ ____________ ___________ _________ _______"
    assert actions[7] == "5     Gold_Service     DPass 0x1A   Priority 4   Low Drop              ReadOnl"
    assert actions[12] == "10    av               No    0x22   Priority 5   Low Drop              NonVol"
    said(box, SHAPER)
    shaper = shown(box, "show qos if-shaper port 8").splitlines()
    assert shaper[3] == "____ ____ _______ ________________ ________ ________"
    assert shaper[4].split() == ["1", "8", "8", "40000", "4096"]


def test_show_tables_follow_the_configuration(box: Nortel5510) -> None:
    sets = shown(box, "show qos queue-set 4").splitlines()[4:]
    assert [line.split()[1] for line in sets] == ["1", "2", "3", "4"]
    assert "Priority Queuing" in sets[0]
    assert all("Weighted Round Robin" in line for line in sets[1:])
    assert "5        1" in shown(box, "show qos queue-set-assignment queue-set 4").splitlines()
    assert shown(box, "show qos if-assign port 4-6").splitlines()[2:] == [
        "1    4    4       edge",
        "1    5    5       wild",
        "1    6    6       allQoSPolicyIfcs",
    ]
    assert shown(box, "show qos egressmap ds 34").splitlines()[-1].split() == ["34", "5", "Low", "Drop", "34",
                                                                              "Platinum_Service"]  # fmt: skip
    assert "untrusted" in shown(box, "show qos if-group").lower()
    assert shown(box, "show qos meter").splitlines()[-1].startswith("1     committed-rate 8000 ")
    assert shown(box, "show qos diag").splitlines()[2].count("Q") == 2
    assert "SW:v5.1.0.014" in shown(box, "show sys-info")


def test_lines_wrap_at_the_terminal_width_and_end_in_a_blank(box: Nortel5510) -> None:
    shell = box.new_shell("rw")
    text = shell.feed("show running-config").text
    narrow = box.layout(shell, text).split("\n")
    assert max(len(line) for line in narrow) == 79
    assert "! *** QOS *** " in narrow
    shell.feed("terminal width 131")
    wide = box.layout(shell, text).split("\n")
    assert [line.rstrip() for line in wide] == text.split("\n")


def test_ports_are_read_and_written_as_lists(box: Nortel5510) -> None:
    assert port_list([7, 1, 2, 3, 9, 10]) == "1-3,7,9-10"
    said(box, "qos if-assign port 1/9-10,12 name wild")
    assert "qos if-assign port 5,9-10,12 name wild" in box.running_text()
    said(box, "qos if-assign port ALL name wild")
    assert "qos if-assign port 1-48 name wild" in box.running_text()
    with pytest.raises(BoxError, match="no port '49'"):
        one(box, "49")
    said(box, "interface FastEthernet ALL\nshutdown port 3")
    with pytest.raises(BoxError, match="port 1/3 is shut down"):
        one(box, "1/3")


def test_faults(box: Nortel5510) -> None:
    before = box.running_text()
    box.faults.plant("drop_line", {"pattern": "queue-set-assignment|ingressmap"})
    assert said(box, "qos queue-set-assignment queue-set 4 1p 3 queue 4\ndefault qos ingressmap") == []
    assert box.running_text() == before
    box.faults.plant("replace_line", {"pattern": r"1p 5 queue \d", "text": "1p 5 queue 3"})
    box.faults.plant("clear", {})
    box.faults.plant("replace_line", {"pattern": r"1p 3 queue \d", "text": "1p 3 queue 2"})
    assert said(box, "qos queue-set-assignment queue-set 4 1p 3 queue 4") == []
    assert "queue-set 4 1p 3 queue 2\n" in box.running_text()
    box.faults.plant("ignore_priority", {})
    assert one(box, dst_port=20000).queue == "1"
    assert box.running_text().endswith(before[-60:])
