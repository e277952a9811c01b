"""A change of three devices costs the same whatever else a network has: what is read and compiled is counted."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from unittest.mock import patch

import pytest

from benchmarks.campus import bare_configuration, change, write_campus
from qosforge.compiler.compile import Compiler
from qosforge.compiler.scope_resolution import devices_in, with_neighbours
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import policy_document
from qosforge.validation import context
from qosforge.validation.checks import own_checks


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Network]:
    made: dict[int, Network] = {}

    def build(devices: int) -> Network:
        if devices not in made:
            folder = tmp_path_factory.mktemp("campuses") / str(devices)
            write_campus(folder, devices)
            made[devices] = load_network(folder)
        return made[devices]

    return build


def running(network: Network) -> dict[str, str]:
    return {device.name: bare_configuration(device) for device in network.devices}


def preview(network: Network, texts: dict[str, str]) -> int:
    """Python calls of a preview with all its checks, as a document."""
    profile = cProfile.Profile()
    profile.enable()
    policy_document(check_policy(change(), network, texts, own_checks=own_checks)).model_dump_json()
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_only_the_devices_of_the_change_and_their_neighbours_are_looked_at(
    campus: Callable[[int], Network],
) -> None:
    network = campus(120)
    with (
        patch.object(Compiler, "device", autospec=True, side_effect=Compiler.device) as compiled,
        patch.object(context, "parse_running", side_effect=context.parse_running) as parsed,
    ):
        found = check_policy(change(), network, running(network), own_checks=own_checks)
    changed = devices_in(change().intent.apply, network)

    assert {device.name for device in found.devices} == changed == {"d0", "d1", "d2"}
    assert compiled.call_count == 3
    assert {call.args[2] for call in parsed.call_args_list} <= with_neighbours(changed, network)
    assert len(with_neighbours(changed, network)) == 1 + 8 + 2 * 8


def test_a_preview_of_three_devices_costs_little_more_in_a_large_network(
    campus: Callable[[int], Network],
) -> None:
    few, many = campus(27), campus(270)  # the three devices and all their neighbours are in both
    preview(few, running(few))  # what is made once
    some, more = preview(few, running(few)), preview(many, running(many))

    # Ten times the devices: to look which of their 48 ports the change concerns is all that grows.
    assert more < 2 * some


def test_links_that_a_change_leaves_alone_are_not_judged(campus: Callable[[int], Network]) -> None:
    network = campus(27)
    compressing = "interface FastEthernet0/48\n ip rtp header-compression\n"
    texts = running(network)
    texts |= {d.name: compressing + texts[d.name] for d in network.devices if d.platform == "cisco_ios"}

    found = check_policy(change(), network, texts, own_checks=own_checks).findings

    judged = {f.device for f in found if f.code == "one-sided-efficiency"}
    assert judged
    assert judged <= with_neighbours(devices_in(change().intent.apply, network), network)
