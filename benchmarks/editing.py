"""The policy editor over HTTP: its preview of texts that nobody has seen yet, and the bytes of pages."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.serving import serve, viewer_token
from benchmarks.timing import Percentiles, Ratio, Size, percentiles
from qosforge.artifacts.store import open_artifacts
from qosforge.device_state.last_known import store_readings
from qosforge.inventory.loader import load_network
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings

NETWORK = "campus"
P95_MOST_MS = 150.0
MOST_KB = 150.0

_POLICY = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
_LOADED = re.compile(r'<(?:script|link)[^>]*? (?:src|href)="(/[^"]+)"')
_ASKED = ("GET", "/login", b"", "text/html")

Ask = Callable[[str, str, bytes, str], bytes]


def measure() -> Iterator[Percentiles | Ratio | Size]:
    """The preview of nine devices against what they held, each time of another text, by one client."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(var_dir=Path(scratch) / "var")
        settings.make_var_dir()
        _read_once(settings)
        with serve(settings, Path(scratch) / "log") as port:
            ask = _asking(port, viewer_token(settings))
            fresh = _texts()
            for _ in range(8):  # both processes have read data and templates
                _preview(ask, next(fresh))
                _compile(ask, next(fresh))
            empty = percentiles(lambda: ask(*_ASKED))
            yield Percentiles("baseline: GET /login", *empty)
            compiled = percentiles(lambda: _compile(ask, next(fresh)))
            yield Percentiles("baseline: POST /api/v1/compile, a text never seen", *compiled)
            shown = percentiles(lambda: _preview(ask, next(fresh)))
            yield Percentiles("editor: preview of a text never seen", *shown, p95_at_most=P95_MOST_MS)
            yield Ratio("editor: preview / compile", shown[0] / 1e3, compiled[0] / 1e3)
            for name, path, most in (
                ("login", "/login", MOST_KB),
                ("first page", "/", MOST_KB),
                ("editor", "/policies/campus-collaboration/edit?network=campus", None),
            ):
                yield Size(f"{name} with all that it loads", _count_bytes(ask, path) / 1e3, most)


def _read_once(settings: Settings) -> None:
    """Let the devices have been read as they start."""
    folder = root() / "inventories" / NETWORK
    network = load_network(folder)
    texts = {
        d.name: DeviceText(
            (folder / "startup" / f"{d.name}.cfg").read_text(encoding="utf-8"), DeviceWords(d.name, d.platform)
        )
        for d in network.devices
    }
    with closing(RunStore(settings.database_url)) as store:
        store_readings(store, open_artifacts(settings, store.database), network, texts, datetime.now(UTC))


def _texts() -> Iterator[str]:
    """The campus policy with other shares each time."""
    for priority, remaining in itertools.product(range(20, 50), range(10, 60)):
        text = _POLICY.replace("percent: 50", f"percent: {priority}", 1)
        yield text.replace("remaining_percent: 70", f"remaining_percent: {remaining}")


def _preview(ask: Ask, text: str) -> None:
    form = {"network": NETWORK, "text": text, "name": "campus.yaml"}
    page = ask("POST", "/preview", urlencode(form).encode(), "application/x-www-form-urlencoded")
    if b'id="preview-good"' not in page:
        raise RuntimeError(f"the text cannot be compiled: {page[:500]!r}")


def _compile(ask: Ask, text: str) -> None:
    order = {"network": NETWORK, "policy": {"text": text}}
    ask("POST", "/api/v1/compile", json.dumps(order).encode(), "application/json")


def _count_bytes(ask: Ask, path: str) -> int:
    """Bytes of the bodies of a page and of what it loads, as they are sent."""
    page = ask("GET", path, b"", "text/html")
    loaded = dict.fromkeys(_LOADED.findall(page.decode()))
    imported = [(name, ask("GET", name, b"", "text/html")) for name in loaded if name.startswith("/static/")]
    return len(page) + sum(len(body) for _, body in imported)


def _asking(port: int, token: str) -> Ask:
    """Asks over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "HX-Request": "true", "Accept-Encoding": "gzip"}

    def ask(method: str, path: str, body: bytes, kind: str) -> bytes:
        connection.request(method, path, body, {**headers, "Content-Type": kind})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}: {said[:500]!r}")
        return said

    return ask
