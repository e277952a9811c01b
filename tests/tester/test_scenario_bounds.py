"""No packet is later than the bound shown for its flow, whatever the flow's packets become on the lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.inventory.models import Framing
from qosforge.plan.model import (
    DROP,
    TRANSMIT,
    Action,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePolicer,
    Policer,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from tests.tester.small_networks import BACK, FORWARD, Port, flow, row, run

MB = 1_000_000


def percent(value: int) -> Share:
    return Share(unit=ShareUnit.PERCENT, value=value)


def two_classes(term: Term, limit: int = 64) -> Egress:
    """Half of the line for what matches, half for the rest."""
    return Egress(
        policy="TWO",
        rules=(Rule(name="first", any_of=(term,), queue=0),),
        default_queue=1,
        scheduler=Scheduler(
            discipline=Discipline.LLQ_CBWFQ,
            queues=(
                Queue(number=0, name="first", share=percent(50), limit_packets=limit),
                Queue(number=1, name="other", share=percent(50), limit_packets=limit),
            ),
        ),
    )


def recorded(folder: Path, sizes: list[int]) -> dict[str, object]:
    """Packets of these sizes, all at once."""
    file = folder / "burst.csv"
    file.write_text("time,bytes\n" + "".join(f"0,{size}\n" for size in sizes))
    return {"kind": "trace", "file": str(file)}


@pytest.mark.parametrize("framing", [Framing.HDLC, Framing.ATM])
@pytest.mark.parametrize(("mtu", "count", "rate"), [(100, 1, 8_000), (500, 10, 150_000), (500, 10, 250_000)])
def test_packets_that_ip_cuts_take_the_line_time_of_all_their_fragments(
    framing: Framing, mtu: int, count: int, rate: int
) -> None:
    ports = {("r0", FORWARD): Port(efficiency=Efficiency(ip_mtu=mtu))}
    network, plans = row([2 * MB], framing, ports)

    found = run(
        network, plans, [flow("s", {"kind": "cbr", "rate": rate, "ip_bytes": 1500}, count=count)], seconds=4
    )

    assert not found.late()
    assert None not in found.bounds.values()


def test_fragments_stay_fragments_on_the_lines_behind() -> None:
    ports = {("r0", FORWARD): Port(efficiency=Efficiency(ip_mtu=100))}
    network, plans = row([10 * MB, MB // 2], Framing.HDLC, ports)

    found = run(network, plans, [flow("s", {"kind": "cbr", "rate": 8_000, "ip_bytes": 1500})], seconds=4)

    assert not found.late()
    assert found.bounds["s"] is not None


@pytest.mark.parametrize("steady", [0.2, 0.9])
def test_acknowledgements_wait_in_the_queues_of_the_way_back(steady: float) -> None:
    network, plans = row([2 * MB])
    rate = int(2 * MB * steady * 200 / 207)

    found = run(
        network,
        plans,
        [
            flow("steady", {"kind": "cbr", "rate": rate, "ip_bytes": 200}, **{"from": "east", "to": "west"}),
            flow("download", {"kind": "tcp"}, count=8),
        ],
    )

    assert not found.late()
    assert found.bounds["steady"] is not None


def test_acknowledgements_are_bounded_by_the_slowest_line_of_their_data() -> None:
    """The last line of the way is fifty times as fast; what it could carry of data no acknowledgement answers."""
    network, plans = row([2 * MB, 100 * MB])

    found = run(
        network,
        plans,
        [
            flow("steady", {"kind": "cbr", "rate": MB, "ip_bytes": 200}, **{"from": "east", "to": "west"}),
            flow("download", {"kind": "tcp"}, count=4),
        ],
        seconds=5,
    )

    assert not found.late()
    assert 0 < float(found.bounds["steady"] or 0) < 0.25


def test_flows_of_one_description_may_be_of_different_classes() -> None:
    """The class takes the first four source ports; the other two flows come to where an overload waits."""
    four = Term(protocol=17, source_ports=(PortRange(first=30000, last=30003),))
    ports = {("r0", FORWARD): Port(egress=two_classes(four))}
    network, plans = row([MB], ports=ports)

    found = run(
        network,
        plans,
        [
            flow("call", {"kind": "cbr", "rate": 80_000, "ip_bytes": 200}, src_port=30000, count=6),
            flow("flood", {"kind": "poisson", "rate": MB, "ip_bytes": 1500}),
        ],
    )

    assert not found.late()
    assert found.bounds["call-4"] != found.bounds["call-5"]
    assert found.bounds["call-5"] == found.bounds["call-6"]
    assert {name: stream.count for name, stream in found.streams.items() if name.startswith("call")}.keys() != {
        "call"
    }


@pytest.mark.parametrize("size", [200, 4000])
def test_segments_are_as_large_as_the_traffic_says(size: int) -> None:
    network, plans = row([MB // 4])

    found = run(
        network,
        plans,
        [
            flow("call", {"kind": "cbr", "rate": 80_000, "ip_bytes": 200}),
            flow("bulk", {"kind": "tcp", "ip_bytes": size}),
        ],
    )

    assert not found.late()
    assert found.packet_bytes["bulk"] == size
    assert found.bounds["call"] is not None


def test_a_policer_behind_header_compression_lets_more_ip_bits_pass(tmp_path: Path) -> None:
    policed = Egress(
        policy="POLICED",
        rules=(Rule(name="calls", any_of=(Term(protocol=17),), queue=0, police=Policer(rate=64_000, burst=7000)),),
        default_queue=0,
        scheduler=Scheduler(
            discipline=Discipline.LLQ_CBWFQ,
            queues=(Queue(number=0, name="calls", share=percent(90), limit_packets=1000),),
        ),
    )
    compressed = Efficiency(header_compression=True)
    ports = {("r0", FORWARD): Port(policed, efficiency=compressed), ("r1", BACK): Port(efficiency=compressed)}
    network, plans = row([MB // 4], ports=ports)

    found = run(network, plans, [flow("s", recorded(tmp_path, [60] * 300), application="rtp-audio", start=3.0)])

    assert not found.late()
    assert found.bounds["s"] is not None


def test_the_dearest_packet_of_a_line_of_cells_is_not_the_smallest(tmp_path: Path) -> None:
    """80 bytes fill two ATM cells, 81 begin a third."""
    bucket = Policer(rate=100_000, burst=40_000, conform=TRANSMIT, exceed=DROP)
    ingress = Ingress(policers=(InterfacePolicer(any_of=(), police=bucket),))
    one = Egress(
        policy="ONE",
        default_queue=0,
        scheduler=Scheduler(
            discipline=Discipline.LLQ_CBWFQ,
            queues=(Queue(number=0, name="class-default", share=percent(100), limit_packets=2000),),
        ),
    )
    ports = {("r0", "FastEthernet0/0"): Port(ingress=ingress), ("r0", FORWARD): Port(one)}
    network, plans = row([2 * MB], Framing.ATM, ports)

    found = run(network, plans, [flow("s", recorded(tmp_path, [80, *[81] * 500]), start=3.0)])

    assert not found.late()
    assert found.bounds["s"] is not None


def test_what_is_small_passes_where_the_usual_packet_does_not(tmp_path: Path) -> None:
    """A bucket of 500 bytes drops every second packet of a recording; the others wait before a steady flow."""
    bucket = Policer(rate=100 * MB, burst=500, conform=TRANSMIT, exceed=DROP)
    any_udp = Term(destination_ports=(PortRange(first=6000, last=6000),), protocol=17)
    ingress = Ingress(policers=(InterfacePolicer(any_of=(any_udp,), police=bucket),))
    network, plans = row([MB // 4], ports={("r0", "FastEthernet0/0"): Port(ingress=ingress)})

    found = run(
        network,
        plans,
        [
            flow("mixed", recorded(tmp_path, [300, 1500] * 50), dst_port=6000, start=3.0),
            flow("steady", {"kind": "cbr", "rate": 80_000, "ip_bytes": 200}),
        ],
    )

    assert not found.late()


def test_what_a_policer_marks_otherwise_waits_in_another_queue() -> None:
    """What exceeds 100 kb/s loses its mark, and with the default class's own load is more than that has."""
    bucket = Policer(rate=100_000, burst=3000, conform=TRANSMIT, exceed=Action(set_dscp=8))
    marked = Term(protocol=17, destination_ports=(PortRange(first=6000, last=6000),))
    ports = {
        ("r0", "FastEthernet0/0"): Port(
            ingress=Ingress(policers=(InterfacePolicer(any_of=(marked,), police=bucket),))
        ),
        ("r0", FORWARD): Port(egress=two_classes(Term(dscp=(46,)))),
    }
    network, plans = row([MB], ports=ports)
    much, less = ({"kind": "cbr", "rate": rate, "ip_bytes": 1000} for rate in (600_000, 480_000))

    found = run(network, plans, [flow("marked", much, dscp=46, dst_port=6000), flow("other", less)])

    assert not found.late()
    assert found.bounds["other"] is not None


def test_a_path_of_many_lines_has_the_bound_of_what_is_sent_on_all_of_them() -> None:
    """One steady flow alone never waits; a queue that may be full on the last lines would say a hundred times."""
    network, plans = row([2 * MB] * 14)

    found = run(network, plans, [flow("s", {"kind": "cbr", "rate": 50_000, "ip_bytes": 500})], seconds=2)

    assert not found.late()
    assert found.worst["s"] <= (found.bounds["s"] or 0) < 1.5 * found.worst["s"]
