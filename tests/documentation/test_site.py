"""The documentation as a site: whole, without anything of other hosts, and served by the product."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.api.backend import Backend
from qosforge.cli.catalogue import ENTRIES
from qosforge.resources import root
from qosforge.web import documentation
from qosforge.web.site import create_site

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


_SHOWN_AS_TYPED = re.compile(r"<pre.*?</pre>", re.DOTALL)
_ITEM = re.compile(r"^(?:[-*]|\d+\.) .{1,60}", re.MULTILINE)


def test_every_list_is_one(documentation_folder: Path) -> None:
    """Markdown without an empty line before a list makes one paragraph of it, dashes and numbers included."""
    texts = {path.parent.name: path.read_text(encoding="utf-8") for path in pages(documentation_folder)}
    loose = {name: found for name, text in texts.items() if (found := _ITEM.findall(_SHOWN_AS_TYPED.sub("", text)))}
    assert loose == {}


def test_every_command_has_its_options_there(documentation_folder: Path) -> None:
    text = (documentation_folder / "every-command" / "index.html").read_text(encoding="utf-8")
    for name in ENTRIES:
        assert f"qosforge {name}" in text
    assert "--accept-unconfirmed" in text


def test_every_call_and_schema_is_there_once(documentation_folder: Path, backend: Backend) -> None:
    texts = {
        path.parent.name: path.read_text(encoding="utf-8")
        for path in documentation_folder.glob("every-*/index.html")
        if path.parent.name != "every-command"
    }
    document = create_site(backend).openapi()
    parts = {name: text for name, text in texts.items() if name.startswith("every-call-")}
    told = {
        tag for methods in document["paths"].values() for call in methods.values() for tag in call.get("tags", ())
    }
    assert len(parts) == len(told)
    schemas = [name.lower() for name in document["components"]["schemas"]]
    for name in schemas:
        assert sum(f'<h3 id="{name}">' in text for text in texts.values()) == 1, name
    overview = texts["every-call"]
    calls = re.findall(r'<a href="\.\./(every-call-[a-z-]+)/#([a-z0-9_-]+)">', overview)
    assert len(calls) == sum(len(methods) for methods in document["paths"].values())
    for page, anchor in calls:
        assert f'<h2 id="{anchor}">' in texts[page], anchor
    assert "POST /api/v1/runs" in texts["every-call-runs"].replace("<wbr>", "")
    longest = max(len(text) for text in texts.values())
    assert longest < sum(map(len, texts.values())) / 3, "no page has most of it"


def test_every_change_is_on_one_page_of_its_subject(documentation_folder: Path) -> None:
    def entries(name: str) -> int:
        text = (documentation_folder / name / "index.html").read_text(encoding="utf-8")
        return len(re.findall(r"(?m)^<li>", text.partition("<article")[2]))

    written = re.findall(r"(?m)^- ", (root() / "CHANGELOG.md").read_text(encoding="utf-8"))
    subjects = [path.name for path in documentation_folder.glob("changes-*") if path.is_dir()]
    assert sum(map(entries, subjects)) == len(written)
    assert max(map(entries, subjects)) < len(written) / 2
    first = (documentation_folder / "changes" / "index.html").read_text(encoding="utf-8")
    for name in subjects:
        assert f'href="../{name}/"' in first
    assert 'id="newest"' in first


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
        told = client.get("/docs/nothing/").text
        assert "<h1>The documentation has no such page</h1>" in told
        assert 'href="/docs/">Documentation</a>' in told
    assert documentation.documentation("nothing") is None


def test_without_it_nothing_links_there(backend: Backend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(documentation, "FOLDER", tmp_path / "none")
    assert documentation.documentation() is None
    with TestClient(create_site(backend)) as client:
        assert client.get("/docs/").status_code == 404
        assert 'href="/docs' not in client.get("/login").text
