"""The E300's grammar, refusals, listing and data plane, without a wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from qoslab.boxes import make_box
from qoslab.boxes.force10_e300 import Force10E300
from qoslab.clock import Clock
from qoslab.errors import BoxError
from qoslab.packets import Outcome, Packets
from qoslab.shell import Shell
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

STARTUP = """\
hostname core
interface GigabitEthernet 0/0
 ip address 10.1.0.1/24
 no shutdown
interface GigabitEthernet 0/1
 no shutdown
interface GigabitEthernet 0/2
 switchport
 no shutdown
"""

POLICY = """\
ip access-list extended RTP
permit udp any any range 16384 32767
class-map match-any VOICE
match ip access-group RTP set-ip-dscp 34
match ip dscp 34,46
class-map match-any WEB
match ip dscp 18
qos-policy-input POLICED
rate-police 8 100
qos-policy-output Q5
bandwidth-percentage 50
qos-policy-output Q3
bandwidth-percentage 35
wred green wred_ge_g
policy-map-input IN
service-queue 5 class-map VOICE
service-queue 3 class-map WEB qos-policy POLICED
policy-map-output OUT
service-queue 5 qos-policy Q5
service-queue 3 qos-policy Q3
strict-priority unicast 5
interface GigabitEthernet 0/0
service-policy input IN
interface GigabitEthernet 0/1
service-policy output OUT
"""


def boot(folder: Path, startup: str = STARTUP, image: str = "") -> Force10E300:
    spec = BoxSpec(name="core", platform="force10_e300", image=image, username="admin", password="x")
    box = make_box(spec, Storage(folder, startup), Clock())
    assert isinstance(box, Force10E300)
    box.boot()
    return box


def said(box: Force10E300, lines: str) -> list[str]:
    """What a login in configuration mode is told."""
    shell = box.new_shell("admin")
    shell.enter("config", box.running)
    return [text for line in lines.splitlines() if (text := shell.feed(line).text)]


@pytest.fixture
def box(tmp_path: Path) -> Force10E300:
    made = boot(tmp_path / "core")
    assert made.boot_messages == []
    assert said(made, POLICY) == []
    return made


def one(box: Force10E300, seconds: float = 1.0, into: str = "gi0/0", **fields: object) -> Outcome:
    packets = Packets(**{"count": 100, "bytes": 500, **fields})  # type: ignore[arg-type]
    return box.offer(into, "GigabitEthernet 0/1", [packets], seconds)[0]


@pytest.mark.parametrize(
    ("mode", "prompt"),
    [
        ("class-map match-any VOICE", "core(conf-class-map)#"),
        ("qos-policy-input X", "core(conf-qos-policy-in)#"),
        ("qos-policy-output X", "core(conf-qos-policy-out)#"),
        ("wred-profile X", "core(conf-wred)#"),
        ("policy-map-input IN", "core(conf-policy-map-in)#"),
        ("policy-map-output OUT", "core(conf-policy-map-out)#"),
        ("ip access-list extended X", "core(config-ext-nacl)#"),
        ("ip access-list standard X", "core(config-std-nacl)#"),
        ("interface tengigabitethernet 1/0", "core(conf-if-te-1/0)#"),
        ("int gi0/0", "core(conf-if-gi-0/0)#"),
        ("interface vlan 7", "core(conf-if-vl-7)#"),
        ("router ospf 1", "core(conf-router_ospf)#"),
        ("line vty 0 9", "core(config-line-vty)#"),
    ],
)
def test_prompts(box: Force10E300, mode: str, prompt: str) -> None:
    shell = box.new_shell("admin")
    assert shell.prompt == "core#"
    shell.feed("conf t")
    assert shell.prompt == "core(conf)#"
    assert shell.feed(mode).text == ""
    assert shell.prompt == prompt
    shell.feed("exit")
    assert shell.prompt == "core(conf)#"
    shell.feed("end")
    assert shell.prompt == "core#"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("policy-map-input IN\nservice-queue 2 class-map NONE", "% Error: Class-map NONE does not exist."),
        ("policy-map-input IN\nservice-queue 2 qos-policy NONE", "% Error: QoS policy NONE does not exist."),
        ("policy-map-output OUT\nservice-queue 2 qos-policy NONE", "% Error: QoS policy NONE does not exist."),
        ("class-map match-any VOICE\nmatch ip access-group NONE", "% Error: Access-list NONE does not exist."),
        ("class-map match-all VOICE", "% Error: Class-map VOICE already exists with another type."),
        ("class-map match-all M\nmatch ip dscp 3 set-ip-dscp 4", "set-ip-dscp is allowed in match-any"),
        ("qos-policy-output Q5\nwred green NONE", "% Error: WRED profile NONE does not exist."),
        ("no class-map match-any VOICE", "% Error: Class-map is in use."),
        ("no class-map match-all VOICE", "% Error: Class-map VOICE is of another type."),
        ("no class-map match-any VOICE layer2", "% Error: Class-map VOICE is of another type."),
        ("no qos-policy-output Q5", "% Error: QoS policy is in use."),
        ("no qos-policy-input POLICED", "% Error: QoS policy is in use."),
        ("no policy-map-input IN", "% Error: Policy-map is in use."),
        ("no ip access-list extended RTP", "% Error: Access-list is in use."),
        ("no class-map match-any GONE", "% Error: Class-map GONE does not exist."),
        ("no wred-profile wred_ge_g", "is predefined"),
        ("wred-profile W\nthreshold min 20 max 10", "must not exceed the maximum"),
        ("class-map match-any " + "n" * 33, "% Error: Name must not exceed 32 characters."),
        ("interface gi 0/2\nservice-policy input NONE", "% Error: Policy-map NONE does not exist."),
        ("interface vlan 5\nservice-policy output OUT", "not supported on Vlan interfaces"),
        ("interface port-channel 5\nservice-policy output OUT", "not supported on Port-channel interfaces"),
        ("interface gi 0/0\ndot1p-priority 5", "Policy-based QoS is configured"),
        ("interface gi 0/2\nrate shape 20\nservice-policy output OUT", "Port-based QoS is configured"),
        ("interface gi 0/2\nip address 10.0.0.1/24", "% Error: Port is in Layer 2 mode Gi 0/2."),
        ("interface gi 0/2\nrate shape 15", "multiple of 10 Mbps"),
        ("no interface gi 0/0", "physical interface cannot be removed"),
    ],
)
def test_refusals_change_nothing(box: Force10E300, lines: str, words: str) -> None:
    before = said(box, "do show running-config policy-map-input\ndo show running-config interface gi 0/0")
    answers = said(box, lines)
    assert len(answers) == 1
    assert words in answers[0]
    assert said(box, "do show running-config policy-map-input\ndo show running-config interface gi 0/0") == before


@pytest.mark.parametrize(
    ("mode", "line", "column"),
    [
        ("policy-map-input IN", "service-queue 8 class-map VOICE", 14),
        ("qos-policy-output Q5", "bandwidth-percentage 101", 21),
        ("", "strict-priority unicast 0", 24),
        ("", "class-map match-some X", 16),
        ("", "default class-map match-any VOICE", 0),
        ("", "fair-queue", 0),
    ],
)
def test_syntax_errors_point_at_the_word(box: Force10E300, mode: str, line: str, column: int) -> None:
    shell = box.new_shell("admin")
    shell.feed("configure")
    shell.feed(mode)
    caret, text = shell.feed(line).text.split("\n")
    assert text == '% Invalid input at "^" marker.'
    assert caret == " " * (len(shell.prompt) + column) + "^"


@pytest.mark.parametrize(("image", "longest"), [("", 32), ("8.2.1.0", 32), ("8.1.1.0", 16), ("6.5", 16)])
def test_the_release_limits_names(tmp_path: Path, image: str, longest: int) -> None:
    made = boot(tmp_path / "core", image=image)
    assert said(made, "wred-profile " + "n" * longest) == []
    assert said(made, "wred-profile " + "n" * (longest + 1)) == [
        f"% Error: Name must not exceed {longest} characters."
    ]
    assert made.running_text().startswith(f"! Version {image or '8.4.2.7'}\n!")


@pytest.mark.parametrize("kind", ["ip", "mac"])
@pytest.mark.parametrize(("image", "longest"), [("", 140), ("7.8.1.0", 140), ("7.7.1.0", 16), ("6.5", 16)])
def test_the_release_limits_names_of_access_lists(tmp_path: Path, kind: str, image: str, longest: int) -> None:
    made = boot(tmp_path / "core", image=image)
    assert said(made, f"{kind} access-list extended " + "n" * longest) == []
    assert said(made, f"{kind} access-list extended " + "n" * (longest + 1)) == [
        f"% Error: Name must not exceed {longest} characters."
    ]


def test_a_match_all_class_takes_one_list_and_a_match_any_class_five(box: Force10E300) -> None:
    lists = "".join(f"ip access-list standard L{number}\npermit any\n" for number in range(6))
    assert said(box, lists) == []
    rules = "\n".join(f"match ip access-group L{number}" for number in range(6))
    assert said(box, f"class-map match-all ALL\n{rules}")[0].startswith("% Error: Only 1 access-list")
    assert len(said(box, f"class-map match-any ANY\n{rules}")) == 1


def test_the_listing_is_canonical_and_boots_again(box: Force10E300, tmp_path: Path) -> None:
    typed = "policy-map-i IN2\nser 4 cl WEB\nint gi0/2\nno sw\nip add 10.9.0.1 255.255.255.0\n"
    assert said(box, typed + "wred-p W\nthr min 5 max 9\nwred-p D") == []
    text = box.running_text()
    for block in (
        "!\nip access-list extended RTP\n seq 5 permit udp any any range 16384 32767\n!",
        "!\nclass-map match-any VOICE\n match ip access-group RTP set-ip-dscp 34\n match ip dscp 34,46\n!",
        "!\npolicy-map-input IN\n service-queue 3 class-map WEB qos-policy POLICED\n service-queue 5 class-map",
        "!\npolicy-map-input IN2\n service-queue 4 class-map WEB\n!",
        "!\nwred-profile W\n threshold min 5 max 9\n!\nwred-profile D\n!",
        "!\ninterface GigabitEthernet 0/2\n ip address 10.9.0.1/24\n no shutdown\n!",
        "!\nno qos-rate-adjust\nstrict-priority unicast 5\n!",
    ):
        assert block in text
    again = boot(tmp_path / "again", text)
    assert again.boot_messages == []
    assert again.running_text() == text


def test_every_line_can_be_undone(box: Force10E300, tmp_path: Path) -> None:
    undo = """\
