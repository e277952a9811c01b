"""A Linux router of namespaces for tests: a real kernel that takes commands, and what it shows of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from napalm_linux_tc import reading

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
    answers = reading.answered(host.run("sh", "-c", reading.script(schedulers=True)))
    return (*reading.told_schedulers(answers), *reading.held_lines(answers))
