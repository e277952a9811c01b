"""Pause frames beside queues: the Catalysts' guides want flow control off before QoS is enabled."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.findings import Finding

from .catalyst_support import BOXES, PHONES, REST, booted, codes, delta, intent, lowered, port, rendered, startup

HOSTS = {"s2950": "GigabitEthernet0/2", "s2970": "GigabitEthernet0/5"}
OTHERS = {"s2950": "FastEthernet0/9", "s2970": "GigabitEthernet0/9"}


def told(device: str, *lines: str, at: str) -> list[Finding]:
    running = startup(device).replace(
        "!\nend", f"!\ninterface {at}\n" + "".join(f" {x}\n" for x in lines) + "!\nend"
    )
    _, result = lowered(device, intent(PHONES, REST), running)
    return [f for f in result.findings if f.code == "flow-control-present"]


@pytest.mark.parametrize("device", HOSTS)
@pytest.mark.parametrize("line", ["flowcontrol receive on", "flowcontrol receive desired", "flowcontrol send on"])
@pytest.mark.parametrize("at", [HOSTS, OTHERS])
def test_ports_with_flow_control_are_named(device: str, line: str, at: dict[str, str]) -> None:
    (found,) = told(device, line, at=at[device])

    assert (found.severity, at[device] in found.message) == ("warning", True)
    assert "'flowcontrol receive off'" in (found.hint or "")


@pytest.mark.parametrize("device", HOSTS)
@pytest.mark.parametrize("line", ["flowcontrol receive off", "flowcontrol send desired", "description flowcontrol"])
def test_ports_without_it_are_not(device: str, line: str) -> None:
    assert told(device, line, at=HOSTS[device]) == []


@pytest.mark.parametrize("device", HOSTS)
def test_the_line_stays_as_it_is(device: str, tmp_path: Path) -> None:
    box = booted(device, tmp_path, startup(device))
    assert box.configure([f"interface {HOSTS[device]}", "flowcontrol receive on"]) == []
    running = box.running_text()
    request, result = lowered(device, intent(PHONES, REST), running)
    assert codes(result)["flow-control-present"] == "warning"
    assert port(result.plan, HOSTS[device])
    lines, _ = delta(BOXES[device].grammar, running, rendered(device, request, result))
    assert box.configure(lines) == []
    assert " flowcontrol receive on\n" in box.running_text()
    assert not [line for line in lines if "flowcontrol" in line]
