"""The documentation as a site: whole, without anything of other hosts, and served by the product."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from qosforge.api.backend import Backend, open_backend
from qosforge.cli.catalogue import ENTRIES
from qosforge.settings import Settings
from qosforge.web import documentation
from qosforge.web.site import create_site
from tests.parts import need
from tests.web.browser import DESKTOP, Tab, chromium

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
NOT_LOADED = {"canonical", "prev", "next", "edit"}


class Elements(HTMLParser):
    """What a page loads, and what its policy would not let it do."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self._script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(LOADED.get(tag, ""))
        if address and values.get("rel") not in NOT_LOADED:
            self.loaded.append(address)
        self.inline += [f"{tag} {name}" for name in values if name == "style" or name.startswith("on")]
        if tag == "style":
            self.inline.append(tag)
        self._script = tag == "script" and "src" not in values and values.get("type") != "application/json"

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.inline.append(f"script {data[:60]}")


def pages(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.html"))
    assert len(found) > 40
    return found


def test_no_page_asks_another_host_or_does_what_the_policy_forbids(documentation_folder: Path) -> None:
    elements = {
        path.relative_to(documentation_folder).as_posix(): Elements(path.read_text(encoding="utf-8"))
        for path in pages(documentation_folder)
    }
    assert {name: made.inline for name, made in elements.items() if made.inline} == {}
    strangers = {
        name: far for name, made in elements.items() if (far := [one for one in made.loaded if "//" in one])
    }
    assert strangers == {}
    for name, made in elements.items():
        for address in made.loaded:
            assert (documentation_folder / name).parent.joinpath(re.split("[?#]", address)[0]).is_file(), (
                name,
                address,
            )
    styles = "".join(path.read_text(encoding="utf-8") for path in documentation_folder.rglob("*.css"))
    assert styles
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//", styles) == []


def test_every_page_leads_back_to_the_service(documentation_folder: Path) -> None:
    for path in pages(documentation_folder):
        if path.name == "404.html":  # the service answers with a page of its own
            continue
        back = re.search(r'<a href="([^"]+)">← Back to the service</a>', path.read_text(encoding="utf-8"))
        assert back, path
        assert (path.parent / back[1]).resolve() == documentation_folder.parent.resolve(), path


def test_every_command_has_its_options_there(documentation_folder: Path) -> None:
    text = (documentation_folder / "every-command" / "index.html").read_text(encoding="utf-8")
    for name in ENTRIES:
        assert f"qosforge {name}" in text
    assert "--accept-unconfirmed" in text


def test_every_call_and_schema_is_there(documentation_folder: Path) -> None:
    text = (documentation_folder / "every-call" / "index.html").read_text(encoding="utf-8")
    assert "POST /api/v1/runs" in text
    assert 'href="#newwebhook"' in text
    assert 'id="newwebhook"' in text
    named = set(re.findall(r'href="#([a-z0-9_-]+)"', text))
    assert named <= set(re.findall(r'id="([^"]+)"', text)), "each schema that a call names is there"


def test_what_is_searched_is_there(documentation_folder: Path) -> None:
    index = json.loads((documentation_folder / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any("lines-unconfirmed" in entry["text"] for entry in index["docs"])


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as made:
        yield made


@pytest.fixture
def with_documentation(documentation_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documentation, "FOLDER", documentation_folder)


@pytest.mark.usefixtures("with_documentation")
def test_the_service_has_it_for_everybody(backend: Backend) -> None:
    with TestClient(create_site(backend)) as client:
        first = client.get("/docs")
        assert first.url.path == "/docs/"
        assert first.status_code == 200
        assert "'unsafe" not in first.headers["Content-Security-Policy"]
        assert "https:" not in first.headers["Content-Security-Policy"]
        address = documentation.documentation("findings", "errors")
        assert address == "/docs/findings/#errors"
        assert "<h1" in client.get(address).text
        search = client.get("/docs/search/search_index.json", headers={"Accept-Encoding": "gzip"})
        assert search.headers["Content-Encoding"] == "gzip"
        assert client.post("/docs/findings/").status_code == 405
        for missing in ("/docs/nothing/", "/docs/../pyproject.toml", "/docs/%2e%2e/%2e%2e/settings.py"):
            assert client.get(missing, follow_redirects=False).status_code in (303, 404), missing
    assert documentation.documentation("nothing") is None


def test_without_it_nothing_links_there(backend: Backend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(documentation, "FOLDER", tmp_path / "none")
    assert documentation.documentation() is None
    with TestClient(create_site(backend)) as client:
        assert client.get("/docs/").status_code == 404
        assert 'href="/docs' not in client.get("/login").text


@contextmanager
def listening(backend: Backend) -> Iterator[str]:
    """The site's address, served by a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as at:
        server = uvicorn.Server(uvicorn.Config(create_site(backend), log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [at]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{at.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.mark.usefixtures("with_documentation")
def test_a_browser_finds_what_is_searched(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        asked: list[str] = []
        tab.page.on("request", lambda request: asked.append(request.url))
        tab.page.goto("/docs/")
        tab.page.get_by_role("textbox", name="Search").fill("commit-confirm")
        found = tab.page.locator(".md-search-result__link").first
        found.click()
        tab.page.wait_for_url("**/docs/*/**")
        assert tab.page.locator("h1").first.is_visible()
        assert tab.complaints == []
        assert [address for address in asked if not address.startswith(url)] == []
