"""The tables of a network's page: what fits, in which order, a page at a time; and what large networks cost."""

from __future__ import annotations

import cProfile
import pstats
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from benchmarks.campus import bare_configuration, write_campus
from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.device_state import summaries
from qosforge.device_state.last_known import store_readings
from qosforge.device_state.summaries import AT_ONCE, KnownDevices
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.settings import Settings
from qosforge.web.site import create_site
from qosforge.web.views.network_graph import network_graph, network_outline
from qosforge.web.views.network_tables import DeviceSearch, NetworkTables
from qosforge.web.views.networks import NetworkView
from tests.device_texts import said
from tests.web.people import Persons

DEVICES = 120


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    write_campus(tmp_path / "inventories" / "large", DEVICES)
    write_campus(tmp_path / "inventories" / "little", AT_ONCE)
    hosts = tmp_path / "inventories" / "large" / "hosts.yaml"
    told = '    role: access\n    site: "physics"\n    tags: [pilot]\n'
    hosts.write_text(hosts.read_text().replace("    role: access\n", told, 1))
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, inventories_dir=tmp_path / "inventories")
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        Persons(backend).add("ann", Role.VIEWER).log_in(made)
        yield made


def _rows(page: str) -> list[str]:
    return [row.partition('"')[0] for row in page.split('data-device="')[1:]]


def test_devices_come_a_page_at_a_time(site: TestClient) -> None:
    first, last = (site.get(f"/networks/large?page={number}").text for number in (1, 3))
    assert _rows(first) == [f"d{number}" for number in range(50)]
    assert "1–50 of 120" in first
    assert _rows(last) == [f"d{number}" for number in range(100, DEVICES)]
    assert 'rel="next"' not in last
    assert _rows(site.get("/networks/large?page=9").text) == _rows(last), "there is no page 9"


def test_devices_are_sorted_and_filtered_without_scripts(site: TestClient) -> None:
    assert _rows(site.get("/networks/large?sort=-name").text)[:3] == ["d119", "d118", "d117"]
    found = site.get("/networks/large?q=force10+d11").text
    assert _rows(found) == ["d110", "d114", "d118"]
    assert "1–3 of 3 that fit, of 120" in found
    for choice in ("site=physics", "tag=pilot", "site=physics&tag=pilot&platform=catalyst_2970&role=access"):
        assert _rows(site.get(f"/networks/large?{choice}").text) == ["d0"], choice
    assert _rows(site.get("/networks/large?state=drifted").text) == []
    assert "No device fits this filter" in site.get("/networks/large?state=drifted").text
    overview = site.get("/networks/large").text.partition('id="overview"')[2].partition("</dl>")[0]
    assert f'<a href="/networks/large?state=unknown#found">{DEVICES} never read</a>' in overview
    next_page = site.get("/networks/large?q=nortel&sort=-name").text
    assert "q=nortel&amp;sort=platform" in next_page, "the other column keeps what was asked"


def test_links_are_found_by_their_ends(site: TestClient) -> None:
    page = site.get("/networks/large?tab=links&q=d119").text
    assert 'id="link-119"' in page
    assert page.count('<tr id="link-') == 1
    assert site.get("/networks/large?tab=links").text.count('<tr id="link-') == 50


def _read(backend: Backend, network: Network, ending: str = "") -> None:
    store = backend.run_requests.store
    texts = {device.name: said(bare_configuration(device) + ending) for device in network.devices}
    store_readings(store, backend.artifacts, network, texts, store.now())


