"""The E300's CAM: the test before an attachment, what is used, and a policy that fits in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from qoslab.boxes.force10_e300 import Force10E300
from qoslab.boxes.force10_e300.acl import MAX_RULE_ENTRIES, Ports, Rule
from qoslab.packets import Packets

from .test_force10_box import boot, said

STARTUP = "".join(f"interface GigabitEthernet 0/{port}\n switchport\n no shutdown\n" for port in (0, 1, 30))


def layer2(rules: int) -> str:
    """A layer 2 policy map whose class for queue 3 takes so many entries, and two more for queue 5."""
    lines = "".join(f"permit host 00:00:00:00:{n >> 8:02x}:{n & 255:02x} any\n" for n in range(rules))
    return f"""\
mac access-list extended LONG
{lines}class-map match-any BIG layer2
match mac access-group LONG
match mac dot1p 1
class-map match-any SMALL layer2
match mac dot1p 5,6
policy-map-input IN layer2
service-queue 3 class-map BIG
service-queue 5 class-map SMALL
"""


@pytest.fixture
def box(tmp_path: Path) -> Force10E300:
    return boot(tmp_path / "core", STARTUP)


def rows(box: Force10E300, command: str) -> list[list[str]]:
    return [line.split(None, 5) for line in box.new_shell("a").feed(command).text.splitlines() if line[0].isdigit()]


@pytest.mark.parametrize(
    ("ports", "entries"),
    [
        (None, 1),
        (Ports("eq", 80, 80), 1),
        (Ports("range", 16384, 32767), 1),
        (Ports("range", 0, 65535), 1),
        (Ports("range", 1, 6), 4),
        (Ports("gt", 1023, 1023), 6),
        (Ports("lt", 3, 3), 2),
        (Ports("neq", 0, 0), 16),
        (Ports("range", 1, 65534), MAX_RULE_ENTRIES),
    ],
)
def test_a_range_takes_as_many_entries_as_it_has_prefixes(ports: Ports | None, entries: int) -> None:
    rule = Rule(permit=True, protocol=17, src=None, dst=None, dst_ports=ports)
    assert rule.entries() == entries


def test_the_test_says_what_would_fit(box: Force10E300) -> None:
    assert said(box, layer2(197)) == []
    text = box.new_shell("a").feed("test cam-usage service-policy input IN linecard all").text
    assert text.splitlines() == [
        "Linecard | Portpipe | CAM Partition | Available CAM | Estimated CAM | Status",
        "         |          |               |               | per Port      | (Allowed ports)",
        "0          0          L2ACL           500             200             Allowed (2)",
        "0          1          L2ACL           500             200             Allowed (2)",
    ]
    test = "test cam-usage service-policy input {} linecard {} port-set 0"
    assert rows(box, test.format("IN", 0)) == [["0", "0", "L2ACL", "500", "200", "Allowed (2)"]]
    assert "Linecard 4 is not present" in box.new_shell("a").feed(test.format("IN", 4)).text
    assert "Policy-map NONE does not exist" in box.new_shell("a").feed(test.format("NONE", 0)).text


def test_one_map_on_several_ports_of_a_pipe_is_stored_once(box: Force10E300) -> None:
    said(box, layer2(197))
    for port, used in (("0/0", "200"), ("0/1", "200")):
        said(box, f"interface gi {port}\nservice-policy input IN layer2")
        assert rows(box, "show cam-usage")[0] == ["0", "0", "L2ACL", "500", used, "300"]
        assert rows(box, "show cam-usage")[2][4] == "0"
    said(box, "interface gi 0/30\nservice-policy input IN layer2")
    assert rows(box, "show cam-usage")[2][4] == "200"
    assert rows(box, "show cam-usage")[1] == ["0", "0", "IPv4Flow", "8192", "0", "8192"]


def test_what_does_not_fit_is_left_out_and_logged(box: Force10E300) -> None:
    said(box, layer2(500))
    status = [row[5] for row in rows(box, "test cam-usage service-policy input IN linecard all")]
    assert status == ["Exception", "Exception"]
    assert said(box, "interface gi 0/0\nservice-policy input IN layer2") == []
    queues = [
        one.queue for one in box.offer("gi0/0", "gi0/1", [Packets(1, 100, cos=5), Packets(1, 100, cos=1)], 1.0)
    ]
    assert queues == ["5", "0"]
    logged = box.new_shell("a").feed("show logging").text.splitlines()
    assert len(logged) == 1
    assert logged[0].endswith(
        "%EX2YD:0 %DIFFSERV-2-DSA_QOS_CAM_INSTALL_FAILED: Not enough space in L2 Cam(L2ACL)"
        " for class 3 (Gi 0/0) entries on portpipe 0 for linecard 0"
    )
    said(box, "mac access-list extended LONG\nno seq 5\nno seq 10\nno seq 15")
    assert box.offer("gi0/0", "gi0/1", [Packets(1, 100, cos=1)], 1.0)[0].queue == "3"
    assert box.new_shell("a").feed("show logging").text.splitlines() == logged
    said(box, "class-map match-any BIG layer2\nmatch mac dot1p 1,2,3,4")
    said(box, "mac access-list extended LONG\npermit any any")
    assert len(box.new_shell("a").feed("show logging").text.splitlines()) == 2
