"""Pages of networks and devices whose last reading has lines that the device did not save."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.device_state.last_known import store_readings
from qosforge.resources import root
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.device_texts import said_by
from tests.web.people import Persons
from tests.web.recorded import configured, record, startups

POLICY = root() / "policies" / "campus-collaboration.yaml"
LINES = ("+policy-map GUEST", "+ class class-default")


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    """The pages as an operator of the campus sees them."""
    with TestClient(create_site(backend)) as made:
        Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(made)
        yield made


def _kept(backend: Backend) -> dict[str, str]:
    texts = configured(backend.networks.network("campus"), POLICY)
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    return texts


def _read(backend: Backend, texts: Mapping[str, str], unsaved: Mapping[str, tuple[str, ...]]) -> None:
    """A person has devices read now; which lines of each were not saved."""
    store, network = backend.run_requests.store, backend.networks.network("campus")
    store_readings(store, backend.artifacts, network, said_by(texts), store.now(), unsaved=unsaved)


def _words(page: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).replace(" .", ".").split())


def _part(page: str, begins: str, ends: str) -> str:
    first = page.index(begins)
    return _words(page[first : page.index(ends, first)])


def _state(page: str, device: str) -> str:
    """What the table of devices says of one."""
    return _words(re.findall(rf'<tr data-device="{device}">.*?data-label="State">(.*?)</td>', page, re.DOTALL)[0])


def _blue(page: str) -> list[str]:
    found = re.findall(r'<(?:a|button)[^>]*class="button primary"[^>]*>([^<]*)', page)
    return [words.strip("↻ ") for words in found]


def test_lines_that_are_not_saved_are_told_wherever_their_network_is(site: TestClient, backend: Backend) -> None:
    texts = _kept(backend)
    _read(backend, texts, {name: LINES if name == "r2" else () for name in texts})
    page = site.get("/networks/campus").text
    assert "Not saved 1 ▲ show it" in _part(page, 'id="overview"', 'id="last-read"')
    assert "Drifted 0 ✔ none" in _part(page, 'id="overview"', 'id="last-read"')
    assert (_state(page, "r2"), _state(page, "r1")) == ("▲ not saved", "✔ no drift")
    assert _blue(page) == ["show it"]
    only = site.get("/networks/campus?state=unsaved").text
    assert re.findall(r'data-device="(\w+)"', only) == ["r2"]
    row = _part(site.get("/networks").text, 'href="/networks/campus"', "</tr>")
    assert "▲ not saved: r2" in row
    assert "healthy" not in row
    first = site.get("/").text
    told = _part(first, 'id="waiting"', "</section>")
    assert "▲ Not saved campus : 1 device has lines that are not saved (r2)." in told
    assert "It goes from this list when they are saved or rolled back and the device is read again." in told
    assert 'href="/networks/campus?state=unsaved#found"' in first
    assert "Nothing waits" not in first
    assert "▲ needs a look" in _part(first, 'aria-labelledby="net-campus"', "</article>")

    _read(backend, {"r2": texts["r2"]}, {"r2": ()})
    page = site.get("/networks/campus").text
    assert "Not saved" not in _part(page, 'id="overview"', 'id="last-read"')
    assert _state(page, "r2") == "✔ no drift"
    assert "✔ healthy" in _part(site.get("/networks").text, 'href="/networks/campus"', "</tr>")
    assert "Nothing waits" in site.get("/").text


def test_a_device_with_lines_not_saved_is_marked_in_the_drawing(site: TestClient, backend: Backend) -> None:
    texts = _kept(backend)
    _read(backend, texts, {"r2": LINES})
    for drawing in (site.get("/networks/campus").text, site.get("/networks/campus/drawing").text):
        assert re.findall(r'<a class="device unsaved" href="/networks/campus/devices/(\w+)"', drawing) == ["r2"]
        assert re.search(r'aria-label="r2, [^"]+, not saved"', drawing)
        assert ">▲ r2</text>" in drawing
    graph = site.get("/networks/campus/graph").json()
    assert [one["id"] for one in graph["devices"] if one["state"] == "unsaved"] == ["r2"]


def test_a_device_whose_lines_are_not_saved_is_not_called_well(site: TestClient, backend: Backend) -> None:
    texts = _kept(backend)
    _read(backend, texts, {"r2": LINES})
    page = site.get("/networks/campus/devices/r2").text
    assert "State no drift ▲ not saved" in _words(page)
    assert "as the last run left it" not in _words(page)
    box = _part(page, 'id="not-saved"', "</div>")
    assert "A run that would change it is rejected." in box
    assert "then “Read now”." in box
    assert "preview" not in box


def test_a_device_that_drifted_and_is_not_saved_gets_one_advice(site: TestClient, backend: Backend) -> None:
    texts = _kept(backend)
    drifted = startups(backend.networks.network("campus"))["s2950"]
    _read(backend, texts | {"s2950": drifted}, {"s2950": LINES, "r2": LINES})
    page = site.get("/networks/campus/devices/s2950").text
    assert "State drifted ✘ look at it ▲ not saved" in _words(page)
    box = _part(page, 'id="drifted"', "</p>")
    assert "First save what it runs or go back to what is saved (below); then" in box
    assert "a new run of campus-collaboration brings it back." in box
    assert "runs/new" not in page[page.index('id="drifted"') : page.index('id="not-saved"')]
    page = site.get("/networks/campus").text
    assert _state(page, "s2950") == "≠ drifted ▲ not saved"
    assert re.findall(r'<a class="device unsaved" href="/networks/campus/devices/(\w+)"', page) == ["r2", "s2950"]
    assert re.search(r'aria-label="s2950, [^"]+, drifted, not saved"', page)
    assert "▲ drifted: s2950 ▲ not saved: r2, s2950" in _words(site.get("/networks").text)
    first = site.get("/").text
    assert (
        "▲ Drift campus : 1 device is not as the last run left it (s2950), "
        "2 devices have lines that are not saved (r2, s2950)." in _words(first)
    )


def test_a_device_that_the_inventory_has_no_more_is_not_told(site: TestClient, backend: Backend) -> None:
    _kept(backend)
    _read(backend, {"gone": "hostname gone\n"}, {"gone": LINES})
    assert "not saved" not in _words(site.get("/networks").text)
