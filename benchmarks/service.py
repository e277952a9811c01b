"""Previews over HTTP from a served instance, beside the same work without a service and a request without work."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ruamel.yaml import YAML

from benchmarks.serving import serve, viewer_token
from benchmarks.timing import Median, Ratio, Throughput, median, percentiles
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.loader import load_network
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import compile_document
from qosforge.resources import root
from qosforge.settings import Settings

NETWORK = "campus-10"
CLIENTS = 16
TOGETHER = 320
"""Requests of all clients together."""
CROWDED, CROWDED_ROUTERS = "campus-many", 100
CROWD, CROWD_SECONDS = 12, 5.0
"""Clients of one caller with previews of a larger network, and how long they are at it before it is measured."""
MOST_MS, LEAST_PER_SECOND = 25.0, 100.0
_MARKS = ("cs2", "cs3", "cs4")
"""Marks that classes of the policy exchange."""

_TOP = (
    (root() / "policies" / "rfc4594-12.yaml").read_text(encoding="utf-8").replace("classes/rfc", "classes/own-rfc")
)
_CLASSES = (root() / "policies" / "classes" / "rfc4594-12.yaml").read_text(encoding="utf-8")


def measure() -> Iterator[Median | Ratio | Throughput]:
    """Previews of 12 classes for 10 devices: intents never seen and one that comes again, by 1 and 16 clients."""
    fresh = _intents()
    with tempfile.TemporaryDirectory() as scratch:
        yield Median("baseline: the same preview without a service", _alone(Path(scratch), fresh))
    with tempfile.TemporaryDirectory() as scratch, _serving(Path(scratch)) as (port, token, crowd):
        ask = _asking(port, token)
        for _ in range(8):  # both processes have read data and templates
            ask(_preview(next(fresh)))
        yield Median("baseline: GET /health", median(lambda: ask(None)))
        again = _preview(next(fresh))
        yield Median("preview never seen, 1 client", median(lambda: ask(_preview(next(fresh)))), MOST_MS)
        yield Median("preview that comes again, 1 client", median(lambda: ask(again)), MOST_MS)
        yield Throughput(f"baseline: GET /health, {CLIENTS} clients", _rate(port, token, lambda: None))
        yield Throughput(
            f"preview that comes again, {CLIENTS} clients", _rate(port, token, lambda: again), LEAST_PER_SECOND
        )
        lock = threading.Lock()

        def other_intent() -> PolicySource:
            with lock:
                return next(fresh)

        def other() -> bytes:
            return _preview(other_intent())

        yield Throughput(f"preview never seen, {CLIENTS} clients", _rate(port, token, other))
        ask = _asking(port, token)  # the first connection was idle for too long
        quiet = percentiles(lambda: ask(_preview(next(fresh))))[1]
        with _crowd(port, crowd, lambda: _preview(other_intent(), CROWDED)):
            ask = _asking(port, token)
            crowded = percentiles(lambda: ask(_preview(other_intent())))[1]
        name = f"p95 of a preview, {CROWD} clients of another caller preview {CROWDED_ROUTERS} devices / alone"
        yield Ratio(name, crowded / 1e3, quiet / 1e3, at_most=3.0)


def _intents() -> Iterator[PolicySource]:
    """Twelve classes with other names, shares and marks each time: nothing that was made of one is another's."""
    shares = itertools.product(range(1, 16), range(1, 13), range(1, 21))
    orders = itertools.cycle(itertools.permutations(_MARKS))
    for number, (conferencing, streaming, standard) in enumerate(shares):
        text = _CLASSES.replace("conferencing_percent: 15", f"conferencing_percent: {conferencing}")
        text = text.replace("streaming_percent: 12", f"streaming_percent: {streaming}")
        text = text.replace("standard_percent: 20", f"standard_percent: {standard}")
        text = re.sub(r"(- name: (?!default$)\S+)", rf"\1-{number}", text, flags=re.MULTILINE)
        text = re.sub(r"\bcs[234]\b", partial(_exchanged, dict(zip(_MARKS, next(orders), strict=True))), text)
        # Odd code points are of no class: which of them this one takes is new, too.
        text = text.replace("dscp: [cs1, le]", f"dscp: [cs1, le, {7 + 2 * (number % 28)}]")
        top = _TOP.replace("intent: rfc4594-12", f"intent: rfc4594-12-{number}")
        yield PolicySource(top, "own.yaml", {"classes/own-rfc4594-12.yaml": text})


def _exchanged(marks: Mapping[str, str], found: re.Match[str]) -> str:
    return marks[found[0]]


def _preview(written: PolicySource, network: str = NETWORK) -> bytes:
    policy = {"text": written.text, "file": written.file, "included": dict(written.included)}
    return json.dumps({"network": network, "policy": policy}).encode()


@contextmanager
def _crowd(port: int, token: str, body: Callable[[], bytes]) -> Iterator[None]:
    """Clients of one caller who ask all the time, while the block lasts."""
    over = threading.Event()

    def client() -> None:
        ask = _asking(port, token)
        while not over.is_set():
            ask(body())

    with ThreadPoolExecutor(CROWD) as pool:
        clients = [pool.submit(client) for _ in range(CROWD)]
        try:
            time.sleep(CROWD_SECONDS)
            yield
        finally:
            over.set()
        for ended in clients:
            ended.result()


def _alone(scratch: Path, fresh: Iterator[PolicySource]) -> float:
    _network(scratch / NETWORK)
    network = load_network(scratch / NETWORK)

    def preview() -> None:
        compile_document(check_policy(load_policy(next(fresh)), network)).model_dump_json(by_alias=True)

    for _ in range(4):
        preview()
    return median(preview)


def _rate(port: int, token: str, body: Callable[[], bytes | None]) -> float:
    def client(count: int) -> None:
        ask = _asking(port, token)
        for _ in range(count):
            ask(body())

    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, [TOGETHER // CLIENTS] * CLIENTS))
    return TOGETHER / (time.perf_counter() - started)


def _asking(port: int, token: str) -> Callable[[bytes | None], bytes]:
    """Asks for previews, or for nothing but health, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(body: bytes | None) -> bytes:
        if body is None:
            connection.request("GET", "/api/v1/health")
        else:
            connection.request("POST", "/api/v1/compile", body, headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {said[:500]!r}")
        return said

    return ask


@contextmanager
def _serving(scratch: Path) -> Iterator[tuple[int, str, str]]:
    """A served instance with a network of ten devices and one of many; its port, and tokens of two callers."""
    _network(scratch / "networks" / NETWORK)
    _network(scratch / "networks" / CROWDED, CROWDED_ROUTERS)
    settings = Settings(var_dir=scratch / "var", inventories_dir=scratch / "networks")
    with serve(settings, scratch / "log") as port:
        yield port, viewer_token(settings), viewer_token(settings, "crowd")


def _network(folder: Path, routers: int = 1) -> None:
    """The campus with more routers, whose lines have a rate of their own."""
    shutil.copytree(root() / "inventories" / "campus", folder)
    yaml = YAML()
    hosts = yaml.load(folder / "hosts.yaml")
    text = (folder / "hosts.yaml").read_text(encoding="utf-8")
    for number in range(96, 96 + routers):
        router = yaml.load(text)["b56"]
        for interface in router["data"]["interfaces"].values():
            if "wan" in interface.get("tags", ()):
                interface["rate"] = f"{number} kb/s"
        hosts[f"b{number}"] = router
    yaml.dump(hosts, folder / "hosts.yaml")
