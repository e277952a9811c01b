"""Every policy that is shipped, on one device of every platform and train: the twin takes what it compiles to."""

from __future__ import annotations

import json
from typing import Any

import pytest
import qosforge_twin

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import has_errors
from qosforge.inventory.models import Framing, Interface, Link
from qosforge.plan.model import InterfacePlan
from qosforge.platforms.base import platform
from qosforge.tester.scenario.ports import framing_name, twin_port
from qosforge.twin.scenario import PS
from tests.compiler.goldens import LIBRARY, every_platform, findings_of, library
from tests.twin.scenarios import wire

from .measured import Load, measure

Json = dict[str, Any]


def compiled(policy: str) -> list[CompiledDevice]:
    made = library(policy)
    return [each for each in made.devices if not has_errors(findings_of(made, each.name))]


def line(interface: Interface, number: int) -> Link:
    return Link(
        a=("box", interface.name),
        b=(f"far{number}", "1"),
        rate=interface.rate,
        framing=interface.encapsulation,
        tagged=interface.tagged,
    )


def scenario(device: CompiledDevice) -> Json:
    """The device with a line at each interface, through which a station reaches what is behind it."""
    described = every_platform().device(device.name)
    profile = platform(described.platform, device.name).profile
    ports, links, nodes, flows = [], [], [], []
    for number, interface in enumerate(described.interfaces):
        held = device.plan.interface(interface.name) or InterfacePlan(name=interface.name)
        link = line(interface, number)
        ports.append(wire(twin_port(device.plan, held, link, interface.usable, profile, far=held.efficiency)))
        nodes.append({"name": f"far{number}", "ports": [{"name": "1"}]})
        links.append(
            {
                "a": list(link.a),
                "b": list(link.b),
                "rate_bps": link.rate,
                "framing": framing_name(link.framing),
                "tagged": link.tagged,
            }
        )
        source = {"kind": "cbr", "rate_bps": interface.usable // 10, "ip_bytes": 500, "start_ps": PS // 100}
        path = [["station", "nic"], list(link.a)]
        packet = {"dscp": 46, "src": "192.0.2.1", "dst": "198.51.100.1"}
        flows.append({"name": f"to{number}", "path": path, "packet": packet, "source": source})
    entry = ports[0] | {"name": "entry"}
    nic = {"a": ["station", "nic"], "b": ["box", "entry"], "rate_bps": 10**10, "framing": "ethernet"}
    station = {"name": "station", "ports": [{"name": "nic"}]}
    return {
        "version": 1,
        "duration_ps": PS // 20,
        "nodes": [{"name": "box", "ports": [*ports, entry]}, station, *nodes],
        "links": [*links, nic],
        "flows": flows,
    }


@pytest.mark.parametrize("policy", LIBRARY)
def test_the_twin_measures_every_device_that_holds_the_policy(policy: str) -> None:
    devices = compiled(policy)
    assert devices
    for device in devices:
        answer = json.loads(qosforge_twin.run(json.dumps(scenario(device)), 1))
        assert all(flow["delivered"] + flow["lost"] == flow["sent"] > 0 for flow in answer["flows"]), device.name
        assert any(flow["delivered"] for flow in answer["flows"]), device.name


def test_a_tree_that_is_shipped_shares_the_line_as_its_policy_says() -> None:
    """Branch A is bounded to 600 kb/s of 2 Mb/s, 200 to 400 inside; a class of B takes what its sibling leaves."""
    (device,) = (each for each in compiled("torino-link-sharing") if each.name == "ios-15-1")
    interface = device.plan.interface("Serial0/0")
    assert interface is not None
    sources = {name: {"src": f"10.{name[0]}.{name[1]}.1"} for name in ("11", "12", "21", "22")}

    def shared(*names: str) -> list[float]:
        loads = (Load(0, 3_000_000, packet=sources[name]) for name in names)
        return measure(interface, *loads, framing=Framing.HDLC).frame_rates()

    assert shared("11", "12", "22") == pytest.approx([200_000, 400_000, 1_400_000], rel=0.03)
    assert shared("11", "12") == pytest.approx([200_000, 400_000], rel=0.03)
    assert shared("11", "21", "22") == pytest.approx([600_000, 200_000, 1_200_000], rel=0.03)
