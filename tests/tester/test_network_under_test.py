"""A measurement of a network looks at the devices that its packets pass, and finds the same as in the whole."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Device, DeviceRole, Interface, Link, Network
from qosforge.prediction.predict import predict
from qosforge.tester.network_under_test import devices_under_test, network_under_test
from qosforge.tester.twin_measurement import measure

ROOT = Path(__file__).resolve().parents[2]
CAMPUS = load_network(ROOT / "inventories" / "campus")
POLICIES = sorted((ROOT / "policies").glob("*.yaml"))


def larger(network: Network, more: int) -> Network:
    """The network with a chain of devices at its first router that no traffic passes."""
    ports = tuple(Interface(name=f"FastEthernet1/{n}", rate=10**8, role=DeviceRole.CORE) for n in (0, 1))
    devices = tuple(
        Device(
            name=f"x{n}", platform="cisco_ios", image="12.4", role=DeviceRole.CORE, driver="ios", interfaces=ports
        )
        for n in range(more)
    )
    names = [network.devices[0].name, *(device.name for device in devices)]
    links = tuple(
        Link(a=(near, "FastEthernet1/1"), b=(far, "FastEthernet1/0"), rate=10**8) for near, far in pairwise(names)
    )
    # First, so that a path that went another way for them would be seen.
    return network.model_copy(update={"devices": (*devices, *network.devices), "links": (*links, *network.links)})


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_paths_of_the_part_are_those_of_the_whole(path: Path) -> None:
    intent = load_intent(path).intent
    whole = larger(CAMPUS, 20)
    part = network_under_test(intent, whole)

    assert {device.name for device in part.devices} == devices_under_test(intent, CAMPUS)
    for check in intent.verify:
        assert part.path(check.from_, check.to) == whole.path(check.from_, check.to)


def test_the_collaboration_policy_measures_the_whole_campus() -> None:
    intent = load_intent(ROOT / "policies" / "campus-collaboration.yaml").intent

    assert devices_under_test(intent, CAMPUS) == {device.name for device in CAMPUS.devices}


def test_a_prediction_is_that_of_the_devices_that_packets_pass() -> None:
    loaded = load_intent(ROOT / "policies" / "campus-collaboration.yaml")
    loaded = replace(loaded, intent=loaded.intent.model_copy(update={"verify": loaded.intent.verify[:1]}))
    small, large = (
        predict(compile_intent(loaded, network), at_most_seconds=1) for network in (CAMPUS, larger(CAMPUS, 5))
    )

    assert small.measurement == large.measurement


def test_devices_that_no_packet_passes_need_not_be_read() -> None:
    intent = load_intent(ROOT / "policies" / "campus-collaboration.yaml").intent
    check = intent.verify[0].model_copy(update={"seconds": 1})
    short = intent.model_copy(update={"verify": (check,)})
    needed = devices_under_test(short, CAMPUS)
    texts = {
        name: (ROOT / "inventories" / "campus" / "startup" / f"{name}.cfg").read_text(encoding="utf-8")
        for name in needed
    }

    assert {"r1", "r2"} <= needed < {device.name for device in CAMPUS.devices}
    assert measure(short, larger(CAMPUS, 5), texts, seed=1).measurement.scenarios
