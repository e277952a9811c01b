"""Source ports of planned flows: what a station sends from one port has one DSCP, so each flow has its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge import errors
from qosforge.intent.loader import parse_intent
from qosforge.inventory.loader import load_network
from qosforge.tester.measurement_plan import MeasurementPlan

from .two_sites import FLOOD, INTENT, VOICE, write

BY_PORT = INTENT.replace("{dscp: [ef]}", "{protocol: udp, source_port: 20000}")


def ports(folder: Path, intent: str) -> list[tuple[str, int, str]]:
    plan = MeasurementPlan.of(parse_intent(intent % 1, "two.yaml").intent, load_network(folder))
    return [(flow.name, flow.source_port, flow.traffic_class) for flow in plan.scenarios[0].flows]


def test_flows_of_one_station_have_ports_of_their_own(tmp_path: Path) -> None:
    found = ports(write(tmp_path, [VOICE, FLOOD]), INTENT)
    assert found == [("voice", 20000, "voice"), ("flood-1", 20001, "default"), ("flood-2", 20002, "default")]


def test_a_port_that_makes_the_class_is_not_exchanged_for_another(tmp_path: Path) -> None:
    folder = write(tmp_path, [FLOOD | {"count": 1}, VOICE])
    with pytest.raises(errors.TesterError, match="source port 20000") as refused:
        ports(folder, BY_PORT)
    assert refused.value.where.file == "traffic.yaml"
    assert "src_port" in refused.value.hint
