"""Where a network's inventory comes from, on its page; what differs there, and the button that writes it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.sources.conftest import DESCRIPTION
from tests.sources.netbox_server import TOKEN, NetBoxServer, recorded, serving
from tests.sources.test_sync import interface, remove, texts
from tests.web.people import Persons

PAGE = "/networks/infn-fnal/sync"
NAME = "infn-fnal"
HX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def netbox() -> Iterator[NetBoxServer]:
    with pytest.MonkeyPatch.context() as patch, serving(recorded()) as server:
        patch.setenv("NETBOX_TOKEN", TOKEN)
        yield server


@pytest.fixture(scope="module")
def backend(netbox: NetBoxServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder = tmp_path_factory.mktemp("sync")
    settings = Settings(
        var_dir=folder / "var", compute_processes=1, inventories_dir=folder / "inventories", request_seconds=60
    )
    settings.inventories_dir.mkdir()
    with open_backend(settings) as made:
        Persons(made).add("root", Role.ADMIN)
        Persons(made).add("eve", Role.VIEWER)
        Persons(made).add("near", Role.ADMIN, "library")
        yield made


@pytest.fixture(scope="module")
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        yield made


@pytest.fixture
def session(backend: Backend, site: TestClient) -> dict[str, str]:
    return Persons(backend).find("root").log_in(site)


@pytest.fixture
def folder(backend: Backend, site: TestClient, session: dict[str, str], netbox: NetBoxServer) -> Path:
    """The network ``library`` without devices, with the recorded NetBox for its source; one by hand beside it."""
    netbox.records = recorded()
    inventories = backend.settings.inventories_dir
    for path in inventories.iterdir():
        shutil.rmtree(path)
    shutil.copytree(root() / "inventories" / NAME, inventories / NAME)
    assert site.post("/networks", data={"name": "library"}, headers=session).status_code == 204
    (inventories / "library" / "source.yaml").write_text(DESCRIPTION.format(url=netbox.url))
    return inventories / "library"


def form(page: str) -> dict[str, str]:
    """What the button of a page sends."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page))


def test_from_the_networks_page_to_what_is_written(
    site: TestClient, session: dict[str, str], folder: Path, netbox: NetBoxServer
) -> None:
    network = site.get("/networks/library?tab=settings").text
    assert netbox.url in network
    assert 'href="/networks/library/sync"' in network
    before = texts(folder)
    shown = site.get("/networks/library/sync").text
    assert "<strong>17</strong> added" in shown
    assert "<strong>11 devices</strong> added: r1, r2, r3," in shown
    assert "<strong>6 links</strong> added: r1 Serial0/0 – r2 Serial0/1;" in shown
    assert shown.index("Write this into the inventory") < shown.index("11 devices")  # before what may be long
    assert re.search(r'class="line added">\+r1:', shown)
    assert "links.yaml" in shown
    assert "the source does not tell how long a link is" in shown
    assert TOKEN not in shown
    assert texts(folder) == before
    done = site.post("/networks/library/sync", data=form(shown), headers=session).text
    assert "Written: groups.yaml, hosts.yaml, links.yaml." in done
    assert "The inventory has 11 devices" in done
    assert len(load_network(folder).devices) == 11
    again = site.get("/networks/library/sync").text
    assert "no difference" in again
    assert "Write this" not in again


def test_a_difference_that_is_another_one_by_now_is_refused(
    site: TestClient, session: dict[str, str], folder: Path, netbox: NetBoxServer
) -> None:
    shown = form(site.get("/networks/library/sync").text)
    interface(netbox, "r1", "Serial0/0")["description"] = "of no account"
    (folder / "hosts.yaml").write_text("# Ana was here.\n{}\n")
    before = texts(folder)
    stale = site.post("/networks/library/sync", data=shown, headers=session)
    assert (stale.status_code, stale.headers["hx-retarget"]) == (409, "#messages")
    assert "no longer the one that was shown" in stale.text
    assert "look at it again, and write that one" in stale.text
    assert texts(folder) == before


def test_a_field_that_differs_stands_beside_what_it_was(
    site: TestClient, session: dict[str, str], folder: Path, netbox: NetBoxServer
) -> None:
    site.post("/networks/library/sync", data=form(site.get("/networks/library/sync").text), headers=session)
    hosts = folder / "hosts.yaml"
    hosts.write_text(hosts.read_text().replace('"192.0.2.1"', '"192.0.2.99"'))
    shown = " ".join(re.sub(r"<[^>]+>", " ", site.get("/networks/library/sync").text).split())
    assert "device r1 hostname 192.0.2.99 → 192.0.2.1" in shown


def test_devices_that_went_are_named_and_taken_out_only_when_asked(
    site: TestClient, session: dict[str, str], folder: Path, netbox: NetBoxServer
) -> None:
    site.post("/networks/library/sync", data=form(site.get("/networks/library/sync").text), headers=session)
    remove(netbox, "leaf")
    shown = site.get("/networks/library/sync").text
    assert "The source does not have: <strong>leaf</strong>" in shown
    assert "Write this" not in shown
    shown = site.get("/networks/library/sync?remove=true").text
    assert 'hx-confirm="Take leaf out of the inventory?"' in shown
    done = site.post("/networks/library/sync", data=form(shown), headers=session).text
    assert "The inventory has 10 devices" in done
    assert "leaf" not in (folder / "hosts.yaml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("NETBOX_TOKEN", "NOT_SET", ("source.yaml:4", "the variable NOT_SET is not set", "set it where qosforge")),
        ("{url}", "http://127.0.0.1:9", ("http://127.0.0.1:9", "it cannot be reached", "check &#39;url&#39;")),
        ("plugin: netbox", "plugins: netbox", ("source.yaml:1", "unknown key &#39;plugins&#39;", "did you mean")),
    ],
)
def test_a_source_that_is_wrong_is_reported_in_place_with_its_hint(  # noqa: PLR0917  rows of a table
    site: TestClient,
    session: dict[str, str],
    folder: Path,
    netbox: NetBoxServer,
    old: str,
    new: str,
    told: tuple[str, ...],
) -> None:
    source = folder / "source.yaml"
    source.write_text(source.read_text().replace(old.replace("{url}", netbox.url), new))
    page = site.get("/networks/library/sync")
    assert page.status_code == 200
    for words in told:
        assert words in page.text
    assert "Write this" not in page.text
    assert str(folder.parent) not in page.text
    assert site.get("/networks/library?tab=settings").status_code == 200  # whatever its source is


def test_a_network_without_a_source_says_how_it_gets_one(
    site: TestClient, session: dict[str, str], folder: Path
) -> None:
    assert "the inventory is written by hand" in site.get(f"/networks/{NAME}?tab=settings").text
    assert "This network has no source" in site.get(PAGE).text
    refused = site.post(PAGE, data={"digest": "0" * 64, "remove": "false"}, headers=session)
    assert (refused.status_code, "the network has no source.yaml" in refused.text) == (404, True)
    assert site.get("/networks/nowhere/sync", headers=HX).status_code == 404


def test_others_see_where_it_comes_from_and_no_more(
    backend: Backend, site: TestClient, folder: Path, netbox: NetBoxServer
) -> None:
    for name in ("eve", "near"):
        session = Persons(backend).find(name).log_in(site)
        page = site.get("/networks/library?tab=settings").text
        assert netbox.url in page
        assert "/networks/library/sync" not in page
        assert site.get("/networks/library/sync").status_code == 403
        sent = {"digest": "0" * 64}
        assert site.post("/networks/library/sync", data=sent, headers=session).status_code == 403