interface gi 0/0
no service-policy input IN
interface gi 0/1
no service-policy output OUT
no strict-priority unicast
no policy-map-input IN
no policy-map-output OUT
no qos-policy-output Q5
no qos-policy-output Q3
no qos-policy-input POLICED
no class-map match-any VOICE
no class-map match-any WEB
no ip access-list extended RTP
"""
    assert said(box, undo) == []
    assert box.running_text() == boot(tmp_path / "fresh").running_text()


def test_saving_and_reloading(box: Force10E300) -> None:
    shell = box.new_shell("admin")
    kept = box.running_text()
    assert "bytes successfully copied" in shell.feed("write memory").text
    said(box, "no strict-priority unicast")
    asked = shell.feed("copy running-config startup-config").ask
    assert asked is not None
    assert asked.answer("no").text == ""
    reload = shell.feed("reload").ask
    assert reload is not None
    assert reload.answer("yes").abort
    assert box.running_text() == kept


def test_packets_follow_the_configuration(box: Force10E300) -> None:
    voice = one(box, dst_port=20000)
    assert (voice.ingress_class, voice.dscp_out, voice.queue) == ("VOICE", 34, "5 strict")
    assert voice.egress_class == "Q5"
    assert one(box, dscp=46, protocol=6).queue == "5 strict"
    other = one(box, dscp=10, protocol=6)
    assert (other.ingress_class, other.dscp_out, other.queue) == ("", 10, "0")


def test_the_policer_drops_what_exceeds_rate_and_burst(box: Force10E300) -> None:
    web = one(box, dscp=18, protocol=6, count=10000, bytes=1000)
    allowed = (8_000_000 // 8 + 100 * 1024) // 1000
    assert web.dropped_in == 10000 - allowed


def test_a_mark_that_is_set_names_the_queue_of_its_policy(box: Force10E300) -> None:
    # S4810P configuration manual p. 829: the session, and what is replaced in another queue.
    assert said(box, "qos-policy-input MARKED\nset ip-dscp 34") == [
        "% Info: To set the specified DSCP value 34 (100-010 b) the QoS policy must be mapped to queue 4 (100 b)."
    ]
    said(box, "policy-map-input IN\nservice-queue 3 class-map WEB qos-policy MARKED")
    assert one(box, dscp=18, protocol=6).dscp_out == 0b011_010
    said(box, "policy-map-input IN\nno service-queue 3\nservice-queue 4 class-map WEB qos-policy MARKED")
    assert one(box, dscp=18, protocol=6).dscp_out == 34
    said(box, "qos-policy-input MARKED\nno set ip-dscp")
    assert one(box, dscp=18, protocol=6).dscp_out == 18


def test_a_policed_class_shares_one_bucket(box: Force10E300) -> None:
    groups = [Packets(count=1000, bytes=1000, dscp=18, protocol=6)] * 2
    first, second = box.offer("gi0/0", "gi0/1", groups, 1.0)
    assert first.dropped_in == 0
    assert second.dropped_in == 2000 - (8_000_000 // 8 + 100 * 1024) // 1000


def test_each_queue_has_a_bucket_of_its_own_and_the_aggregate_one_for_all(box: Force10E300) -> None:
    said(box, "policy-map-input IN\nservice-queue 5 class-map VOICE qos-policy POLICED")
    groups = [Packets(count=1100, bytes=1000, dscp=dscp, protocol=6) for dscp in (18, 34)]
    assert [one.dropped_in for one in box.offer("gi0/0", "gi0/1", groups, 1.0)] == [0, 0]
    said(box, "policy-map-input IN\nno service-queue 5\nno service-queue 3\npolicy-aggregate POLICED")
    dropped = [one.dropped_in for one in box.offer("gi0/0", "gi0/1", groups, 1.0)]
    assert dropped == [0, 2200 - (8_000_000 // 8 + 100 * 1024) // 1000]


def test_a_policer_with_a_peak_drops_above_the_peak(box: Force10E300) -> None:
    said(box, "qos-policy-input POLICED\nrate-police 8 100 peak 16 200")
    web = one(box, dscp=18, protocol=6, count=10000, bytes=1000)
    assert web.dropped_in == 10000 - (16_000_000 // 8 + 200 * 1024) // 1000
    said(box, "qos-policy-output Q3\nrate-limit kbps 512 16")
    web = one(box, dscp=18, protocol=6, count=1000, bytes=1000)
    assert web.dropped_out == 1000 - (512_000 // 8 + 16 * 1024) // 1000


def test_trust_without_fallback_kills_the_class_maps(box: Force10E300) -> None:
    said(box, "policy-map-input IN\ntrust diffserv")
    assert one(box, dscp=18, protocol=6).queue == "2"
    assert one(box, dst_port=20000).ingress_class == ""
    said(box, "policy-map-input IN\ntrust diffserv fallback")
    assert one(box, dst_port=20000).ingress_class == "VOICE"
    assert one(box, dscp=26, protocol=6).queue == "3"
    said(box, "policy-map-input IN\ntrust dot1p")
    assert [one(box, cos=cos).queue for cos in range(4)] == ["2", "0", "1", "3"]


def test_the_lower_order_then_the_higher_queue_wins(box: Force10E300) -> None:
    more = """\
