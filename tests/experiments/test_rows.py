"""Rows of the twin's answers."""

from __future__ import annotations

import pytest

from qosforge.experiments.cases import Case, SubjectSelection
from qosforge.experiments.rows import rows_of
from qosforge.twin.scenario import TwinScenario
from qosforge.twin.simulation import simulate
from tests.twin.scenarios import part

PS = 10**12


def test_loss_of_round_trips_is_of_the_packets_of_both_ways() -> None:
    """Probes fit on the line, their answers of five times the size do not."""
    probe = {"kind": "udp_echo", "ip_bytes": 100, "reply_bytes": 500, "interval_ps": PS // 70}
    document = {
        "version": 1,
        "duration_ps": 20 * PS,
        "nodes": [{"name": name, "ports": [{"name": "out"}]} for name in ("near", "far")],
        "links": [{"a": ["near", "out"], "b": ["far", "out"], "rate_bps": 100_000, "framing": "none"}],
        "flows": [{"name": "probe", "path": [["near", "out"]], "return_path": [["far", "out"]], "source": probe}],
    }
    room = {"queues": [{"name": "all", "limit_packets": 5}], "scheduler": {"kind": "fifo"}}
    document["nodes"][1]["ports"][0]["egress"] = room  # type: ignore[index]
    scenario = part(document, TwinScenario)
    answer = simulate(scenario, 1)
    probes = answer.flows[0]
    answers = probes.returned
    assert answers is not None
    assert probes.lost == 0
    assert answers.lost > 0.6 * answers.sent

    case = Case(("s",), scenario, {"there": SubjectSelection(flows=("probe",))})
    assert rows_of(case, [answer], "frame")["there"].loss_ratio == 0

    case = Case(("s",), scenario, {"both": SubjectSelection(flows=("probe",), round_trip=True)})
    lost = rows_of(case, [answer], "frame")["both"].loss_ratio
    assert lost == pytest.approx(answers.lost / (2 * probes.sent))