def test_ports_of_a_switch_that_are_alike_stand_in_one_line(backend: Backend, site: TestClient) -> None:
    network = backend.networks.network("little")
    ports = {name: [one.name for one in network.device(name).interfaces] for name in ("d0", "d3")}
    linked = {end for link in network.links for end in (link.a, link.b)}

    def lines(device: str) -> list[str]:
        page = site.get(f"/networks/little/devices/{device}").text
        for number in range(1, len(ports[device]) + 1):
            assert page.count(f'id="port-{number}"') == 1, "every port can be led to"
        heads = re.findall(r'<div class="head">(.*?)</div>', page, re.DOTALL)
        return [" ".join(re.sub(r"<[^>]+>", " ", head).split()) for head in heads]

    never = lines("d3")
    assert never[0].startswith("FastEthernet0/1-47 "), "also while nothing is known of them"
    _read(backend, network)
    alike, *single = lines("d3")
    assert alike == "FastEthernet0/1-47 no policy 100 Mb/s, ethernet lan"
    assert len(single) == len([port for port in ports["d3"] if ("d3", port) in linked])
    apart = lines("d0")
    assert [line.split()[0] for line in apart if "→" in line] == [
        port for port in ports["d0"] if ("d0", port) in linked
    ], "a port with a neighbour has a line of its own"
    assert len([line for line in apart if "→" not in line]) == 1


def test_a_device_is_summarized_once_for_each_reading(
    backend: Backend, site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = summaries.summarize_devices

    def counting(network: Network, texts: dict[str, object]) -> object:
        made.extend(texts)
        return real(network, texts)  # type: ignore[arg-type]

    monkeypatch.setattr(summaries, "summarize_devices", counting)
    network = backend.networks.network("little")
    _read(backend, network)
    assert "no kept run" in site.get("/networks/little").text
    assert len(made) == AT_ONCE
    site.get("/networks/little")
    assert len(made) == AT_ONCE, "what was made is stored"
    _read(backend, network, "!\n")
    site.get("/networks/little")
    assert len(made) == 2 * AT_ONCE, "another reading is another state"


def test_many_devices_are_summarized_while_the_page_is_there(backend: Backend, site: TestClient) -> None:
    network = backend.networks.network("large")
    _read(backend, network)
    page = site.get("/networks/large").text
    assert 'id="pending"' in page
    assert page.count("being compared") > 50
    for thread in backend.summaries._threads.values():
        thread.join()
    page = site.get("/networks/large").text
    assert 'id="pending"' not in page
    assert "no kept run" in page


def _calls(work: Callable[[], object]) -> int:
    """Function calls that some work takes: unlike seconds, the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_every_device_hangs_on_one_nearer_to_the_middle(tmp_path: Path) -> None:
    write_campus(tmp_path / "campus", 100)
    network = load_network(tmp_path / "campus")
    found = network_graph(NetworkView(network, KnownDevices()), "")
    above = {one["id"]: one["above"] for one in found["devices"]}
    assert [device for device, on in above.items() if not on] == ["d0"]
    ends = {frozenset((one["source"], one["target"])) for one in found["links"]}
    assert {frozenset(pair) for pair in above.items() if pair[1]} == ends, (
        "the links of a tree are what they hang on"
    )


def test_an_outline_has_every_device_below_the_one_that_it_hangs_on(tmp_path: Path) -> None:
    write_campus(tmp_path / "campus", 100)
    view = NetworkView(load_network(tmp_path / "campus"), KnownDevices())
    above = {one["id"]: one["above"] for one in network_graph(view, "")["devices"]}
    rows = network_outline(view)
    assert sorted(row.card.device.name for row in rows) == sorted(above)
    way: list[str] = []
    for row in rows:
        way = [*way[: row.depth], row.card.device.name]
        assert above[way[-1]] == (way[-2] if row.depth else ""), row
        assert [sorted(end.device for end in link.ends) for link in row.links] == (
            [sorted(way[-2:])] if row.depth else []
        )


def test_four_times_the_devices_cost_about_four_times_as_much(tmp_path: Path) -> None:
    found = []
    for count in (250, 1000):
        write_campus(tmp_path / str(count), count)
        network = load_network(tmp_path / str(count))

        def page(network: Network = network) -> None:
            view = NetworkView(network, KnownDevices())
            tables = NetworkTables(view, DeviceSearch(q="d", sort="-name"))
            assert tables.devices.fitting == len(network.devices)
            assert tables.links.fitting == len(network.links)
            network_graph(view, "")

        found.append(_calls(page))
    assert found[1] < 6 * found[0], found
