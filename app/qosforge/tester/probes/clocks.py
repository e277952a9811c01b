"""How far the clocks of two hosts lie apart: what their time services say, or what exchanges of packets show."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qosforge.inventory.probes import Clock
from qosforge.tester.probes.hosts import Host
from qosforge.tester.probes.irtt import client_words, clock_offset_ns, read_report, server_words

_PS = 10**12
_NS_PS = 1_000
_EXCHANGES_SECONDS = 0.5
_EXCHANGE_MS = 10.0
_SERVER_SECONDS = 10.0
_LOGIN_SECONDS = 1.0
"""What OpenSSH takes at most to log in to a host that answers at once; slow machines make keys, too."""
TOOLS: dict[Clock, str] = {"chrony": "chronyc", "ntp": "ntpq", "ptp": "pmc", "exchange": "irtt"}
"""The tool that each way takes on a host."""


@dataclass(frozen=True, slots=True)
class ClockDifference:
    """How far the receiver's clock is ahead of the sender's, and how wrong that may be, in picoseconds."""

    ahead_ps: int = 0
    error_ps: int = 0


def clock_difference(sender: Host, receiver: Host, address: str) -> ClockDifference:
    """The difference of two hosts' clocks now; ``address`` is the receiver's.

    Two namespaces of this machine have one clock. Where both hosts name a time service, its largest error is
    taken of each, and no delay corrected. Otherwise packets are exchanged.

    Raises:
        TesterError: a service does not say, or no packet comes back.
    """
    if sender.is_local and receiver.is_local:
        return ClockDifference()
    ways = (sender.described.clock, receiver.described.clock)
    if "exchange" not in ways:
        return ClockDifference(0, sum(round(largest_error(host) * _PS) for host in (sender, receiver)))
    server = receiver.start(server_words(address), _SERVER_SECONDS)
    try:
        server.await_lines("starting IPv", 1, "irtt")
        words = client_words(address, interval_ms=_EXCHANGE_MS, seconds=_EXCHANGES_SECONDS)
        ahead, error = clock_offset_ns(read_report(sender.output(words)))
    finally:
        server.end()
    return ClockDifference(ahead * _NS_PS, error * _NS_PS)


def comparing_seconds(sender: Host, receiver: Host) -> float:
    """About how long it takes to find the difference of two hosts' clocks once."""
    if sender.is_local and receiver.is_local:
        return 0.0
    logins = _LOGIN_SECONDS * sum(not host.is_local for host in (sender, receiver))
    exchanging = "exchange" in (sender.described.clock, receiver.described.clock)
    return logins + (_EXCHANGES_SECONDS if exchanging else 0.0)


def largest_error(host: Host) -> float:
    """The largest error, in seconds, that a host's time service knows of its clock.

    Raises:
        TesterError: it does not run, follows nothing, or says something else.
    """
    match host.described.clock:
        case "chrony":
            said = host.output(["chronyc", "-c", "tracking"])
        case "ntp":
            said = host.output(["ntpq", "-c", "rv 0 leap,offset,rootdelay,rootdisp"])
        case _:
            said = host.output(["pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET"])
    try:
        return READERS[host.described.clock](said)
    except (ValueError, LookupError):
        hint = "let the clock follow a source of time, or write clock: exchange"
        raise host.error(f"{TOOLS[host.described.clock]} does not say how far its clock is off", hint) from None


def read_chrony(said: str) -> float:
    """The error of ``chronyc -c tracking``: |offset| + root dispersion + half of the root delay (chronyc(1)).

    Raises:
        ValueError, IndexError: it is no such line, or the clock is not synchronised.
    """
    fields = said.strip().split(",")
    if fields[13] == "Not synchronised":
        raise ValueError(fields[13])
    offset, root_delay, root_dispersion = (float(fields[column]) for column in (4, 10, 11))
    return abs(offset) + root_dispersion + root_delay / 2


def read_ntp(said: str) -> float:
    """The error of ``ntpq -c rv``, whose figures are milliseconds: as chrony's (RFC 5905, section 11.2).

    Raises:
        ValueError, KeyError: it lacks a figure, or the clock is not synchronised.
    """
    values = dict(re.findall(r"(\w+)=([-+.\w]+)", said))
    if values.get("leap") in ("3", "11", "alarm"):
        raise ValueError("leap alarm")
    offset, root_delay, root_dispersion = (float(values[name]) for name in ("offset", "rootdelay", "rootdisp"))
    return (abs(offset) + root_dispersion + root_delay / 2) / 1e3


def read_ptp(said: str) -> float:
    """The error of ``pmc``'s CURRENT_DATA_SET, in nanoseconds: |offsetFromMaster| and all of the mean path delay,
    which no asymmetry exceeds.

    Raises:
        ValueError, KeyError: it lacks a figure.
    """
    values = dict(re.findall(r"(\w+)\s+([-+.\d]+)", said))
    return (abs(float(values["offsetFromMaster"])) + float(values["meanPathDelay"])) / 1e9


READERS = {"chrony": read_chrony, "ntp": read_ntp, "ptp": read_ptp}
