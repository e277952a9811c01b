"""Reading a network, and looking into it, takes work for what it has and no more: calls are counted."""

from __future__ import annotations

import cProfile
import pickle
import pstats
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.campus import write_campus
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Link, Network, Station


def calls(work: Callable[[], object]) -> int:
    """Python calls that the work makes."""
    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.fixture
def campus(tmp_path: Path) -> Callable[..., Path]:
    """A campus of so many devices, in a folder of its own."""

    def build(devices: int, *, ranges: bool) -> Path:
        folder = tmp_path / f"campus{devices}-{ranges}"
        write_campus(folder, devices, ranges=ranges)
        return folder

    return build


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "port by port"])
def test_reading_grows_with_the_devices_and_no_faster(campus: Callable[..., Path], ranges: bool) -> None:
    load_network(campus(4, ranges=ranges))  # what is made once
    some, more = (calls(lambda n=n: load_network(campus(n, ranges=ranges))) for n in (20, 80))

    assert more < some * 4 * 1.1


def test_ranges_are_the_ports_one_by_one_and_take_less(campus: Callable[..., Path]) -> None:
    made, work = {}, {}
    for ranges in (True, False):
        folder = campus(20, ranges=ranges)
        work[ranges] = calls(lambda folder=folder, ranges=ranges: made.update({ranges: load_network(folder)}))

    assert made[True].devices == made[False].devices
    assert work[True] < work[False]


def chain(length: int) -> Network:
    """Stations at both ends of a line of devices."""
    links = tuple(
        Link(a=(f"d{n}", "2"), b=(f"d{n + 1}", "1"), rate="1 Gb/s")  # type: ignore[arg-type]
        for n in range(length - 1)
    )
    ends = (("one", "d0", "1", 1), ("other", f"d{length - 1}", "2", 2))
    stations = tuple(
        Station(name=name, address=f"192.0.2.{host}", attach=(device, port), rate=10**9)
        for name, device, port, host in ends
    )
    return Network(name="chain", devices=(), links=links, stations=stations)


def test_a_path_takes_work_for_the_links_it_may_take() -> None:
    networks = (chain(50), chain(400))
    some, more = (calls(lambda network=network: network.path("one", "other")) for network in networks)  # type: ignore[misc]

    assert more < some * 8 * 1.1
    assert len(chain(400).path("one", "other")) == 400


def test_a_neighbour_is_looked_up() -> None:
    network = chain(400)
    assert network.neighbour(("d7", "1")) == (network.links[6], ("d6", "2"))

    assert calls(lambda: [network.neighbour((f"d{n}", "1")) for n in range(400)]) < 400 * 6


def test_a_copy_with_other_links_has_the_neighbours_of_its_own() -> None:
    network = chain(4)
    assert network.neighbour(("d1", "1")) is not None
    cut = network.model_copy(update={"links": network.links[1:]})

    assert cut.neighbour(("d1", "1")) is None
    assert cut.neighbour(("d2", "1")) is not None


def test_what_was_looked_up_is_no_part_of_a_network() -> None:
    network, fresh = chain(4), chain(4)
    size = len(pickle.dumps(network))
    network.neighbour(("d1", "1"))

    assert network == fresh
    assert network.model_dump_json() == fresh.model_dump_json()
    assert len(pickle.dumps(network)) == size
    assert pickle.loads(pickle.dumps(network)) == fresh
    assert network.model_copy(update={"name": "other"}) != fresh
