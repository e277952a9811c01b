"""A NetBox on the loopback: it answers the lists that are read as a real one does, from records of a real one.

``netbox_4_7_3.json`` holds the answers of a NetBox 4.7.3 to ``GET /api/<list>/?limit=1000``. It was filled with the
campus that ships; circuits, a patch panel, a server, a stack of two and a breakout cable were added. Statuses and
texts of refusals are those that it gave.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

RECORDED = Path(__file__).with_name("netbox_4_7_3.json")
TOKEN = "nbt_Rec0rdedKey1.notInAnyOutputNorLogNorFile0123456789"
Records = dict[str, list[dict[str, Any]]]
_HOME = "http://127.0.0.1:8799"
"""Where the recorded NetBox was."""
_FILTERS: dict[str, dict[str, Callable[[dict[str, Any]], Any]]] = {
    "dcim/devices": {
        "id": lambda record: str(record["id"]),
        "name": lambda record: record["name"],
        "site": lambda record: record["site"]["slug"],
        "role": lambda record: (record.get("role") or record["device_role"])["slug"],
        "platform": lambda record: (record["platform"] or {}).get("slug"),
        "status": lambda record: record["status"]["value"],
        "tag": lambda record: [tag["slug"] for tag in record["tags"]],
    },
    "dcim/interfaces": {"device_id": lambda record: str(record["device"]["id"])},
    "circuits/circuits": {"id": lambda record: str(record["id"])},
    "circuits/circuit-terminations": {"id": lambda record: str(record["id"])},
}
_CHOICES = frozenset({"site", "role", "platform", "status", "tag"})
"""Filters whose values NetBox checks against what it has."""


def recorded() -> Records:
    """The recorded answers, to be changed at will."""
    records: Records = json.loads(RECORDED.read_text(encoding="utf-8"))
    return records


class NetBoxServer:
    """A running server; ``requests`` are the paths that were asked for, with their parameters."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.version = "4.7"
        self.max_page = 1000
        self.requests: list[str] = []
        self.authorizations: set[str | None] = set()
        self.answer: Callable[[str], tuple[int, dict[str, str], bytes] | None] = lambda _path: None
        """What is answered instead, by the path."""
        self.url = ""

    def respond(self, target: str, authorization: str | None) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer to a request."""
        self.requests.append(target)
        self.authorizations.add(authorization)
        instead = self.answer(target)
        if instead is not None:
            return instead
        parts = urlsplit(target)
        if authorization not in (f"Token {TOKEN}", f"Bearer {TOKEN}"):
            return self._json(403, {"detail": "Invalid v2 token"})
        if parts.path == "/api/":
            return self._json(200, {"dcim": f"{self.url}/api/dcim/"})
        name = parts.path.removeprefix("/api/").strip("/")
        if name not in self.records:
            return 404, {"Content-Type": "text/html"}, b"<h1>Page Not Found</h1>"
        return self._list(name, parts.path, parse_qs(parts.query))

    def _list(self, name: str, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        found = self.records[name]
        for parameter, values in query.items():
            key = _FILTERS[name].get(parameter)
            if key is None:
                continue  # as NetBox does: a filter that it does not know is no filter
            known = {one for record in self.records[name] for one in _each(key(record))}
            for value in values:
                if parameter in _CHOICES and value not in known:
                    text = f"Select a valid choice. {value} is not one of the available choices."
                    return self._json(400, {parameter: [text]})
            found = [record for record in found if set(_each(key(record))) & set(values)]
        limit = min(int(query.get("limit", ["50"])[0]) or self.max_page, self.max_page)
        offset = int(query.get("offset", ["0"])[0])
        following = None
        if offset + limit < len(found):
            words = {**query, "limit": [str(limit)], "offset": [str(offset + limit)]}
            following = f"{self.url}{path}?{urlencode(words, doseq=True)}"
        page = found[offset : offset + limit]
        return self._json(200, {"count": len(found), "next": following, "previous": None, "results": page})

    def _json(self, status: int, body: Any) -> tuple[int, dict[str, str], bytes]:
        text = json.dumps(body).replace(_HOME, self.url)
        return status, {"Content-Type": "application/json", "API-Version": self.version}, text.encode()


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@contextmanager
def serving(records: Records, certificate: Path | None = None) -> Iterator[NetBoxServer]:
    """A NetBox with these records, on a port of its own; with TLS where a certificate (and its key) is given."""
    state = NetBoxServer(records)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = state.respond(self.path, self.headers["Authorization"])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_words: object) -> None:
            pass  # a client that does not trust the certificate goes

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    state.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
