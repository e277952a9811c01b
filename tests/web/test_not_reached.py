"""Pages of networks and devices that were not reached when they were to be read, or that nothing can be read of."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.device_state.drift_watch import DriftResult, claim_check, record_check, request_check
from qosforge.resources import root
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.web.people import Persons
from tests.web.recorded import configured, record, startups

POLICY = root() / "policies" / "campus-collaboration.yaml"
REFUSED = "e300: the device refuses the credentials (check user name, password and secret)"


@pytest.fixture
def inventories(tmp_path: Path) -> Path:
    """The campus alone, none of whose devices has an address."""
    copy = tmp_path / "inventories" / "campus"
    copy.mkdir(parents=True)
    source = root() / "inventories" / "campus"
    for file in source.glob("*.yaml"):
        (copy / file.name).write_text(file.read_text())
    (copy / "startup").symlink_to(source / "startup")
    return tmp_path / "inventories"


@pytest.fixture
def backend(tmp_path: Path, inventories: Path) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, inventories_dir=inventories)
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    """The pages as a viewer of the campus sees them."""
    with TestClient(create_site(backend)) as made:
        Persons(backend).add("ann", Role.VIEWER, "campus").log_in(made)
        yield made


def _kept(backend: Backend) -> dict[str, str]:
    texts = configured(backend.networks.network("campus"), POLICY)
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.KEPT)
    return texts


def _words(page: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).replace(" .", ".").split())


def _overview(site: TestClient) -> str:
    page = site.get("/networks/campus").text
    return _words(page[page.index('id="overview"') : page.index('id="last-read"')])


def _looked(backend: Backend, unread: Mapping[str, str]) -> None:
    """A look at every device that ends now; why devices were ``unread``."""
    database = backend.database
    database.transact(lambda connection: request_check(connection, "campus", backend.access.now()))
    claimed = claim_check(database)
    assert claimed is not None
    record_check(database, claimed[1], DriftResult(backend.access.now(), unread=unread))


def _state(page: str, device: str) -> str:
    """What the table of devices says of one."""
    row = re.search(rf'<tr data-device="{device}">.*?data-label="State">(.*?)</td>', page, re.DOTALL)
    assert row is not None
    return _words(row[1])


def test_a_device_that_was_not_reached_is_told_wherever_its_network_is(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    _with_an_address(inventories)
    texts = _kept(backend)
    site.get("/networks/campus")  # compares few devices at once
    _looked(backend, unread={"e300": REFUSED})
    page = site.get("/networks/campus").text
    assert "✘ 1 of 9 devices could not be read" in _words(page)
    assert "e300 : The device refuses the credentials. Check user name, password and secret." in _words(page)
    assert "Read 8 ✘ 1 not reached" in _overview(site)
    assert "every device" not in _overview(site)
    assert "Drifted 0 ✔ none of the 8 devices that were reached" in _overview(site)
    assert (_state(page, "e300"), _state(page, "r1")) == ("✘ not reached", "✔ no drift")
    assert re.search(r'<tr data-device="e300">.*?<time', page, re.DOTALL), "when it was read last"
    only = site.get("/networks/campus?state=unreached").text
    assert re.findall(r'data-device="(\w+)"', only) == ["e300"]
    listed = site.get("/networks").text
    assert '<a href="/networks/campus#not-reached">1 device not reached</a>' in listed
    row = _words(listed[listed.index('href="/networks/campus"') :])
    assert "8 of 9 reached," in row
    assert "none of the 8 that were reached" in row
    assert row.count("not reached") == 1, "the state says it"
    assert 'id="not-reached"' in page
    device = _words(site.get("/networks/campus/devices/e300").text)
    assert re.search(r"✘ The device could not be read , [\d-]{10} [\d:]{8} UTC :", device), device
    assert "The device refuses the credentials. Check user name, password and secret." in device
    assert "State not known ✘ not reached when last read: no drift" in device
    assert re.search(r"Ports with a policy \d+ of \d+, when last read", device)
    assert "✔ as the last run left it" not in device

    drifted = {**texts, "e300": startups(backend.networks.network("campus"))["e300"]}
    record(backend.run_requests.store, backend.artifacts, "campus", drifted, RunStatus.FAILED)
    page = site.get("/networks/campus").text
    assert _state(page, "e300") == "≠ drifted", "it was read since"
    assert "not reached" not in _overview(site)
    assert "not reached" not in site.get("/networks").text
    _looked(backend, unread={"e300": REFUSED})
    page = site.get("/networks/campus").text
    assert _state(page, "e300") == "≠ drifted ✘ not reached"
    assert "drifted" not in _state(page, "r1")


def test_devices_that_could_not_be_read_are_told_by_the_cause(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    _with_an_address(inventories)
    away = {name: f"{name}: no answer in 10 s (2 tries) (is it on?)" for name in ("r1", "r2", "b56", "s2950")}
    _looked(backend, unread=away | {"e300": REFUSED, "ers5510": "ers5510: the driver failed: OSError"})
    page = site.get("/networks/campus").text
    box = _words(page[page.index('id="not-reached"') : page.index('id="overview"')])
    assert "✘ 6 of 9 devices could not be read" in box
    assert "4 devices ( b56, r1, r2 and 1 more ): No answer in 10 s (2 tries). Is it on? e300 : The device" in box
    assert "ers5510 : The driver failed: OSError." in box
    assert "Read 0 ✘ 6 not reached 9 never read" in _overview(site)
    assert "No device of this network was read yet" not in page
    backend.database.transact(lambda c: request_check(c, "campus", backend.access.now()))
    assert 'id="not-reached"' not in site.get("/networks/campus").text, "they are being read again"


def test_where_no_device_has_an_address_nothing_can_be_read(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    page = site.get("/networks/campus").text
    assert re.search(r'<button id="read-all" disabled aria-describedby="no-addresses"', page)
    assert (
        "Nothing can be read here: all 9 devices have no address. Give each a hostname in hosts.yaml; or start"
        in _words(page)
    )
    assert "“Read all devices” reads them" not in page
    _looked(backend, {"r1": "r1: no address is known"})
    assert 'id="not-reached"' not in site.get("/networks/campus").text, "that is said already"
    listed = site.get("/networks").text
    assert "no addresses" in _words(listed)
    assert "Read all devices of campus" not in listed
    _with_an_address(inventories)
    assert "disabled" not in re.findall(r'<button id="read-all"[^>]*>', site.get("/networks/campus").text)[0]
    assert "Read all devices of campus" in site.get("/networks").text


def test_a_device_that_was_not_reached_is_marked_in_the_drawing_and_its_ports_too(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    _with_an_address(inventories)
    _kept(backend)
    assert "not reached: as last read" not in site.get("/networks/campus").text
    _looked(backend, unread={"e300": REFUSED})
    page = site.get("/networks/campus").text
    assert "not reached: as last read" in page
    for drawing in (page, site.get("/networks/campus/drawing").text):
        ill = re.findall(r'<a class="device ill" href="/networks/campus/devices/(\w+)"', drawing)
        assert ill == ["e300"]
        assert 'aria-label="e300, Force10 E300, not reached"' in drawing
        assert ">✘ e300</text>" in drawing
        ends = re.findall(r'class="end qos-(\w+)" href="[^"]*/devices/(\w+)', drawing)
        assert {qos for qos, device in ends if device == "e300"} == {"unreached"}
        assert "unreached" not in {qos for qos, device in ends if device != "e300"}
        assert re.search(r'aria-label="e300 [^"]*: not reached; when last read: ', drawing)
    links = _words(site.get("/networks/campus?tab=links").text)
    assert "not reached; when last read: " in links
    graph = site.get("/networks/campus/graph").json()
    assert {one["id"]: one["state"] for one in graph["devices"] if one["state"] == "unreached"}.keys() == {"e300"}
    states = {end["symbol"] for link in graph["links"] for end in link["ends"] if end["title"].startswith("e300 ")}
    assert states == {"✘"}
    assert {link["state"] for link in graph["links"] if "e300" in (link["source"], link["target"])} == {"unreached"}


def test_where_devices_were_not_reached_the_next_step_is_to_read_them(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    _with_an_address(inventories)
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    _kept(backend)

    def blue(page: str) -> list[str]:
        found = re.findall(r'<(?:a|button)[^>]*class="(?:button )?primary"[^>]*>([^<]*)', page)
        return [words.strip("↻ ") for words in found]

    assert blue(site.get("/networks/campus").text) == ["New run"]
    _looked(backend, unread={"e300": REFUSED})
    assert blue(site.get("/networks/campus").text) == ["Read all devices"]
    assert blue(site.get("/networks/campus/devices/e300").text) == ["Read now"]
    assert "Read all devices of campus" in site.get("/networks").text


def test_the_audit_does_not_offer_to_read_what_has_no_address(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    Persons(backend).add("olga", Role.OPERATOR, "campus").log_in(site)
    page = _audited(site)
    assert "Nothing can be read here: all 9 devices have no address. Give each a hostname in hosts.yaml" in _words(
        page
    )
    assert "Read all devices" not in page
    _with_an_address(inventories)
    assert 'class="primary" form="plain" formaction="/networks/campus/read?go=true"' in _audited(site)


def test_the_audit_says_what_it_knows_by_an_older_reading(
    site: TestClient, backend: Backend, inventories: Path
) -> None:
    _with_an_address(inventories)
    _kept(backend)
    assert "not reached" not in _words(_audited(site))
    _looked(backend, unread={"e300": REFUSED})
    told = "1 device was not reached when that was last tried (e300): what is said of it is by an older reading."
    assert told in _words(_audited(site))


def _audited(site: TestClient) -> str:
    """The page of the network's audit, once that is over."""
    deadline = time.monotonic() + 60
    while True:
        page = site.get("/networks/campus/audit").text
        if 'id="auditing"' not in page:
            return page
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _with_an_address(inventories: Path) -> None:
    """Give the first device of the campus a hostname."""
    hosts = inventories / "campus" / "hosts.yaml"
    hosts.write_text(hosts.read_text().replace("r1:\n", "r1:\n  hostname: r1.example.org\n", 1))
