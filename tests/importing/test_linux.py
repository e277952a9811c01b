"""Configurations of Linux routers, imported and compiled again."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.plan.early_drop import Red
from qosforge.plan.model import Plan
from qosforge.platforms.base import platform

from .support import compiled_again, imported, told

BURSTS = "burst 1600b cburst 1600b"
MINE = """\
modprobe sch_htb
modprobe sch_red
ip link set dev wan0 up
tc qdisc replace dev wan0 root handle 1: htb default 0x11 r2q 10
tc class add dev wan0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit burst 1600b cburst 1600b
tc class add dev wan0 parent 1:1 classid 1:10 htb prio 1 rate 3mbit ceil 10mbit {bursts} quantum 1600
tc qdisc add dev wan0 parent 1:10 handle 10: {red} bandwidth 3000000bit
tc class add dev wan0 parent 1:1 classid 1:11 htb prio 1 rate 7mbit ceil 10mbit {bursts} quantum 3733
tc qdisc add dev wan0 parent 1:11 handle 11: pfifo limit 64
nft add table inet qosforge
nft add chain inet qosforge output {{ type filter hook postrouting priority mangle ; policy accept ; }}
nft add chain inet qosforge out/wan0/web
nft add chain inet qosforge out/wan0
nft add rule inet qosforge output oifname "wan0" jump out/wan0 comment "1"
nft add rule inet qosforge out/wan0/web counter comment "1"
nft add rule inet qosforge out/wan0/web meta priority set 1:10 comment "2"
nft add rule inet qosforge out/wan0 {match} goto out/wan0/web comment "1"
"""


def early(plan: Plan) -> tuple[Red | None, int | None]:
    """Early detection of the first class of the output, and its limit (bytes)."""
    scheduler = plan.interfaces[0].egress.scheduler
    assert scheduler is not None
    return scheduler.queues[0].red, scheduler.queues[0].limit_bytes


@pytest.mark.parametrize(
    "red",
    [
        "red limit 180000b min 15000b max 45000b avpkt 10000b burst 5 probability 0.5",
        "red limit 100000b min 15000b max 45000b avpkt 10000b burst 5 probability 0.1",
    ],
)
@pytest.mark.parametrize("match", ["ip dscp 18", "ip saddr 192.0.2.0/24"])
def test_the_thresholds_of_early_detection_are_those_of_the_intent(red: str, match: str, tmp_path: Path) -> None:
    text = MINE.format(red=red, match=match, bursts=BURSTS)
    held = platform("linux_tc").parse(text, "box", "")
    assert held.unknown == ()
    assert early(held)[0] is not None
    found = imported(text)
    assert [text for text in told(found) if ".red" in text or "limit" in text or "share" in text] == []
    (made,) = compiled_again(found, tmp_path)
    assert early(made.plan) == early(held)


@pytest.mark.parametrize(
    ("rate", "port"),
    [
        ("10mbit", "{rate: 1 Gb/s, contracted: 10 Mb/s}"),
        ("1gbit", "{rate: 1 Gb/s}"),
        ("2gbit", "{rate: 2 Gb/s}"),
    ],
)
def test_what_a_tree_sends_at_most_is_the_contracted_rate_of_its_port(rate: str, port: str, tmp_path: Path) -> None:
    """A tree holds its port at the rate of the link, whatever the port itself has."""
    red = "red limit 180000b min 15000b max 45000b avpkt 10000b burst 5 probability 0.5"
    text = MINE.format(red=red, match="ip saddr 192.0.2.0/24", bursts=BURSTS)
    text = text.replace("rate 10mbit ceil 10mbit", f"rate {rate} ceil {rate}").replace(
        "ceil 10mbit", f"ceil {rate}"
    )
    found = imported(text)
    assert f"wan0: {port}\n" in found.files["hosts.yaml"]
    assert [words for words in told(found) if "shape_rate" in words] == []
    (made,) = compiled_again(found, tmp_path)
    held = platform("linux_tc").parse(text, "box", "").interfaces[0].egress
    assert made.plan.interfaces[0].egress.shape_rate == held.shape_rate


BY_MARK = """\
modprobe sch_htb
modprobe sch_gred
ip link set dev wan0 up
tc qdisc replace dev wan0 root handle 1: htb default 0x11 r2q 10
tc class add dev wan0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit {bursts}
tc class add dev wan0 parent 1:1 classid 1:10 htb prio 1 rate 3mbit ceil 10mbit {bursts} quantum 1600
tc qdisc add dev wan0 parent 1:10 handle 10: gred setup DPs 3 default 1 grio limit 240000b
tc qdisc change dev wan0 parent 1:10 handle 10: gred limit 240000b min 20000b max 60000b avpkt 1000b burst 27 \
probability 0.1 bandwidth 3000000bit DP 1 prio 1
tc qdisc change dev wan0 parent 1:10 handle 10: gred limit 240000b min 10000b max 40000b avpkt 1000b burst 17 \
probability 0.2 bandwidth 3000000bit DP 2 prio 1
tc class add dev wan0 parent 1:1 classid 1:11 htb prio 1 rate 7mbit ceil 10mbit {bursts} quantum 3733
tc qdisc add dev wan0 parent 1:11 handle 11: pfifo limit 64
tc qdisc replace dev wan0 clsact
tc filter replace dev wan0 egress protocol ip pref 65001 handle 0x13 flower ip_tos 0x48/0xfc classid :1
tc filter replace dev wan0 egress protocol ip pref 65001 handle 0x15 flower ip_tos 0x50/0xfc classid :2
tc filter replace dev wan0 egress protocol ipv6 pref 65002 handle 0x13 flower ip_tos 0x48/0xfc classid :1
tc filter replace dev wan0 egress protocol ipv6 pref 65002 handle 0x15 flower ip_tos 0x50/0xfc classid :2
nft add table inet qosforge
nft add chain inet qosforge output {{ type filter hook postrouting priority mangle ; policy accept ; }}
nft add chain inet qosforge out/wan0/web
nft add chain inet qosforge out/wan0
nft add rule inet qosforge output oifname "wan0" jump out/wan0 comment "1"
nft add rule inet qosforge out/wan0/web counter comment "1"
nft add rule inet qosforge out/wan0/web meta priority set 1:10 comment "2"
nft add rule inet qosforge out/wan0 ip dscp 18 goto out/wan0/web comment "1"
nft add rule inet qosforge out/wan0 ip6 dscp 18 goto out/wan0/web comment "2"
nft add rule inet qosforge out/wan0 ip dscp 20 goto out/wan0/web comment "3"
nft add rule inet qosforge out/wan0 ip6 dscp 20 goto out/wan0/web comment "4"
"""


def test_thresholds_of_each_mark_are_those_of_the_intent(tmp_path: Path) -> None:
    text = BY_MARK.format(bursts=BURSTS)
    held = platform("linux_tc").parse(text, "box", "")
    assert held.unknown == ()
    red, limit = early(held)
    assert red is not None
    assert [(p.dscp, p.minimum) for p in red.profiles] == [((18,), 20_000), ((20,), 10_000)]
    found = imported(text)
    assert [text for text in told(found) if ".red" in text or "limit" in text or "share" in text] == []
    (made,) = compiled_again(found, tmp_path)
    assert early(made.plan) == (red, limit)