ip access-list extended ALL
permit ip any any
class-map match-any LOW
match ip access-group ALL
policy-map-input IN
service-queue 7 class-map LOW
"""
    assert said(box, more) == []
    assert one(box, dst_port=20000).ingress_class == "LOW"
    assert said(box, "ip access-list extended RTP\nno seq 5\npermit udp any any range 16384 32767 order 1") == []
    assert one(box, dst_port=20000).ingress_class == "VOICE"


def test_an_explicit_deny_sends_to_queue_0(box: Force10E300) -> None:
    assert said(box, "ip access-list extended RTP\nseq 1 deny udp host 10.0.0.9 any") == []
    assert one(box, dst_port=20000, src="10.0.0.9").queue == "0"
    assert one(box, dst_port=20000, src="10.0.0.8").queue == "5 strict"


def test_a_queue_with_no_share_is_never_served(box: Force10E300) -> None:
    said(box, "qos-policy-output Q3\nbandwidth-percentage 0")
    assert one(box, dscp=18, protocol=6, count=5).dropped_out == 5
    said(box, "no strict-priority unicast\nstrict-priority unicast 3")
    assert one(box, dscp=18, protocol=6, count=5).dropped_out == 0


def test_counters_follow_the_packets_and_an_edit_clears_the_matches(box: Force10E300) -> None:
    one(box, dst_port=20000, count=7, bytes=100)
    shell = box.new_shell("admin")

    def row(port: str, queue: int) -> list[int]:
        lines = shell.feed(f"show qos statistics {port}").text.splitlines()
        return next([int(word) for word in line.split()] for line in lines if line.split()[0] == str(queue))

    assert row("gi 0/0", 5) == [5, 0, 0, 7, 700]
    assert row("gi 0/1", 5) == [5, 7, 700, 0, 0]
    said(box, "policy-map-input IN\nservice-queue 2 class-map WEB")
    assert row("gi 0/0", 5) == [5, 0, 0, 0, 0]
    assert row("gi 0/1", 5) == [5, 7, 700, 0, 0]
    shell.feed("clear qos statistics")
    assert row("gi 0/1", 5) == [5, 0, 0, 0, 0]


def test_unknown_and_shut_ports_are_named(box: Force10E300) -> None:
    said(box, "interface gi 0/0\nshutdown")
    with pytest.raises(BoxError, match="GigabitEthernet 0/0 is shut down"):
        one(box)
    with pytest.raises(BoxError, match="no port 'Vlan 9'"):
        one(box, into="Vlan 9")


def test_a_dropped_line_is_accepted_and_kept_nowhere(box: Force10E300) -> None:
    box.faults.plant("drop_line", {"pattern": "bandwidth-percentage 70|class-map match-any LOST"})
    before = box.running_text()
    assert said(box, "qos-policy-output Q5\nbandwidth-percentage 70") == []
    assert said(box, "class-map match-any LOST\nmatch ip dscp 9") == []
    assert box.running_text() == before


def test_a_replaced_line_is_stored_differently(box: Force10E300) -> None:
    box.faults.plant("replace_line", {"pattern": r"percentage \d+", "text": "percentage 11"})
    assert said(box, "qos-policy-output Q5\nbandwidth-percentage 70") == []
    assert "qos-policy-output Q5\n bandwidth-percentage 11\n" in box.running_text()


def test_planted_refusals_and_ignored_priority(box: Force10E300) -> None:
    box.faults.plant("refuse", {"pattern": "^wred-profile", "text": "% Error: No memory."})
    assert said(box, "wred-profile W") == ["% Error: No memory."]
    box.faults.plant("ignore_priority", {})
    assert one(box, dst_port=20000).queue == "5"
    assert "strict-priority unicast 5" in box.running_text()
    box.faults.plant("clear", {})
    assert one(box, dst_port=20000).queue == "5 strict"


def test_filters_after_the_bar(box: Force10E300) -> None:
    shell: Shell = box.new_shell("admin")
    assert shell.feed("show running-config | grep strict").text == "strict-priority unicast 5"
    assert not shell.feed("show running-config | no-more").paged
    assert "strict" not in shell.feed("show running-config | except strict").text
