"""A thousand devices: requests and time grow as the network does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from qosforge.inventory.loader import load_network
from qosforge.sources.sync import compare_with_source, write_comparison
from tests.sources.conftest import DESCRIPTION
from tests.sources.netbox_server import TOKEN, Records, recorded, serving
from tests.sources.test_netbox import named

PORTS = 6


def campus(devices: int) -> Records:
    """Switches in a chain: each leads to the next by its last port."""
    model = recorded()
    device, port = named(model["dcim/devices"], "s2970"), named(model["dcim/interfaces"], "GigabitEthernet0/6")
    records: Records = {name: [] for name in model}
    for number in range(1, devices + 1):
        name = f"sw{number}"
        records["dcim/devices"].append({**device, "id": number, "name": name, "display": name})
        for index in range(1, PORTS + 1):
            one = {**port, "id": number * 100 + index, "name": f"GigabitEthernet0/{index}"}
            one["device"] = {**one["device"], "id": number, "name": name}
            far = (number + 1, 1) if index == PORTS and number < devices else None
            far = (number - 1, PORTS) if index == 1 and number > 1 else far
            one["connected_endpoints"] = None
            if far is not None:
                end = {"id": far[0] * 100 + far[1], "name": f"GigabitEthernet0/{far[1]}"}
                one["connected_endpoints"] = [{**end, "device": {"id": far[0], "name": f"sw{far[0]}"}}]
            one["connected_endpoints_type"] = "dcim.interface" if far else None
            records["dcim/interfaces"].append(one)
    return records


def measured(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


def test_a_thousand_devices_take_lists_and_no_request_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    seconds = {}
    for count in (100, 1000):
        folder = tmp_path / f"net{count}"
        folder.mkdir()
        with serving(campus(count)) as server:
            text = DESCRIPTION.format(url=server.url).replace(
                "wan-edge, wan-transit, access-switch, core-switch", "access-switch"
            )
            (folder / "source.yaml").write_text(text)
            seconds[count] = measured(lambda folder=folder: write_comparison(compare_with_source(folder)))
            asked = Counter(target.partition("?")[0] for target in server.requests)
            server.requests.clear()
            # The second time nothing differs, and one change is as cheap.
            assert compare_with_source(folder).changes == ()
            assert max(map(len, server.requests)) < 4096
            named(server.records["dcim/interfaces"], "GigabitEthernet0/3", "sw7")["speed"] = 100_000
            comparison = compare_with_source(folder)
            assert [change.name for change in comparison.changes] == ["sw7 GigabitEthernet0/3"]
            write_comparison(comparison)
        network = load_network(folder)
        assert (len(network.devices), len(network.links)) == (count, count - 1)
        pages = {"/api/": 1, "/api/dcim/devices/": -(-count // 500)}
        pages["/api/dcim/interfaces/"] = count // 100 * -(-100 * PORTS // 500)
        assert asked == pages
    # Ten times the devices may take fifteen times the time, and a fixed part.
    assert seconds[1000] < 15 * seconds[100] + 5
