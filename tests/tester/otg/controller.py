"""A traffic generator over HTTP: it takes what snappi's models allow, and reckons what a line does to flows.

The line serves expedited packets first, in order of arrival within each of both kinds; its queue for the others is
bounded in bytes. What it tells follows from the configuration that it was sent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import snappi

EXPEDITED = 46


@dataclass
class Controller:
    """What it was asked, as snappi's models; ``queue_bytes`` wait before the line of ``line_bps``."""

    line_bps: float
    queue_bytes: float = 15_000
    url: str = ""
    config: Any = None
    states: list[str] = field(default_factory=list)
    looks: int = 0
    refuses: str = ""

    def answer(self, path: str, body: str) -> str:
        """The answer to a request; raises what snappi's models do where they do not allow it."""
        if self.refuses:
            raise ValueError(self.refuses)
        if path == "/config":
            self.config = snappi.Config()
            self.config.deserialize(body)
            return "{}"
        if path == "/control/state":
            change = snappi.ControlState()
            change.deserialize(body)
            part = getattr(change, change.choice)
            self.states.append(f"{change.choice} {getattr(part, part.choice).state}")
            return "{}"
        assert path == "/monitor/metrics"
        snappi.MetricsRequest().deserialize(body)
        self.looks += 1
        return str(self._metrics().serialize("json"))

    def _metrics(self) -> Any:
        response = snappi.MetricsResponse()
        response.choice = "flow_metrics"
        flows = list(self.config.flows)
        load = {flow.name: int(flow.rate.pps) * flow.size.fixed * 8 for flow in flows}
        urgent = sum(load[flow.name] for flow in flows if self._dscp(flow) == EXPEDITED)
        left = self.line_bps - urgent
        rest = sum(load.values()) - urgent
        for flow in flows:
            sent = int(flow.rate.pps) * int(flow.duration.fixed_seconds.seconds)
            own = flow.size.fixed * 8 / self.line_bps * 1e9
            late = self._dscp(flow) != EXPEDITED and rest > left
            metric = response.flow_metrics.add(name=flow.name, transmit="stopped" if self.looks > 1 else "started")
            metric.frames_tx = sent
            metric.frames_rx = int(sent * left / rest) if late else sent
            waiting = self.queue_bytes * 8 / left * 1e9 if late else 1514 * 8 / self.line_bps * 1e9
            metric.latency.minimum_ns, metric.latency.maximum_ns = own, own + waiting
            metric.latency.average_ns = own + waiting * (0.9 if late else 0.2)
        return response

    @staticmethod
    def _dscp(flow: Any) -> int:
        header = flow.packet[1]
        if hasattr(header, "traffic_class"):
            return int(header.traffic_class.value) >> 2
        return int(header.priority.dscp.phb.value)


@contextmanager
def controlling(line_bps: float, refuses: str = "") -> Iterator[Controller]:
    """The traffic generator, at a port of loopback."""
    controller = Controller(line_bps, refuses=refuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                code, text = 200, controller.answer(self.path, body)
            except Exception as error:  # noqa: BLE001 - what snappi says of a wrong body
                code, text = 400, f'{{"errors": ["{error}"]}}'
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        controller.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        try:
            yield controller
        finally:
            server.shutdown()
            serving.join()
