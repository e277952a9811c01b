"""Packets are sent through a network of others only as far as it permits."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qosforge.errors import InputError, InputErrors
from qosforge.inventory.probes import ProbePermission
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.permission import link_loads, require_permission
from qosforge.tester.plugins import measure_packets

from .two_sites import FILES, FLOOD, VOICE, Described, intent, network

NIGHT = [{"from": "22:00", "to": "05:00"}]
MIDDAY = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


def plan(folder: Path, *flows: Described, probes: Described | None = None, **more: Any) -> MeasurementPlan:
    return MeasurementPlan.of(intent(folder).intent, network(folder, list(flows), probes, **more))


def test_loads_of_links_are_told_before_anything_is_sent(tmp_path: Path) -> None:
    (load,) = link_loads(plan(tmp_path, VOICE, FLOOD))
    assert str(load) == "r FastEthernet0/1: 880 kb/s, 88 % of 1 Mb/s"
    (greedy,) = link_loads(plan(tmp_path, VOICE, FILES))
    assert str(greedy) == "r FastEthernet0/1: as much as it carries, 100 % of 1 Mb/s"


@pytest.mark.parametrize(
    ("permission", "line", "refusal"),
    [
        ({}, "100 Mb/s", "nobody permitted probes"),
        ({"allowed": True}, "1 Mb/s", r"scenario both would load r FastEthernet0/1: 80 kb/s, 8 % .* above 5 %"),
        ({"allowed": True}, "2 Mb/s", None),
        ({"allowed": True, "percent_of_link": 10}, "1 Mb/s", None),
        ({"allowed": True, "windows": NIGHT}, "2 Mb/s", "permitted again at 2026-11-02 22:00Z"),
        ({"allowed": True, "windows": NIGHT, "zone": "Asia/Tokyo"}, "2 Mb/s", "again at 2026-11-02 13:00Z"),
        ({"allowed": True, "windows": [{"from": "11:00", "to": "13:00"}]}, "2 Mb/s", None),
    ],
)
def test_permission(tmp_path: Path, permission: dict[str, Any], line: str, refusal: str | None) -> None:
    made = plan(tmp_path, VOICE, line=line)
    given = ProbePermission.model_validate(permission)
    if refusal is None:
        require_permission(made, given, MIDDAY)
        return
    with pytest.raises(InputError, match=refusal):
        require_permission(made, given, MIDDAY)


def test_greedy_traffic_takes_permission_for_the_whole_link(tmp_path: Path) -> None:
    made = plan(tmp_path, FILES)
    with pytest.raises(InputError, match="as much as it carries"):
        require_permission(made, ProbePermission(allowed=True, percent_of_link=99), MIDDAY)
    require_permission(made, ProbePermission(allowed=True, percent_of_link=100), MIDDAY)


def test_hosts_outside_a_lab_take_permission_before_they_are_contacted(tmp_path: Path) -> None:
    hosts = [{"station": name, "ssh": "nobody@192.0.2.1"} for name in ("h1", "h2")]
    with pytest.raises(InputError, match="nobody permitted probes"):
        measure_packets("probes", plan(tmp_path, VOICE, probes={"hosts": hosts}), "before")


def test_a_station_without_a_host_is_named(tmp_path: Path) -> None:
    probes = {"hosts": [{"station": "h1", "namespace": "one"}]}
    with pytest.raises(InputError, match="no host is known behind h2"):
        measure_packets("probes", plan(tmp_path, VOICE, probes=probes), "before")


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ({"station": "h3", "namespace": "one"}, "there is no station h3"),
        ({"station": "h1"}, "give ssh or namespace"),
        ({"station": "h1", "ssh": "-oProxyCommand=x"}, "is no host to log in to"),
        ({"station": "h1", "namespace": "a b"}, "names no namespace"),
        ({"station": "h1", "namespace": "one", "clock": "sundial"}, "clock"),
    ],
)
def test_what_is_wrong_with_a_host_is_told_with_its_place(
    tmp_path: Path, host: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputErrors, match=message) as refused:
        plan(tmp_path, VOICE, probes={"hosts": [host]})
    assert "probes.yaml" in str(refused.value)
