"""Which paths packets are sent on, which ones the twin simulates, and what both come to as one measurement."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from qosforge.errors import QosforgeError
from qosforge.intent.loader import parse_intent
from qosforge.intent.models import Intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network, TrafficFlow
from qosforge.reports.evidence import sentence
from qosforge.resources import root
from qosforge.tester.evidence_parts import EvidenceParts, Part, join_evidence
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import verdicts
from qosforge.tester.measurement_plan import MeasurementPlan
from tests.reports.test_run_report import measured

CAMPUS = load_network(root() / "inventories" / "campus")
INTENT = """\
version: 1
intent: paths
classes:
  - name: voice
    match: {any: [{dscp: [ef]}]}
    treatment: {priority: {percent: 30}}
    objective: {delay: {p95: 50 ms}, loss: 5 %, episode_packets: 1}
  - name: default
apply:
  - {role: edge, interfaces: wan, direction: output}
verify:
"""


@dataclass(frozen=True)
class Flow:
    source: str
    target: str
    kind: str = "cbr"


def network(*flows: Flow) -> Network:
    scenario = CAMPUS.traffic[0]
    described = tuple(
        scenario.flows[0].model_copy(
            update={
                "name": f"f{number}",
                "from_": flow.source,
                "to": flow.target,
                "source": scenario.flows[0].source.model_copy(update={"kind": flow.kind}),
            }
        )
        for number, flow in enumerate(flows)
    )
    pairs = tuple(dict.fromkeys((flow.source, flow.target) for flow in flows))
    only = scenario.model_copy(update={"name": "wan", "between": pairs, "flows": described})
    return CAMPUS.model_copy(update={"traffic": (only,)})


def intent(*pairs: tuple[str, str]) -> Intent:
    checks = "".join(f"  - {{from: {a}, to: {b}, classes: [voice], seconds: 4}}\n" for a, b in pairs)
    return parse_intent(INTENT + checks, "paths.yaml").intent


def paths(part: Part | None) -> list[str]:
    return [check.path for check in part.intent.verify] if part else []


def sent(part: Part | None) -> list[tuple[str, str]]:
    flows: tuple[TrafficFlow, ...] = part.network.traffic[0].flows if part else ()
    return [(flow.from_, flow.to) for flow in flows]


LOCAL, ACROSS = ("vigo1", "vigo3"), ("vigo3", "vigo4")


def test_without_emulated_devices_packets_are_sent_on_every_path() -> None:
    parts = EvidenceParts.of(intent(LOCAL, ACROSS), network(Flow(*LOCAL), Flow(*ACROSS)), frozenset())
    assert (paths(parts.real), parts.emulated) == (["vigo1→vigo3", "vigo3→vigo4"], None)


def test_a_path_through_an_emulated_device_is_simulated_and_others_carry_packets() -> None:
    parts = EvidenceParts.of(intent(LOCAL, ACROSS), network(Flow(*LOCAL), Flow(*ACROSS)), {"e300"})
    assert (paths(parts.real), paths(parts.emulated)) == (["vigo1→vigo3"], ["vigo3→vigo4"])
    assert (sent(parts.real), sent(parts.emulated)) == ([LOCAL], [ACROSS])
    assert parts.told == "vigo1→vigo3 by packets; vigo3→vigo4 by the twin, through emulated devices"


def test_a_path_that_shares_a_line_with_a_simulated_one_is_simulated_too_as_is_what_shares_one_with_it() -> None:
    # The first one shares R1's line with vigo3→vigo4; the second one with the first alone.
    near, next_to_it = ("vigo3", "phone256"), ("phone56", "phone256")
    flows = network(Flow(*LOCAL), Flow(*ACROSS), Flow(*near), Flow(*next_to_it))
    parts = EvidenceParts.of(intent(near, LOCAL), flows, {"e300"})
    assert (sent(parts.real), sorted(sent(parts.emulated))) == ([LOCAL], sorted([ACROSS, near, next_to_it]))


def test_flows_of_one_station_share_its_line_to_the_network() -> None:
    """What the twin simulates alone would be missing on it beside the packets."""
    back = ("vigo3", "vigo1")
    parts = EvidenceParts.of(intent(back), network(Flow(*back), Flow(*ACROSS)), {"e300"})
    assert (parts.real, sorted(sent(parts.emulated))) == (None, sorted([back, ACROSS]))


@pytest.mark.parametrize(("kind", "real"), [("cbr", ["vigo1→vigo3"]), ("tcp", [])])
def test_the_answers_of_tcp_share_lines_too(kind: str, real: list[str]) -> None:
    parts = EvidenceParts.of(intent(LOCAL), network(Flow(*LOCAL, kind), Flow("vigo4", "vigo1")), {"e300"})
    assert paths(parts.real) == real


def test_a_check_without_traffic_is_told_whatever_is_emulated() -> None:
    with pytest.raises(QosforgeError, match="no traffic is described between vigo1 and vigo4"):
        EvidenceParts.of(intent(("vigo1", "vigo4")), network(Flow(*LOCAL)), {"e300"})


def test_a_check_of_an_unknown_station_is_told_with_the_nearest_name() -> None:
    with pytest.raises(
        QosforgeError, match=r"verify\[0\]: no station is called 'trafic3' \(did you mean 'traffic3'"
    ):
        EvidenceParts.of(intent(("vigo1", "trafic3")), network(Flow(*LOCAL)), {"e300"})


def on_path(source: Measurement, path: str, evidence: str) -> Measurement:
    scenario = source.scenarios[0]
    flow = scenario.flows[0].model_copy(
        update={"path": path, "traffic_class": "voice", "name": path, "sd_delay_ps": None}
    )
    return source.model_copy(
        update={"evidence": evidence, "scenarios": (scenario.model_copy(update={"flows": (flow,)}),)}
    )


def test_verdicts_on_one_measurement_of_both_rest_on_what_their_paths_do_and_the_weakest_counts() -> None:
    real = on_path(measured("after", 12, 0), "vigo1→vigo3", "measured")
    real = real.model_copy(update={"tester": "probes", "clock_error_ps": 10**10})
    simulated = on_path(measured("after", 12, 0), "vigo3→vigo4", "emulated").model_copy(
        update={"look": 2, "looks": 3}
    )
    joined = join_evidence(real, simulated)
    assert Measurement.model_validate_json(joined.model_dump_json()).evidence == "emulated"
    judged = {
        each.path: each.verdict
        for each in verdicts(intent(LOCAL, ACROSS), network(Flow(*LOCAL), Flow(*ACROSS)), joined)
    }
    assert {path: verdict.evidence for path, verdict in judged.items()} == {
        "vigo1→vigo3": "measured",
        "vigo3→vigo4": "emulated",
    }
    # Clocks of hosts are no matter of a simulation, and packets are looked at once.
    assert [verdict.bounds[0].clock_error for verdict in judged.values()] == [0.01, 0.0]
    assert [verdict.look for verdict in judged.values()] == [1, 2]
    assert joined.part("predicted") is None
    # At a further look the packets, and perhaps the words for the twin, are those of the joined one.
    for further in (simulated, simulated.model_copy(update={"delay_reference": joined.delay_reference})):
        again = join_evidence(joined.part("measured"), further)
        assert (again.tester, again.delay_reference) == (joined.tester, joined.delay_reference)
    with pytest.raises(ValidationError, match="the weakest of its scenarios is emulated"):
        Measurement.model_validate(joined.model_dump() | {"evidence": "measured"})


@pytest.mark.parametrize("independent", [True, False])
def test_starts_of_their_own_are_judged_by_the_spread_between_them_and_periods_are_not(independent: bool) -> None:
    source = on_path(measured("after", 12, 0), "vigo1→vigo3", "measured")
    flow = source.scenarios[0].flows[0]
    flows = tuple(
        flow.model_copy(
            update={
                "replication": number,
                "samples": tuple((t, d + number * 10**7 + t % 977) for t, d in flow.samples),
            }
        )
        for number in range(8)
    )
    scenario = source.scenarios[0].model_copy(
        update={"flows": flows, "replications": 8, "seconds": 2.0, "independent": independent}
    )
    document = source.model_copy(update={"scenarios": (scenario,)})
    (judged,) = verdicts(intent(LOCAL), network(Flow(*LOCAL)), document)
    told = sentence(judged.verdict.bounds[0], judged)
    assert judged.verdict.bounds[0].replications == (8 if independent else 1)
    assert ("in 8 measurements of 2 s" in told) is independent
    assert ("it is one realisation" in told) is not independent


@pytest.mark.parametrize(
    ("objective", "asked", "replications"),
    [
        ("delay: {p95: 50 ms}", None, 8),
        ("loss: 5 %", None, 1),
        ("loss: 5 %", 12, 12),
        ("delay: {p95: 50 ms}", 1, 1),
    ],
)
def test_delays_take_starts_of_their_own_unless_the_network_says_otherwise(
    objective: str, asked: int | None, replications: int
) -> None:
    text = INTENT.replace("delay: {p95: 50 ms}, loss: 5 %", objective)
    checks = "  - {from: vigo1, to: vigo3, classes: [voice], seconds: 4}\n"
    net = network(Flow(*LOCAL))
    probes = net.probes.model_copy(update={"replications": asked})
    plan = MeasurementPlan.of(
        parse_intent(text + checks, "paths.yaml").intent, net.model_copy(update={"probes": probes})
    )
    assert (plan.replications, plan.scenarios[0].seconds) == (replications, 4)


@pytest.mark.parametrize("replications", [None, 1])
def test_connections_that_are_told_by_their_source_port_cannot_begin_anew(replications: int | None) -> None:
    """Also those that begin once: after a push they begin again, while their port before it is still held."""
    told_by_port = INTENT.replace("{dscp: [ef]}", "{protocol: [tcp], source_port: [20000]}")
    text = told_by_port + "  - {from: vigo1, to: vigo3, classes: [voice], seconds: 4}\n"
    loaded, net = parse_intent(text, "paths.yaml").intent, network(Flow(*LOCAL, "tcp"))
    scenario = net.traffic[0]
    tcp = scenario.flows[0].model_copy(update={"protocol": "tcp", "src_port": 20000})
    net = net.model_copy(
        update={
            "traffic": (scenario.model_copy(update={"flows": (tcp,)}),),
            "probes": net.probes.model_copy(update={"replications": replications}),
        }
    )
    with pytest.raises(QosforgeError, match="f0 is told by its source port 20000") as refused:
        MeasurementPlan.of(loaded, net)
    assert "replications" not in refused.value.hint
