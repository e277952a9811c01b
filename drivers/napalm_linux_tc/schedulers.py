"""The schedulers that a router's kernel has: each is tried in a network of its own."""

from __future__ import annotations

from collections.abc import Iterator

_TRIED = {
    "htb": "htb default 1",
    "hfsc": "hfsc default 1",
    "red": "red limit 60000b min 5000b max 15000b avpkt 1000b burst 8 probability 0.1 bandwidth 10mbit",
}
"""By scheduler, a queue of it that any kernel takes which has it."""
PROBE = "unshare --net sh -c '{}' 2>/dev/null || true".format(
    "; ".join(
        f"tc qdisc add dev lo root handle 1: {words} && echo {name} && tc qdisc del dev lo root"
        for name, words in _TRIED.items()
    )
)
"""Tells what the kernel takes on a loopback that nobody uses and that is gone with the command; a module that is
wanted is loaded for it, as it would be for the queue itself. Without ``unshare`` (util-linux, busybox) nothing is
told.
"""


def known(said: str) -> Iterator[str]:
    """The schedulers that a router tells of, as the commands that load their modules."""
    told = said.split()
    yield from (f"modprobe sch_{name}" for name in _TRIED if name in told)
