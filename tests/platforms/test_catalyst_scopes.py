"""What inputs trust and ports send at most: scopes of an intent on the Catalysts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Finding
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.inventory.models import Network
from qosforge.plan.model import Scheduler, Trust

from .catalyst_support import BOXES, PHONES, REST, VOICE, WEB, booted, network, port, startup


def scoped(
    *classes: dict[str, Any], inputs: dict[str, Any] | None = None, outputs: dict[str, Any] | None = None
) -> LoadedIntent:
    """An intent whose scopes say more than where."""
    where = {"role": "access", "interfaces": ["lan", "trunk"]}
    document = {
        "version": 1,
        "intent": "test",
        "classes": list(classes),
        "apply": [
            {**where, "direction": "input", **(inputs or {})},
            {**where, "direction": "output", **(outputs or {})},
        ],
    }
    return parse_intent(json.dumps(document), "test.yaml")


def compiled(device: str, loaded: LoadedIntent, running: str, net: Network | None = None) -> CompiledDevice:
    result = compile_intent(loaded, net or network(), {device: running})
    return next(d for d in result.devices if d.name == device)


def finding(device: CompiledDevice, code: str, interface: str | None = None) -> Finding:
    (found,) = [f for f in device.findings if f.code == code and interface in (None, f.interface)]
    return found


@pytest.mark.parametrize("device", ["s2950", "s2970"])
@pytest.mark.parametrize("trust", list(Trust)[1:])
def test_trust_is_taken_held_and_given_back(device: str, trust: Trust, tmp_path: Path) -> None:
    loaded = scoped(VOICE, REST, inputs={"trust": trust.value})
    host = "FastEthernet0/1" if device == "s2950" else "GigabitEthernet0/5"
    box = booted(device, tmp_path, startup(device))
    assert box.configure([f"interface {host}", " mls qos trust device cisco-phone", " mls qos trust cos"]) == []
    before = box.running_text()
    result = compiled(device, loaded, before)
    candidate = make_candidate(result, before)
    assert box.configure(candidate.delta) == []
    held = BOXES[device].parse(box.running_text(), device, result.request.image)
    assert port(held, host).ingress.trust is trust
    assert find_plan_differences(result.plan, held) == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_an_override_of_the_cos_goes_where_a_mark_is_trusted(device: str, tmp_path: Path) -> None:
    trunk = "GigabitEthernet0/1"
    box = booted(device, tmp_path, startup(device))
    assert box.configure([f"interface {trunk}", " mls qos cos 3", " mls qos cos override"]) == []
    before = box.running_text()
    assert "mls qos cos override" in before
    loaded = scoped(PHONES, REST)
    candidate = make_candidate(compiled(device, loaded, before), before)
    assert box.configure(candidate.delta) == []
    held = BOXES[device].parse(box.running_text(), device, "12.1EA-EI")
    assert port(held, trunk).ingress.trust is Trust.DSCP
    assert port(held, trunk).ingress.rules == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


def scheduler(device: CompiledDevice, name: str) -> Scheduler:
    held = port(device.plan, name).egress.scheduler
    assert held is not None
    return held


def test_a_2970_limits_a_port_in_per_cent(tmp_path: Path) -> None:
    loaded = scoped(VOICE, WEB, REST, outputs={"shape": {"rate": "33500 kb/s"}, "interfaces": "lan"})
    box = booted("s2970", tmp_path, startup("s2970"))
    before = box.running_text()
    result = compiled("s2970", loaded, before)
    assert scheduler(result, "GigabitEthernet0/5").limit_percent == 33
    near = finding(result, "port-shape-approximate", "GigabitEthernet0/5")
    assert (near.requested, near.applied) == ("33.5 Mb/s (33.5 %)", "about 33 Mb/s (33 %)")
    refused = finding(result, "port-shape-unsupported", "GigabitEthernet0/6")
    assert (refused.severity, refused.requested, refused.applied) == ("error", "33.5 Mb/s (3.35 %)", "not limited")
    assert scheduler(result, "GigabitEthernet0/6").limit_percent is None
    shares = {
        f.traffic_class: (f.requested_percent, f.applied_percent)
        for f in result.fidelity
        if f.interface == "GigabitEthernet0/5"
    }
    # Shares are of what is asked of the port: half a point of its rate is 1.5 % of that.
    assert shares["web-and-file"] == (pytest.approx(35), pytest.approx(35 - 0.7 * 100 * 0.5 / 33.5, abs=1e-3))

    candidate = make_candidate(result, before)
    assert box.configure(candidate.delta) == []
    assert find_plan_differences(result.plan, BOXES["s2970"].parse(box.running_text(), "s2970", "12.2")) == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


def test_a_2970_limits_no_port_above_its_range() -> None:
    result = compiled("s2970", scoped(WEB, REST, outputs={"shape": {"rate": "96 Mb/s"}}), startup("s2970"))
    near = finding(result, "port-shape-approximate", "GigabitEthernet0/5")
    assert (near.severity, near.applied) == ("warning", "about 90 Mb/s (90 %)")


def test_a_whole_per_cent_of_a_2970_is_not_exact_either() -> None:
    result = compiled("s2970", scoped(WEB, REST, outputs={"shape": {"rate": "50 Mb/s"}}), startup("s2970"))
    near = finding(result, "port-shape-approximate", "GigabitEthernet0/5")
    assert (near.severity, near.requested, near.applied) == ("info", "50 Mb/s (50 %)", "about 50 Mb/s (50 %)")


def test_a_link_aggregation_is_served_by_its_members() -> None:
    plain = network()
    switch = plain.device("s2970")
    member = switch.interface("GigabitEthernet0/1").model_copy(update={"lag": "Port-channel1"})
    bundle = member.model_copy(update={"name": "Port-channel1", "lag": None})
    ports = (bundle, member, *switch.interfaces[1:])
    changed = switch.model_copy(update={"interfaces": ports})
    net = plain.model_copy(update={"devices": tuple(changed if d.name == "s2970" else d for d in plain.devices)})
    running = startup("s2970") + "interface Port-channel1\n"
    result = compiled("s2970", scoped(VOICE, WEB, REST), running, net)
    told = finding(result, "port-not-physical")
    assert (told.severity, told.interface) == ("info", "Port-channel1")
    assert result.plan.interface("Port-channel1") is None
    assert "Port-channel" not in result.text

    alone = switch.model_copy(update={"interfaces": (bundle, *switch.interfaces[1:])})
    net = plain.model_copy(update={"devices": tuple(alone if d.name == "s2970" else d for d in plain.devices)})
    assert finding(compiled("s2970", scoped(VOICE, REST), running, net), "port-not-physical").severity == "error"
