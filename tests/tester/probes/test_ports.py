"""Source ports of planned flows: what a station sends from one port has one DSCP, so each flow has its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge import errors
from qosforge.intent.loader import parse_intent
from qosforge.inventory.loader import load_network
from qosforge.tester.measurement_plan import MeasurementPlan

from .two_sites import FILES, FLOOD, INTENT, VOICE, write

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


ONCE = {"replications": 1}


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        # Two connections take two ports before and two after.
        ([FILES | {"src_port": 65533}], "files takes source ports 65533 to 65536"),
        (
            [FILES, FILES | {"name": "more", "src_port": 20003, "dst_port": 5202}],
            "more takes source ports 20003 to 20006, .* and files of the same station has some",
        ),
        ([VOICE | {"src_port": 65535, "count": 2}], "no source port is left for voice-2"),
    ],
)
def test_a_port_that_is_none_or_another_flows_is_refused(
    tmp_path: Path, flows: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(errors.TesterError, match=message) as refused:
        ports(write(tmp_path, flows, ONCE), INTENT)
    assert str(refused.value.where.path).endswith(".src_port")


def test_connections_that_have_ports_for_each_start_are_taken(tmp_path: Path) -> None:
    beside = FILES | {"name": "more", "src_port": 20004, "dst_port": 5202}
    found = ports(write(tmp_path, [VOICE, FILES | {"src_port": 65532}, FILES | beside], ONCE), INTENT)
    assert [port for _, port, _ in found] == [20000, 65532, 65533, 20004, 20005]
