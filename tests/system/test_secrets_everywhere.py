"""Secrets in every form that devices hold, whatever becomes of the runs, on both databases: nobody is told them.

What is looked through is everything that a viewer may ask for over HTTP, and everything that processes wrote:
files, rows, logs, traces. Only whole configurations have them, which operators of the network may see.
"""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.platforms.secret_forms import MASK
from qosforge.runs.record.store import RunStore
from qosforge.runs.views.artifact_list import list_artifacts
from tests.counted import tried
from tests.parts import is_refused, need
from tests.patience import PATIENCE
from tests.platforms.test_secret_forms import LINES
from tests.postgres import PostgresServer

from .chaos import Installation, sqlite_url, wait_until
from .crowd import POLICY
from .ends import ENDS, READING, SILENCE, Ends, Told
from .vault import BOXES, NETWORK, PLANTED, Vault

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(900)]

SECRET = re.compile(rb"PLANTED\d\d\d")
NOT_HELD = {
    "key config-key password-encrypt PLANTED",  # no line of a configuration: it encrypts those
    "key config-key 1 PLANTED",
    "path ftp://ann:PLANTED@192.0.2.9/$h",  # devices of the lab archive on their own flash
    "wpa-psk ascii 0 PLANTED",  # the lab has no radio
    "encryption vlan 5 key 1 size 40bit 7 PLANTED transmit-key",
    "authentication mode hmac-sha-256 7 PLANTED",  # nor EIGRP with a name
    "authentication text PLANTED",  # nor the gateway groups of a later FHRP
    "authentication-type simple 7 PLANTED",  # nor the virtual routers of FTOS
}
QUOTING = set(ENDS) - {"kept", "back", "cancelled"}
"""Ends whose reason, or the errors beside it, quote a device."""
REPORTS = ("html", "json", "junit", "sarif", "markdown")
PAPER = "/report.pdf"
"""Of one run at each face: it is printed from the report as HTML, which is read of all, and its text is packed."""
MOST_PAGES = 400
_NOT_FOLLOWED = ("/static/", "/api/", "/logout", "/login")


