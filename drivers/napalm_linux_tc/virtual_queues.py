"""Which virtual queue of ``gred`` packets are in: filters of ``flower`` at the output, by DSCP.

What is left that writes the ``tc_index`` of a packet, where kernels have no ``dsmark`` any more, are filters of
``clsact``: the minor number of the class that one gives a packet becomes its ``tc_index`` (``tc_run`` in
net/core/dev.c, ``sch_handle_egress`` before Linux 6.6). They are looked at behind all rules of ``nft``, so that
packets have the marks that they leave with, and before the queues of the interface.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from napalm_linux_tc.answers import read_list, understood, whole

FILTERS = "tc -j filter show egress dev"
"""What a router is asked, with an interface behind it."""
PREFERENCES = {"ip": 65001, "ipv6": 65002}
"""Behind filters of others, which are entered with 49152 and less where they do not say: these go on working."""
_KEYS = {"eth_type", "ip_tos", "ip_tos_mask"}
MASK = "0xfc"
"""Of the byte that has the DSCP: the other two bits are those of ECN."""
HOLDER = "clsact"
INPUT = "ingress"
"""What others may have in place of that, for what comes in alone: both have the handle ffff:, so that the kernel
takes the second of them for a change of the first, and refuses it (``tc_modify_qdisc`` in net/sched/sch_api.c)."""


def holder_words(dev: str) -> str:
    """The command that an interface has filters with; it leaves those that are there."""
    return f"tc qdisc replace dev {dev} {HOLDER}"


def input_words(dev: str) -> str:
    """The line that tells of an interface where filters for what comes in leave no place for ours."""
    return f"tc qdisc replace dev {dev} {INPUT}"


def is_of_others(line: str) -> bool:
    """Whether a line is there to be known alone: what it tells of is others', and more than it says."""
    return line.startswith("tc qdisc replace ") and line.split()[5:] == [INPUT]


def filter_words(dev: str, protocol: str, dscp: int, number: int) -> str:
    """The command that directs packets of a DSCP to a virtual queue; each DSCP has a handle of its own."""
    place = f"protocol {protocol} pref {PREFERENCES[protocol]} handle 0x{dscp + 1:x}"
    return f"tc filter replace dev {dev} egress {place} flower ip_tos 0x{dscp << 2:x}/{MASK} classid :{number:x}"


def clear_words(dev: str, protocol: str) -> str:
    """The command that takes all filters of a protocol away that are ours."""
    return f"tc filter del dev {dev} egress pref {PREFERENCES[protocol]}"


def shown_filters(dev: str, shown: str) -> Iterator[str]:
    """The commands that enter our filters of an interface, by what ``tc -j filter show`` says.

    Raises:
        AnswerError: that is not what the program prints, a `ValueError`.
    """
    command = f"{FILTERS} {dev}"
    with understood(command):
        ours = [
            each
            for each in read_list(shown or "[]", command)
            if each["pref"] in PREFERENCES.values() and "options" in each
        ]
        words = [_filter(dev, each) for each in ours]
        if any(words):
            yield holder_words(dev)
        yield from (known or _other(dev, each) for known, each in zip(words, ours, strict=True))


def _other(dev: str, each: Mapping[str, Any]) -> str:
    """A filter that these words do not enter, kept as JSON; `clear_words` take away what is in no other chain."""
    chain = f"chain {whole(each['chain'])} " if each.get("chain", 0) != 0 else ""
    said = json.dumps(each, separators=(",", ":"), sort_keys=True)
    return f"tc filter add dev {dev} egress {chain}pref {each['pref']} {said}"


def _filter(dev: str, each: Mapping[str, Any]) -> str:
    """The command of a filter; "" where it is none of these."""
    options, protocol = each["options"], each["protocol"]
    keys = options.get("keys", {})
    number = str(options.get("classid", "")).removeprefix(":")
    if each["kind"] != "flower" or PREFERENCES.get(protocol) != each["pref"] or set(keys) != _KEYS:
        return ""
    if each.get("chain", 0) != 0:  # looked at where another filter goes on to it alone
        return ""
    if "actions" in options or int(str(keys["ip_tos_mask"]), 16) != int(MASK, 16) or not number.isalnum():
        return ""
    words = filter_words(dev, protocol, whole(keys["ip_tos"]) >> 2, int(number, 16))
    return words if whole(options["handle"]) == (whole(keys["ip_tos"]) >> 2) + 1 else ""
