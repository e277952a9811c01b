"""Differences of configurations as people read them: what goes, what comes, and where."""

from __future__ import annotations

from qosforge.configtree import difference, headings_only
from qosforge.configtree.difference import MOST_IN_ORDER
from qosforge.platforms.base import platform

IOS = platform("cisco_ios").grammar

BEFORE = """\
hostname r1
class-map match-any voice
 match ip dscp ef
 match ip dscp af41
policy-map OUT
 class voice
  priority percent 50
 class web
  bandwidth remaining percent 70
 class bulk
  bandwidth remaining percent 10
 class class-default
  fair-queue
interface Serial0/0
 description to the branch
 ip address 10.0.0.1 255.255.255.0
 service-policy output OUT
"""


def compared(before: str, after: str) -> list[str]:
    """The lines of a difference on IOS."""
    return list(difference(IOS.parse(before), IOS.parse(after), IOS))


def test_texts_that_are_alike_have_no_difference() -> None:
    assert compared(BEFORE, BEFORE) == []


def test_a_changed_value_is_its_old_line_and_its_new_one_below_its_headings() -> None:
    after = BEFORE.replace("priority percent 50", "priority percent 40")
    assert compared(BEFORE, after) == [
        " policy-map OUT",
        "  class voice",
        "-  priority percent 50",
        "+  priority percent 40",
        "  class web",
        "  class bulk",
    ]


def test_an_order_that_does_not_count_is_no_difference() -> None:
    policy = " service-policy output OUT\n"
    before = BEFORE + " ip rtp header-compression iphc-format\n"
    after = before.replace(policy, "") + policy
    assert compared(before, after) == []
    other = after.replace("percent 50", "percent 40")
    assert [line for line in compared(before, other) if line[0] != " "] == [
        "-  priority percent 50",
        "+  priority percent 40",
    ]


def test_the_order_of_classes_counts() -> None:
    web = " class web\n  bandwidth remaining percent 70\n"
    after = BEFORE.replace(web, "").replace(" class class-default", web + " class class-default")
    assert {line.strip("+- ") for line in compared(BEFORE, after) if line[0] != " "} in (
        {"class web", "bandwidth remaining percent 70"},
        {"class bulk", "bandwidth remaining percent 10"},
    )


def test_what_comes_and_goes_is_whole() -> None:
    after = BEFORE.replace(" class bulk\n  bandwidth remaining percent 10\n", "").replace(
        "policy-map OUT", "policy-map OUT2"
    )
    found = compared(BEFORE, after.replace("output OUT", "output OUT2"))
    assert [line for line in found if line.startswith("-")][:3] == [
        "-policy-map OUT",
        "- class voice",
        "-  priority percent 50",
    ]
    assert "-  bandwidth remaining percent 10" in found
    assert "+  bandwidth remaining percent 10" not in found
    assert found[found.index("- service-policy output OUT") :] == [
        "- service-policy output OUT",
        "+ service-policy output OUT2",
    ]


def test_lines_of_others_are_in_no_difference() -> None:
    after = BEFORE.replace("to the branch", "to nowhere").replace("hostname r1", "hostname r2")
    assert compared(BEFORE, after) == []


def test_nothing_has_no_headings() -> None:
    assert headings_only(()) == ()


def test_headings_alone_leave_out_what_stays_beside_a_change() -> None:
    after = BEFORE.replace("priority percent 50", "priority percent 40")
    assert headings_only(compared(BEFORE, after)) == (
        " policy-map OUT",
        "  class voice",
        "-  priority percent 50",
        "+  priority percent 40",
    )


def test_many_lines_are_compared_without_their_order() -> None:
    lines = [f" permit udp any any eq {port}\n" for port in range(MOST_IN_ORDER + 1)]
    before = "ip access-list extended QOSFORGE-x\n" + "".join(lines)
    after = before.replace(" permit udp", " permit tcp")
    found = compared(before, after)
    assert found[:2] == [" ip access-list extended QOSFORGE-x", "- permit udp any any eq 0"]
    assert found[-1] == f"+ permit tcp any any eq {MOST_IN_ORDER}"
    assert len(found) == 2 * len(lines) + 1
