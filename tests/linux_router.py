"""A Linux router of namespaces for tests: a real kernel that takes commands, and what it shows of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from napalm_linux_tc.schedulers import known, look
from napalm_linux_tc.shown import filtered, kinds, shown_lines, trees
from napalm_linux_tc.virtual_queues import FILTERS

from qoslab.routers.host import Host

PORTS = ("lan0", "wan0")
"""The ports of a router that nothing else is said of."""


def cabled(host: Host, far: Host, ports: Iterable[str]) -> None:
    """Start a host with these ports, whose far ends are in another one."""
    host.start()
    far.start()
    for number, port in enumerate(ports):
        host.plug(port, far, f"far{number}")
        host.run("ip", "link", "set", port, "up")
        far.run("ip", "link", "set", f"far{number}", "up")


@contextmanager
def linux_router(folder: Path, ports: Iterable[str]) -> Iterator[Host]:
    """A host with these ports, whose far ends are in another one."""
    host, far = Host("router", folder / "router"), Host("far", folder / "far")
    try:
        cabled(host, far, ports)
        yield host
    finally:
        host.stop()
        far.stop()


def enter(host: Host, lines: Iterable[str]) -> None:
    """Enter commands of tc and nft; others are left out."""
    held = tuple(lines)
    for program, command in (("tc", ("tc", "-batch", "-")), ("nft", ("nft", "-f", "-"))):
        own = [line.removeprefix(f"{program} ") for line in held if line.startswith(f"{program} ")]
        if own:
            host.run(*command, data="\n".join(own) + "\n")


def held(host: Host) -> tuple[str, ...]:
    """What the kernel has and holds, as the commands that would enter it."""
    qdiscs = host.run("tc", "-d", "-j", "qdisc", "show")
    in_use = kinds(qdiscs)
    schedulers = known(host.run("sh", "-c", look(in_use)), in_use)
    rules = host.run("sh", "-c", "nft -j -nn list table inet qosforge 2>/dev/null || true")
    classes = {dev: host.run("tc", "-d", "class", "show", "dev", dev) for dev in trees(qdiscs)}
    filters = {dev: host.run(*FILTERS.split(), dev) for dev in filtered(qdiscs)}
    return (*schedulers, *shown_lines(host.run("ip", "-j", "link", "show"), qdiscs, classes, rules, filters))
