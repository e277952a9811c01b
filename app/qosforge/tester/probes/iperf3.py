"""iperf3, for TCP that sends all it can: its commands, and its report read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.errors import TesterError
from qosforge.tester.measurement_plan import PlannedFlow
from qosforge.tester.scenario.traffic import TCP_HEADERS


@dataclass(frozen=True, slots=True)
class TcpStream:
    """What one connection did in the seconds that were measured, in segments of ``ip_bytes`` with their headers.

    Segments are reckoned from bytes; ``lost`` are those that the sender's kernel sent again, also where the first
    one was only late. There is no delay of single packets.
    """

    delivered: int
    lost: int
    ip_bytes: int
    seconds: float

    @property
    def throughput_bps(self) -> int:
        """IP bits a second that arrived."""
        return round(self.delivered * self.ip_bytes * 8 / self.seconds)

    @property
    def offered_bps(self) -> int:
        """IP bits a second that were sent."""
        return round((self.delivered + self.lost) * self.ip_bytes * 8 / self.seconds)


def server_words(address: str, port: int) -> list[str]:
    """A server for one test."""
    return ["iperf3", "--server", "--one-off", "--forceflush", "--bind", address, "--port", str(port)]


def client_words(flows: Sequence[PlannedFlow], seconds: float, warm_up: float, start: int = 0) -> list[str]:
    """A client with a connection for each of the flows that are described as one.

    Those of each ``start`` have ports of their own: where one was closed its port is held for a minute.
    """
    first = flows[0]
    source, target = first.source.address, first.target.address
    ports = (first.described.src_port + start * len(flows), first.described.dst_port)
    return [
        *("iperf3", "--client", target, "--port", str(ports[1]), "--bind", source, "--cport", str(ports[0])),
        *("--parallel", str(len(flows)), "--tos", str(first.described.dscp << 2), "--time", f"{seconds:.0f}"),
        *("--omit", f"{warm_up:.0f}", "--json"),
    ]


def read_report(text: str, streams: int) -> list[TcpStream]:
    """The connections of a client's report.

    Raises:
        TesterError: it failed, or says something else than iperf3 does.
    """
    try:
        report: dict[str, Any] = dict(json.loads(text))
        if report.get("error"):
            raise TesterError(f"iperf3 fails: {report['error']}", hint="look whether the way is open for it")
        mss = int(report["start"].get("tcp_mss") or report["start"]["tcp_mss_default"])
        found = []
        for entry in report["end"]["streams"]:
            sender, receiver = entry["sender"], entry["receiver"]
            delivered = -(-int(receiver["bytes"]) // mss)
            found.append(
                TcpStream(delivered, int(sender["retransmits"]), mss + TCP_HEADERS, float(sender["seconds"]))
            )
    except (ValueError, KeyError, TypeError) as error:
        raise TesterError(f"iperf3 gives no report that can be read: {error!r}") from None
    if len(found) != streams:
        raise TesterError(f"iperf3 tells of {len(found)} connections, and {streams} were meant")
    return found