@pytest.fixture(scope="module")
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A collector of traces (OTLP over HTTP), and the bodies that it was given."""
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            bodies.append(gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def told(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    collector: tuple[str, list[bytes]],
) -> Iterator[Told]:
    """Runs of every end, by processes that go on serving."""
    vault = Vault(tmp_path_factory.mktemp("vault"))
    vault.var.mkdir(mode=0o700)
    url = sqlite_url(vault.var)
    if request.param == "postgresql":
        need("postgresql")
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.new_database()
    endpoint, bodies = collector
    more = {
        "QOSFORGE_OTLP_ENDPOINT": endpoint,
        "QOSFORGE_DEVICE_LIMITS__BATCH__SILENCE": str(SILENCE),
        "QOSFORGE_REQUEST_SECONDS": str(PATIENCE),  # the report on paper computes for seconds
    }
    try:
        vault.start()
        with closing(Installation(vault, url, more)) as installation:
            processes = [installation.serve()]
            if request.param == "postgresql":
                processes.append(installation.worker())
            wait_until(installation.ready, "the service")
            told = Told(vault, installation, bodies, processes)
            with told.viewer("watching") as watching:
                Ends(told, watching).go()
            yield told
    finally:
        vault.stop()


def test_every_form_is_held_by_some_box(told: Told) -> None:
    texts = {device.platform: told.vault.running(device.name) for device in told.vault.network.devices}
    held = {
        re.sub(r"PLANTED\d\d\d", PLANTED, line.strip()) for text in texts.values() for line in text.splitlines()
    }
    asked = {line.strip() for platform in texts for line in LINES[platform].splitlines()}
    assert asked - held == NOT_HELD
    tried("planted forms of secrets held by devices", len(asked & held))


def test_the_runs_ended_as_they_should(told: Told) -> None:
    assert told.ended == ENDS
    assert told.unmet == []
    first, second = told.recovering
    assert (first.code, second.code) == (3, 0), (first.text, second.text)
    tried("ends of runs of devices that quote secrets", len(told.ended))


@pytest.mark.parametrize("end", ENDS)
def test_what_a_viewer_is_told_as_a_run_ends_has_the_words_of_devices_and_no_secret(told: Told, end: str) -> None:
    for path, content in told.seen[end].items():
        assert not SECRET.findall(content), path
    if end in QUOTING:
        assert MASK.encode() in told.seen[end][f"/api/v1/runs/{told.runs[end]}"]
    tried("faces searched for planted secrets: as a run ended", len(told.seen[end]))


def test_who_recovers_is_told_none(told: Told) -> None:
    refused, done = (ended.text for ended in told.recovering)
    assert not SECRET.findall((refused + done).encode())
    if told.installation.url.startswith("sqlite"):  # elsewhere whoever settles them may be another process
        assert MASK in refused


def test_a_viewer_is_told_no_secret_by_the_interface(told: Told) -> None:
    asked = 0
    with told.viewer("api") as client:
        paths = client.get("/api/v1/openapi.json").json()["paths"]
        for path in sorted(path for path, methods in paths.items() if "get" in methods):
            for filled in _filled(client, path, told):
                answer = client.get(filled)
                asked += answer.status_code == 200
                served = answer.status_code == 200 or (filled.endswith(".pdf") and is_refused(answer))
                assert served or "/report" not in filled, (filled, answer.text)
                _nothing_in(answer, filled)
    assert asked > 90
    tried("faces searched for planted secrets: answers of the interface", asked)


def test_a_viewer_is_told_no_secret_on_the_pages(told: Told) -> None:
    with told.viewer("pages") as client:
        seen, todo, good = {"/"}, ["/"], 0
        while todo and len(seen) < MOST_PAGES:
            path = todo.pop(0)
            answer = client.get(path)
            good += answer.status_code == 200
            _nothing_in(answer, path)
            if "text/html" in answer.headers.get("content-type", ""):
                for link in re.findall(r'(?:href|src|hx-get)="(/[^"#]*)', answer.text):
                    found = html.unescape(link)
                    printed = found.endswith(PAPER) and any(path.endswith(PAPER) for path in seen)
                    if found not in seen and not printed and not found.startswith(_NOT_FOLLOWED):
                        seen.add(found)
                        todo.append(found)
    assert all(any(run in path for path in seen) for run in set(told.runs.values()))
    assert good > 50
    tried("faces searched for planted secrets: pages", good)


@pytest.mark.parametrize("kind", ["compile", "validate"])
def test_a_preview_tells_a_viewer_none(told: Told, kind: str) -> None:
    order = {"network": NETWORK, "policy": {"text": POLICY}, "devices": ["r1", "s2970", "ers5510"]}
    with told.viewer(f"preview-{kind}") as client:
        for live in (False, True):
            answers: list[httpx2.Response] = []

            def answered(live: bool = live, answers: list[httpx2.Response] = answers) -> bool:
                answers.append(client.post(f"/api/v1/{kind}", json={**order, "live": live}))
                return answers[-1].status_code == 200

            wait_until(answered, f"a preview ({kind}, live: {live})", 120)
            for answer in answers:
                _nothing_in(answer, kind)
            assert "findings" in answers[-1].json()
            tried("faces searched for planted secrets: previews")


def test_a_preview_of_devices_that_cannot_be_read_tells_a_viewer_none(told: Told) -> None:
    boxes = ["r1", "s2970", "ers5510"]
    with told.faults("preview") as plant, told.viewer("preview-refused") as client:
        for box in boxes:
            plant(box, "refuse", pattern=READING, text=told.quoted(box))
        order = {"network": NETWORK, "policy": {"text": POLICY}, "devices": boxes, "live": True}
        answer = client.post("/api/v1/compile", json=order)
    assert told.unmet == []
    assert answer.status_code == 502, answer.text
    _nothing_in(answer, "compile")
    assert {error["device"] for error in answer.json()["errors"] if MASK in error["message"]} == set(boxes)
    tried("faces searched for planted secrets: previews")


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_the_command_line_shows_none(told: Told, options: tuple[str, ...]) -> None:
    for run in set(told.runs.values()):
        ended = told.installation.command("show", run, *options).wait()
        assert "crowd" in ended.text
        assert not SECRET.findall(ended.text.encode()), ended.text
        tried("faces searched for planted secrets: commands")


def test_no_secret_is_in_files_rows_logs_and_traces(told: Told) -> None:
    whole = _whole_configurations(told)
    looked_at = 0
    for path in told.vault.folder.rglob("*"):
        inside = path.relative_to(told.vault.folder)
        if not path.is_file() or inside.parts[0] == "inventories" or inside.parts[:2] == ("var", "lab"):
            continue
        if inside.parts[:2] == ("var", "artifacts") and "".join(inside.parts[2:]) in whole:
            continue
        looked_at += 1
        assert not SECRET.findall(path.read_bytes()), inside
    for place, value in _rows(told):
        if not (place == "artifacts" and _artifact_of(value) in whole):
            looked_at += 1
            assert not SECRET.findall(value), place
    assert looked_at > 100
    assert told.traces
    assert not [found for body in told.traces if (found := SECRET.findall(body))]
    tried("faces searched for planted secrets: files, rows, logs and traces", looked_at + len(told.traces))


def test_an_operator_of_the_network_reads_whole_configurations_and_a_viewer_does_not(told: Told) -> None:
    read = set()
    with told.viewer("whole") as viewer:
        for run in set(told.runs.values()):
            for entry in told.installation.client.get(f"/runs/{run}/artifacts").json()["artifacts"]:
                if entry["restricted"]:
                    path = f"http://127.0.0.1:{told.installation.port}{entry['link']}"
                    read |= set(SECRET.findall(told.installation.client.get(path).content))
                    assert viewer.get(entry["link"]).status_code == 403
    assert told.secrets <= read


def test_a_reason_names_no_secret_and_is_still_a_reason(told: Told) -> None:
    run = told.installation.client.get(f"/runs/{told.runs['unsaved']}").json()
    words = json.dumps(run)
    assert "snmp-server community ******** RW" in words
    assert "differ" in words


def _filled(client: httpx2.Client, path: str, told: Told) -> list[str]:
    """The path with every value of its parameters that is known here; none where one is not."""
    known: dict[str, list[str]] = {
        "run_id": sorted(set(told.runs.values())),
        "network": [NETWORK],
        "device": list(BOXES),
        "name": ["crowd"],
    }
    names = re.findall(r"{(\w+)", path)
    if "artifact" in names or path.endswith("/artifacts/{name}"):
        listed = [
            client.get(f"/api/v1/runs/{run}/artifacts").json()["artifacts"] for run in set(told.runs.values())
        ]
        return [entry["link"] for entries in listed for entry in entries if not entry["restricted"]]
    if not set(names) <= set(known):
        return []
    filled = [_with(path, names, values) for values in product(*(known[name] for name in names))]
    if path.endswith("/report"):
        return [f"{one}?format={form}" for one in filled for form in REPORTS]
    return filled[:1] if path.endswith(PAPER) else filled


def _with(path: str, names: list[str], values: tuple[str, ...]) -> str:
    for name, value in zip(names, values, strict=True):
        path = re.sub(rf"{{{name}(:\w+)?}}", value, path)
    return path


def _nothing_in(answer: httpx2.Response, path: str) -> None:
    parts = {path: answer.content}
    if answer.headers.get("content-type", "").startswith("application/zip"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            parts = {f"{path}: {name}": archive.read(name) for name in archive.namelist()}
    for name, content in parts.items():
        assert not SECRET.findall(content), name


def _whole_configurations(told: Told) -> set[str]:
    """Ids of the artifacts that are what devices held."""
    with closing(RunStore(told.installation.url)) as store:
        of_runs = [content for run in set(told.runs.values()) for content in list_artifacts(store, run)]
        journal = [entry for run in set(told.runs.values()) for entry in store.journal.entries(run)]
    whole = {content.id for content in of_runs if content.kind.restricted}
    return whole | {entry.before for entry in journal if entry.before}


def _rows(told: Told) -> Iterator[tuple[str, bytes]]:
    """Every row of every table, with the table's name."""
    with closing(Database(told.installation.url)) as database, database.read() as connection:
        inspected = sa.inspect(connection)
        schemas = [None] if database.is_embedded else ["public", "dbos"]
        for schema in schemas:
            for table in inspected.get_table_names(schema=schema):
                name = f'"{schema}"."{table}"' if schema else f'"{table}"'
                for row in connection.execute(sa.text(f"SELECT * FROM {name}")):
                    yield table, b"\n".join(_bytes(value) for value in row)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    return json.dumps(value, default=str).encode()


def _artifact_of(row: bytes) -> str:
    return json.loads(row.split(b"\n", 1)[0])
