"""The lines of queues that devices size in packets, bytes or time: their lengths and early detection."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.commands import Change, Line
from qosforge.platforms.mqc.lines import Since, one

_UNITS = "{ms|us|bytes}"


def packet_queues(since: Since) -> Iterator[Line]:
    """Lengths of queues and early detection, counted in packets, bytes or time."""
    # The limit of a queue and its thresholds are in one unit: in time and bytes they go before others come.
    timed = Change(key="queue-limit", negate="no queue-limit", negate_before_change=True)
    yield Line("queue-limit", "queue-limit <1-64000000>:limit {bytes|ms}:unit", "class", change=timed)
    yield one(
        "queue-limit",
        "queue-limit <1-64000000>:limit [packets]:unit",
        key="queue-limit",
        negate="no queue-limit",
        also=("queue-limit REST",),
    )
    yield one(
        "fair-queue",
        "fair-queue [<16-4096>:flows]",
        key="fair-queue",
        negate="no fair-queue",
        also=("fair-queue REST",),
    )
    for based, feature in (("[prec-based]", ""), ("dscp-based:dscp", "red_by_dscp")):
        yield one("red", f"random-detect {based}", key="red", negate="no random-detect", since=since(feature))
    for mark in ("precedence <0-7>:precedence", "dscp DSCP:dscp"):
        limits = f"<0-999999999>:minimum {_UNITS}:unit <0-999999999>:maximum {_UNITS}:again [<1-65536>:denominator]"
        pattern = f"random-detect {{{mark}}}:what {limits}"
        change = Change(key="{what}", negate="no random-detect {what}", negate_before_change=True)
        yield Line("red-row", pattern, "class", change=change, since=since("red_units"))
    for mark, feature in (("precedence <0-7>:precedence", ""), ("dscp DSCP:dscp", "red_by_dscp")):
        yield one(
            "red-row",
            f"random-detect {{{mark}}}:what <0-999999999>:minimum <0-999999999>:maximum [<1-65536>:denominator]",
            key="{what}",
            negate="no random-detect {what}",
            since=since(feature),
            also=(f"random-detect {{{mark.split()[0]} WORD}}:what REST",),
        )
    for option, feature in (
        ("ecn:what", "ecn"),
        ("exponential-weighting-constant:what <1-16>:weight_exponent", ""),
    ):
        yield one("red-option", f"random-detect {option}", key="{what}", negate="no {line}", since=since(feature))
    yield one("red-option", "", key="{what}", negate="no {line}", also=("random-detect WORD:what [REST]",))
    yield one(
        "compression",
        "",
        key="compression",
        negate="no compression header ip",
        also=("compression header ip [REST]",),
    )
