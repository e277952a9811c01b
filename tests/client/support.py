"""A service on loopback that answers as a test scripts it: for what a whole one does not do on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """What to answer; with ``breaks`` the connection ends before the announced length is sent."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    breaks: bool = False


def document(body: Any, status: int = 200, **headers: str) -> Answer:
    kind = "application/json" if status < 400 else "application/problem+json"
    return Answer(status, json.dumps(body).encode(), {"Content-Type": kind, **headers})


def stream(*parts: str, breaks: bool = False) -> Answer:
    return Answer(200, "".join(parts).encode(), {"Content-Type": "text/event-stream"}, breaks)


@contextmanager
def scripted(*answers: Answer | Callable[[Asked], Answer]) -> Iterator[tuple[str, list[Asked]]]:
    """Serve the answers in their order, the last one for ever; gives the address and what was asked."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            answer = answers[min(len(asked), len(answers)) - 1]
            made = answer(asked[-1]) if callable(answer) else answer
            self.send_response(made.status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(made.body) + (10 if made.breaks else 0)))
            self.end_headers()
            self.wfile.write(made.body)
            if made.breaks:
                self.close_connection = True

        do_GET = do_POST = _do  # noqa: N815  # names of the base class

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
