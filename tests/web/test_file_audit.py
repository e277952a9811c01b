"""Configurations that are given in a browser are audited as the command line audits a folder of them."""

from __future__ import annotations

import html
import json
import re
import time
import zipfile
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest
import sqlalchemy as sa
from httpx2 import Response
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.audit import file_audits
from qosforge.audit.file_audits import begin_file_audit
from qosforge.audit.tables import FILE_AUDITS
from qosforge.errors import StoreError
from qosforge.executor.executor import Executor
from qosforge.web import uploaded_files
from qosforge.web.site import create_site
from qosforge.web.views import saved_audit
from tests.audit.test_saved_files import BRANCH, CORE, SWITCH
from tests.cli.conftest import Command, qosforge
from tests.web.people import Persons
from tests.web.plain_browser import Page, PlainBrowser

__all__ = ["qosforge"]

CONFIGURATIONS = {"core.txt": CORE, "br.cfg": BRANCH, "sw.cfg": SWITCH}


@pytest.fixture
def site(client: TestClient, persons: Persons) -> TestClient:
    persons.add("ann", Role.VIEWER, "campus").log_in(client)
    return client


def _give(site: TestClient, *files: tuple[str, str | bytes], token: str | None = None) -> str:
    """Send the page's form; returns the page that is shown in the end, as a person reads it."""
    return _text(_send(site, *files, token=token))


def _send(site: TestClient, *files: tuple[str, str | bytes], token: str | None = None) -> Response:
    """Send the page's form, as HTML says, and wait for the result."""
    (form,) = [
        one for one in Page(site.get("/audit").text).forms.values() if one.attributes.get("action") == "/audit"
    ]
    assert form.attributes["enctype"] == "multipart/form-data"
    csrf = dict(form.fields)["csrf"] if token is None else token
    # Both file fields are sent; of the one in which nothing was chosen, a file without a name.
    parts = [(b'; filename="%s"' % name.encode(), data) for name, data in (*files, ("", b""))]
    body = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (field, name, data)
        for field, name, data in [
            (b"csrf", b"", csrf.encode()),
            *((b"files", name, data.encode() if isinstance(data, str) else data) for name, data in parts),
        ]
    )
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    return _ended(site, site.post("/audit", content=body + b"--x--\r\n", headers=kind))


def _ended(site: TestClient, answer: Response) -> Response:
    deadline = time.monotonic() + 300
    while 'id="auditing"' in answer.text:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        answer = site.get(answer.url)
    return answer


