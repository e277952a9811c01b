"""MGEN, the Multi-Generator of the Naval Research Laboratory: scripts from a plan, and its logs read.

Written for release 5.02 by its user's guide: one script for all flows that a host sends, one for what it receives.
The logs say of each packet when it was sent (``SEND``, with ``txlog``) and when it came (``RECV``, with ``sent>``),
in microseconds, without a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from qosforge.errors import TesterError
from qosforge.tester.measurement_plan import PlannedFlow

RESOLUTION_PS = 1_000_000
"""A microsecond: moments are cut to it, so that a delay is right to one, either way."""

_LEAST_PAYLOAD = {4: 28, 6: 40}
_MOST_PAYLOAD = 8_192
_HEADERS = {4: 28, 6: 48}
_DAY_US = 86_400 * 10**6
_LINE = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{6}) (SEND|RECV|START)\b(.*)")
_FIELD = re.compile(r"(\w+)>(\S+)")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{6})")


def send_words(flows: Mapping[int, PlannedFlow], phases: Mapping[int, float], end: float) -> list[str]:
    """The command of a host's sender, its script by events: each flow, by its MGEN number, from its phase (in
    seconds) to the end.

    Raises:
        TesterError: MGEN cannot send a flow as it is described.
    """
    words = ["mgen", "flush", "txlog"]
    for number, flow in flows.items():
        begin = flow.described.start + phases[number]
        ends = f"SRC {flow.source_port} DST {flow.target.address}/{flow.described.dst_port}"
        pattern = f"{_pattern(flow)} TOS 0x{flow.described.dscp << 2:02x}"
        words += ["event", f"{begin:.6f} ON {number} UDP {ends} {pattern}", "event", f"{end:.6f} OFF {number}"]
    return words


def receive_words(flows: Iterable[PlannedFlow]) -> list[str]:
    """The command of a host's receiver, which listens until it is ended."""
    ports = ",".join(str(port) for port in sorted({flow.described.dst_port for flow in flows}))
    return ["mgen", "flush", "event", f"0.0 LISTEN UDP {ports}"]


def _pattern(flow: PlannedFlow) -> str:
    source = flow.described.source
    kinds = {"cbr": "PERIODIC", "poisson": "POISSON"}
    if source.kind not in kinds:
        raise TesterError(
            f"flow {flow.name}: MGEN sends no {source.kind} as it is described",
            hint="describe it as cbr or poisson, or measure with the twin",
        )
    version = ip_address(flow.target.address).version
    payload = source.ip_bytes - _HEADERS[version]
    if not _LEAST_PAYLOAD[version] <= payload <= _MOST_PAYLOAD:
        least, most = (size + _HEADERS[version] for size in (_LEAST_PAYLOAD[version], _MOST_PAYLOAD))
        raise TesterError(
            f"flow {flow.name}: MGEN sends IPv{version} packets of {least} to {most} bytes, not {source.ip_bytes}",
            hint="describe the flow with such packets",
        )
    rate = (source.rate or 0) / (source.ip_bytes * 8)
    return f"{kinds[source.kind]} [{rate:.6f} {payload}]"


@dataclass(frozen=True, slots=True)
class SentLog:
    """What a sender says: microseconds of its start and of every packet by flow, which go on past midnight."""

    start_us: int
    packets: Mapping[int, tuple[tuple[int, int], ...]]
    """By flow, sequence numbers with the moments at which they were sent, in the order of sending."""


@dataclass(frozen=True, slots=True)
class ReceivedLog:
    """What a receiver says: the delay in microseconds of each packet, and the order in which they came, by flow."""

    delays: Mapping[int, Mapping[int, int]]
    order: Mapping[int, tuple[int, ...]]
    copies: int


def read_sent(text: str) -> SentLog:
    """Read the log of a sender with ``txlog``.

    Raises:
        TesterError: it has no beginning.
    """
    start: int | None = None
    packets: dict[int, list[tuple[int, int]]] = {}
    before = days = 0
    for clock, what, fields in _lines(text):
        # A log has no dates, and goes on in time: what lies half a day back is of the next day.
        if clock + days < before - _DAY_US // 2:
            days += _DAY_US
        moment = clock + days
        before = max(before, moment)
        if what == "START":
            start = moment if start is None else start
        elif what == "SEND" and {"flow", "seq"} <= fields.keys():
            packets.setdefault(int(fields["flow"]), []).append((int(fields["seq"]), moment))
    if start is None:
        raise TesterError("MGEN's log has no START: it did not run", hint="look what it says on that host")
    return SentLog(start, {flow: tuple(entries) for flow, entries in packets.items()})


def lags_ps(sent: Mapping[str, SentLog]) -> dict[str, int]:
    """How long before the last of some senders each one started, in picoseconds, by the one clock of all."""
    one = next((log.start_us for log in sent.values()), 0)
    # Logs have no dates: all started within half a day of any of them.
    since = {name: (log.start_us - one + _DAY_US // 2) % _DAY_US - _DAY_US // 2 for name, log in sent.items()}
    last = max(since.values(), default=0)
    return {name: (last - at) * RESOLUTION_PS for name, at in since.items()}


def read_received(text: str, names: Sequence[int]) -> ReceivedLog:
    """Read the log of a receiver; packets of other flows than ``names`` are somebody else's."""
    known = frozenset(names)
    delays: dict[int, dict[int, int]] = {name: {} for name in names}
    order: dict[int, list[int]] = {name: [] for name in names}
    copies = 0
    for moment, what, fields in _lines(text):
        if what != "RECV" or not {"flow", "seq", "sent"} <= fields.keys() or int(fields["flow"]) not in known:
            continue
        sent = _TIME.fullmatch(fields["sent"])
        if sent is None:
            continue
        flow, sequence = int(fields["flow"]), int(fields["seq"])
        if sequence in delays[flow]:
            copies += 1
            continue
        # Midnight may lie between sending and receiving: the difference is that of the same half day.
        delays[flow][sequence] = (moment - _us(sent) + _DAY_US // 2) % _DAY_US - _DAY_US // 2
        order[flow].append(sequence)
    return ReceivedLog(delays, {flow: tuple(came) for flow, came in order.items()}, copies)


def _lines(text: str) -> Iterable[tuple[int, str, dict[str, str]]]:
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is not None:
            yield _us(found), found[5], dict(_FIELD.findall(found[6]))


def _us(found: re.Match[str]) -> int:
    hours, minutes, seconds, us = (int(found[group]) for group in range(1, 5))
    return ((hours * 60 + minutes) * 60 + seconds) * 10**6 + us