def _text(answer: Response) -> str:
    text = answer.text[answer.text.index('<main id="main"') :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def _zip(files: dict[str, str]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_the_page_says_what_the_command_says(site: TestClient, tmp_path: Path, qosforge: Command) -> None:
    for name, text in CONFIGURATIONS.items():
        (tmp_path / name).write_text(text)
    command = json.loads(qosforge("audit", "--files", str(tmp_path), "--json").stdout)
    page = _give(site, *CONFIGURATIONS.items(), ("todo.txt", "call ann\n"))
    assert "3 devices, 1 link," in page
    assert "todo.txt no line tells the platform" in page
    messages = [one["message"] for one in command["findings"]]
    assert messages
    assert [one for one in messages if one not in page] == []
    assert "core.txt" in page
    folder = {f"__MACOSX/._{name}": "x" for name in CONFIGURATIONS} | {".git": "x"}
    packed = _zip({f"site/{name}": text for name, text in CONFIGURATIONS.items()} | folder)
    zipped = _give(site, ("site.zip", packed))
    assert "3 devices, 1 link," in zipped
    assert "not part of it" not in zipped
    assert "site/core.txt" in zipped


def test_what_cannot_be_audited_is_told_with_its_file_and_a_hint(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no file was given" in _give(site)
    assert "holiday.cfg no configuration of a device is here" in _give(site, ("holiday.cfg", b"\xff\0\xff"))
    twice = _give(site, ("a.cfg", BRANCH), ("b.cfg", BRANCH))
    assert "b.cfg: a.cfg is a configuration of branch, too, and was taken" in twice
    good = _zip({"a.cfg": "!" * 999})
    for damaged in (
        b"PK no archive",
        good[:-30],
        good.replace(b"a.cfg", b"b.cfg", 1),
        good[:40] + b"?" + good[41:],
    ):
        assert "site.zip cannot be unpacked" in _give(site, ("site.zip", damaged))
    monkeypatch.setattr(uploaded_files, "MOST_BYTES", 5000)
    assert "site.zip these are more than" in _give(site, ("site.zip", _zip({"a.cfg": "!" * 6000})))
    assert "one site at a time" in _give(site, ("a.cfg", "!" * 3000), ("b.cfg", "!" * 3000))


def test_a_result_is_for_who_gave_the_files(site: TestClient, persons: Persons) -> None:
    assert "does not carry its session's token" in _give(site, ("a.cfg", BRANCH), token="0" * 64)
    headers = persons.find("ann").log_in(site)
    sent = site.post("/audit", files=[("files", ("a.cfg", BRANCH))], headers=headers, follow_redirects=False)
    result = sent.headers["location"]
    assert site.get(result).status_code == 200
    persons.add("bob", Role.ADMIN).log_in(site)
    assert site.get(result).status_code == 404
    assert "no longer kept" in site.get(result).text
    persons.add("eve").log_in(site)
    assert site.get("/audit").status_code == 403


SHORT = "hostname edge9\n"


def test_the_platform_of_a_file_is_told_on_the_page(site: TestClient) -> None:
    answer = _send(site, ("core.txt", CORE), ("edge.txt", SHORT), ("todo.txt", "call ann\n"))
    assert "1 device, 0 links," in _text(answer)
    browser = PlainBrowser(site).open(str(answer.url.path))
    assert "edge.txt no line tells the platform" in _text(answer)
    browser.press("Audit with these platforms", told=["cisco_ios", ""])
    told = _ended(site, site.get(browser.path))
    assert "2 devices, 0 links," in _text(told)
    assert "edge.txt chosen by you" in _text(told)
    assert [value for _, value in Page(told.text).forms["platforms"].fields][1:] == [
        "edge.txt",
        "cisco_ios",
        "todo.txt",
        "",
    ]
    assert "Which platform" not in _text(told), "both were answered"
    assert "1 file is not part of it: todo.txt, left out by you" in _text(told)
    alone = _send(site, ("edge.txt", SHORT))
    assert "Which platform is this file of?" in _text(alone)
    for file, platform in (("core.txt", "cisco_ios"), ("edge.txt", "toaster")):
        browser.open(str(alone.url.path)).press("Audit with these platforms", file=file, told=platform)
        assert browser.status == 422
    sent = browser.open(str(_send(site, ("a.cfg", BRANCH)).url.path)).text
    assert "platforms" not in Page(sent).forms, "every line was told"


def test_what_was_left_out_is_asked_no_more_and_can_be_changed(site: TestClient) -> None:
    answer = _send(site, ("core.txt", CORE), ("edge.txt", SHORT), ("todo.txt", "call ann\n"))
    said = _text(answer)
    assert "2 files are not part of it yet: edge.txt, todo.txt" in said
    assert said.index("Findings") < said.index("Which platforms are these files of?"), "what was found stands first"
    browser = PlainBrowser(site).open(str(answer.url.path))
    browser.press("Audit with these platforms", told=["", ""])
    left = _ended(site, site.get(browser.path))
    assert "Which platform" not in _text(left)
    assert "2 files are not part of it: edge.txt, todo.txt, left out by you" in _text(left)
    assert "not part of it yet" not in _text(left)
    browser.open(browser.path).press("Audit with these platforms", told=["cisco_ios", ""])
    changed = _text(_ended(site, site.get(browser.path)))
    assert "2 devices, 0 links," in changed
    assert "1 file is not part of it: todo.txt, left out by you" in changed
    alone = _send(site, ("todo.txt", "call ann\n"))
    browser.open(str(alone.url.path)).press("Audit with these platforms", told=[""])
    assert "You left out every file: there is nothing to audit." in _text(_ended(site, site.get(browser.path)))


def test_devices_between_which_no_link_is_found_are_not_said_to_be_well(site: TestClient) -> None:
    apart = {name: f"hostname {name}\nip cef\ninterface FastEthernet0/0\n no ip address\n" for name in ("a", "b")}
    page = _give(site, *((f"{name}.cfg", text) for name, text in apart.items()))
    assert "2 devices, 0 links," in page
    assert "No link was found, so neither the ends of links nor paths were compared" in page
    assert "An inventory names the links." in page
    assert "Audited 2 ▲ no link between them" in page
    assert "Errors 0 ? on each device alone" in page
    assert "✔" not in page
    assert "Nothing was found on a device alone." in page
    alone = _give(site, ("a.cfg", apart["a"]))
    assert "No link was found" not in alone, "there is nothing that it could be linked to"
    linked = _give(site, *CONFIGURATIONS.items())
    assert "No link was found" not in linked
    assert "Audited 3 ✔ every device" in linked


def test_every_process_of_the_service_has_the_result_for_a_day(
    site: TestClient, backend: Backend, persons: Persons, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(_send(site, ("a.cfg", BRANCH)).url.path)
    with open_backend(backend.settings) as other, TestClient(create_site(other)) as second:
        persons.find("ann").log_in(second)
        assert "1 device, 0 links," in _text(second.get(where))
        monkeypatch.setattr(file_audits, "KEPT", timedelta(0))
        assert second.get(where).status_code == 404
        assert "no longer kept" in second.get(where).text


def _never(*_: object, **__: object) -> None:
    """In place of what a process does not come to that is killed."""


def test_an_audit_whose_process_was_killed_is_made_when_the_files_come_again(
    site: TestClient, backend: Backend, persons: Persons, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = persons.find("ann").log_in(site)
    with monkeypatch.context() as killed:
        killed.setattr(backend.jobs, "submit", _never)
        sent = site.post("/audit", files=[("files", ("a.cfg", BRANCH))], headers=headers, follow_redirects=False)
    where = sent.headers["location"]
    assert ("no longer kept" in site.get(where).text) is backend.database.is_embedded
    poll = site.get(where, headers={"HX-Request": "true"})
    assert ("HX-Refresh" in poll.headers) is backend.database.is_embedded, "the form replaces the page"
    again = _send(site, ("a.cfg", BRANCH))
    assert again.url.path == where
    assert "1 device, 0 links," in _text(again)


def test_a_result_that_could_not_be_stored_is_told(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(saved_audit, "end_file_audit", full)
        assert "the result could not be stored" in _give(site, ("a.cfg", BRANCH))
    assert "1 device, 0 links," in _give(site, ("a.cfg", BRANCH))


def test_the_newest_of_a_person_are_kept_up_to_so_many_bytes(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_audits, "MOST_BYTES_PER_PERSON", 100)
    first, second = (_send(site, (f"{name}.cfg", BRANCH)).url.path for name in "ab")
    assert [site.get(str(where)).status_code for where in (first, second)] == [404, 200]


def test_a_service_deletes_what_was_given_a_day_ago(backend: Backend) -> None:
    begin_file_audit(backend.database, "0" * 32, "ann", datetime.now(UTC) - timedelta(days=2))
    executor = Executor(backend.settings, lambda _stage, _line: None)
    executor.start()
    try:
        rows = 1
        while rows:
            time.sleep(0.1)
            with backend.database.read() as connection:
                rows = connection.scalar(sa.select(sa.func.count()).select_from(FILE_AUDITS))
    finally:
        executor.stop()
