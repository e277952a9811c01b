"""What MGEN, iperf3, irtt and time services say, read; and what MGEN is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qosforge import errors
from qosforge.tester.measurement.document import Measurement, ScenarioResult
from qosforge.tester.measurement.judging import verdicts
from qosforge.tester.measurement_plan import MeasurementPlan, PlannedFlow
from qosforge.tester.probes import iperf3, irtt
from qosforge.tester.probes.clocks import ClockDifference, read_chrony, read_ntp, read_ptp
from qosforge.tester.probes.mgen import ReceivedLog, SentLog, read_received, read_sent, receive_words, send_words
from qosforge.tester.probes.results import join_starts, udp_result
from qosforge.tester.probes.tester import seconds_taken

from .two_sites import FILES, FLOOD, VOICE, intent, network


def planned(folder: Path, *flows: dict[str, Any], seconds: int = 2, **more: Any) -> MeasurementPlan:
    return MeasurementPlan.of(intent(folder, seconds).intent, network(folder, list(flows), **more))


def flows_of(folder: Path, *flows: dict[str, Any], **more: Any) -> dict[int, PlannedFlow]:
    return dict(enumerate(planned(folder, *flows, **more).scenarios[0].flows, start=1))


def test_mgen_is_told_rates_sizes_ports_and_marks(tmp_path: Path) -> None:
    flows = flows_of(tmp_path, VOICE, FLOOD)
    words = send_words(flows, {1: 0.25, 2: 0.0, 3: 0.5}, 3.5)
    events = [words[number + 1] for number, word in enumerate(words) if word == "event"]
    assert words[:3] == ["mgen", "flush", "txlog"]
    # 80 kb/s of 200 bytes are 50 packets a second, whose payload is without the 28 bytes of IP and UDP.
    assert events[:2] == [
        "0.250000 ON 1 UDP SRC 20000 DST 10.9.2.1/16384 PERIODIC [50.000000 172] TOS 0xb8",
        "3.500000 OFF 1",
    ]
    assert events[2] == "0.000000 ON 2 UDP SRC 20001 DST 10.9.2.1/9000 POISSON [71.428571 672] TOS 0x00"
    assert events[4].startswith("0.500000 ON 3 UDP SRC 20002 ")
    assert receive_words(flows.values())[2:] == ["event", "0.0 LISTEN UDP 9000,16384"]


def test_packets_of_ipv6_have_longer_headers(tmp_path: Path) -> None:
    flows = flows_of(tmp_path, VOICE, addresses=("fd09:1::1", "fd09:2::1"))
    assert "DST fd09:2::1/16384 PERIODIC [50.000000 152]" in send_words(flows, {1: 0.0}, 1)[4]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"kind": "video", "frames_per_second": 15, "frame_bytes": 3200}, "MGEN sends no video"),
        ({"kind": "cbr", "rate": "80 kb/s", "ip_bytes": 55}, "packets of 56 to 8220 bytes, not 55"),
        ({"kind": "cbr", "rate": "80 kb/s", "ip_bytes": 9000}, "packets of 56 to 8220 bytes, not 9000"),
    ],
)
def test_what_mgen_cannot_send_is_refused(tmp_path: Path, source: dict[str, Any], message: str) -> None:
    flows = flows_of(tmp_path, {**VOICE, "source": source})
    with pytest.raises(errors.TesterError, match=message):
        send_words(flows, {1: 0.0}, 1)


def sent_line(moment: str, sequence: int, flow: int = 1) -> str:
    return f"{moment} SEND proto>UDP flow>{flow} seq>{sequence} srcPort>20000 dst>10.9.2.1/16384 size>172"


def received_line(moment: str, sequence: int, sent: str, flow: int = 1) -> str:
    return (
        f"{moment} RECV proto>UDP flow>{flow} seq>{sequence} src>10.9.1.1/20000 dst>10.9.2.1/16384 sent>{sent} "
        "size>172 gps>INVALID,999.000000,999.000000,4294966297 "
    )


MOMENTS = [f"23:59:58.{n:02d}0000" for n in range(0, 100, 2)] + [f"23:59:59.{n:02d}0000" for n in range(0, 100, 2)]
AFTER_MIDNIGHT = [f"00:00:00.{n:02d}0000" for n in range(0, 100, 2)]


def test_a_measurement_over_midnight_loses_no_packet_and_invents_none(tmp_path: Path) -> None:
    """Voice of 50 packets a second; those from the hundredth on are of the next day, and one crosses it."""
    plan = planned(tmp_path, VOICE)
    moments = MOMENTS + AFTER_MIDNIGHT
    log = ["23:59:58.000000 START Mgen Version 5.02b"]
    log += [sent_line(moment, number) for number, moment in enumerate(moments)]
    received = [received_line(moments[n][:-4] + "7000", n, moments[n]) for n in range(150) if n not in (60, 61, 99)]
    received.append(received_line("00:00:00.004000", 99, moments[99]))
    received.append(received_line("00:00:00.005000", 99, moments[99]))  # a copy
    received.append(received_line("00:00:00.005000", 7, moments[99], flow=9))  # of somebody else
    sent, got = read_sent("\n".join(log)), read_received("\n".join(received), [1])
    result = udp_result(plan.scenarios[0].flows[0], 1, plan.scenarios[0], (sent, got), ClockDifference())
    assert got.copies == 1
    # The second that was the warm-up is left out: 100 packets are, of which 60 and 61 are lost.
    assert (result.sent, result.delivered, result.lost) == (100, 98, 2)
    assert [sent for sent, delay in result.samples if delay == -1] == [1_200_000_000_000, 1_220_000_000_000]
    assert dict(result.samples)[1_980_000_000_000] == 24_000_000_000
    assert result.max_delay_ps == 24_000_000_000
    assert result.min_delay_ps == 7_000_000_000
    assert (result.offered_bps, result.throughput_bps) == (80_000, 78_400)


def test_what_comes_too_late_for_a_document_is_lost(tmp_path: Path) -> None:
    """A packet each 20 ms of 4 s; at line rates of some kb/s a queue holds more than a start measures."""
    plan = planned(tmp_path, VOICE, seconds=4, probes={"replications": 1})
    flow, scenario = plan.scenarios[0].flows[0], plan.scenarios[0]
    sent = SentLog(0, {1: tuple((number, 1_000_000 + number * 20_000) for number in range(200))})
    # By their microseconds: just within the 4 s, longer than these; just before 7 s, after them; on time.
    delays = dict.fromkeys(range(200), 5_000) | {0: 4_000_000, 1: 4_000_001, 198: 2_040_000, 199: 2_020_001}
    received = ReceivedLog({1: delays}, {1: tuple(range(200))}, 0)
    found = udp_result(flow, 1, scenario, (sent, received), ClockDifference())
    assert (found.sent, found.lost) == (200, 2)
    assert [number for number, (_, delay) in enumerate(found.samples) if delay == -1] == [1, 199]
    assert found.max_delay_ps == 4 * 10**12
    said = {"when": "before", "evidence": "measured", "tester": "probes", "seed": 1, "delay_reference": "by MGEN"}
    of_it = {"name": scenario.name, "title": scenario.title, "seconds": 4, "warm_up_seconds": 1, "flows": [found]}
    assert Measurement.model_validate(said | {"scenarios": [of_it]}).scenarios[0].flows[0] == found


def starts_of(plan: MeasurementPlan, *sent: int) -> list[ScenarioResult]:
    """Starts in each of which the first flow sent so many packets, and lost none."""
    scenario = replace(plan.scenarios[0], seconds=2)
    flow, found = scenario.flows[0], []
    for start, count in enumerate(sent):
        moments = [(number, 1_000_000 + number * 500_000 + start * 7) for number in range(count)]
        logs = (SentLog(0, {1: tuple(moments)}), ReceivedLog({1: dict.fromkeys(range(count), 900 + start)}, {}, 0))
        result = udp_result(flow, 1, scenario, logs, ClockDifference(), replications=len(sent))
        found.append(ScenarioResult(name=scenario.name, title="", seconds=2, warm_up_seconds=1, flows=(result,)))
    return found


def test_a_sparse_flow_may_send_nothing_in_a_start_and_is_judged_by_the_others(tmp_path: Path) -> None:
    """Of two packets a second one start of 2 s in 55 is empty."""
    sparse = VOICE | {"source": {"kind": "poisson", "rate": "3200 b/s", "ip_bytes": 200}}
    plan = planned(tmp_path, sparse, seconds=16)
    joined = join_starts(plan.scenarios[0], starts_of(plan, 4, 3, 0, 4, 2, 4, 4, 3))
    assert [flow.sent for flow in joined.flows] == [4, 3, 0, 4, 2, 4, 4, 3]
    measured = Measurement(
        when="before", evidence="measured", tester="probes", seed=1, delay_reference="MGEN", scenarios=(joined,)
    )
    (judged,) = verdicts(intent(tmp_path, 16).intent, plan.network, measured)
    assert {bound.replications for bound in judged.verdict.bounds} == {8}
    with pytest.raises(errors.TesterError, match="flow voice sent nothing in the 2 s of each of 2 starts"):
        join_starts(plan.scenarios[0], starts_of(plan, 0, 0))


def test_a_flow_that_starts_when_each_start_is_over_is_refused_before(tmp_path: Path) -> None:
    late = VOICE | {"start": "3 s"}
    with pytest.raises(errors.TesterError, match="voice starts after 3 s, when both is over") as refused:
        planned(tmp_path, late, seconds=16)
    assert "replications: 1" in refused.value.hint
    assert planned(tmp_path, late, seconds=16, probes={"replications": 1}).replications == 1


@pytest.mark.parametrize(
    ("seconds", "replications", "told"),
    [(4, 1, "4 s"), (4, 8, "16 s in 8 starts of 2 s"), (30, 8, "32 s in 8 starts of 4 s")],
)
def test_the_seconds_that_are_told_are_those_that_are_sent(
    tmp_path: Path, seconds: int, replications: int, told: str
) -> None:
    plan = planned(tmp_path, VOICE, seconds=seconds, probes={"replications": replications})
    assert plan.told_seconds(plan.scenarios[0]) == told


def test_what_probes_take_has_the_comparisons_of_clocks_between_hosts(tmp_path: Path) -> None:
    """The timer of devices that hold a push lasts as long: it is to outlast two logins, twice a start and
    pair, and the seconds that several senders send longer."""
    back = VOICE | {"name": "back", "from": "h2", "to": "h1"}

    def taken(flows: list[dict[str, Any]], **host: str) -> float:
        hosts = [{"station": name, **host} for name in ("h1", "h2")]
        return seconds_taken(planned(tmp_path, *flows, seconds=16, probes={"hosts": hosts}))

    apart, together = taken([VOICE], ssh="probe@192.0.2.1"), taken([VOICE], namespace="probe")
    assert together == 8 * (2 + 4.5)
    assert apart - together == 8 * 2 * (2 * 1 + 0.5)
    assert taken([VOICE, back, FILES], ssh="probe@192.0.2.1") - together == 2 * (apart - together) + 8 * 3
    assert apart - taken([VOICE], ssh="probe@192.0.2.1", clock="chrony") == 8 * 2 * 0.5


def test_the_clocks_difference_is_taken_off_and_its_error_forgiven(tmp_path: Path) -> None:
    plan = planned(tmp_path, VOICE)
    moments = MOMENTS + AFTER_MIDNIGHT
    log = ["23:59:58.000000 START", *(sent_line(moment, number) for number, moment in enumerate(moments))]
    received = "\n".join(received_line(moments[n][:-4] + "1000", n, moments[n]) for n in range(150))
    logs = (read_sent("\n".join(log)), read_received(received, [1]))
    flow, scenario = plan.scenarios[0].flows[0], plan.scenarios[0]
    ahead = udp_result(flow, 1, scenario, logs, ClockDifference(-500_000_000, 0))
    assert ahead.mean_delay_ps == 1_500_000_000
    none = udp_result(flow, 1, scenario, logs, ClockDifference(1_200_000_000, 300_000_000))
    assert none.max_delay_ps == 0
    with pytest.raises(errors.TesterError, match=r"came 0.200 ms before it was sent, .* 0.100 ms apart at most"):
        udp_result(flow, 1, scenario, logs, ClockDifference(1_200_000_000, 100_000_000))


def test_a_log_without_a_beginning_is_told() -> None:
    with pytest.raises(errors.TesterError, match="no START"):
        read_sent("mgen: error\n")


def test_figures_of_time_services_are_read_as_their_manuals_say() -> None:
    tracking = "A29FC87B,162.159.200.123,4,1790000000.1,-0.000100,0.00002,0.00003,-4.1,0.01,0.2,0.010,0.002,64.2,"
    assert read_chrony(tracking + "Normal\n") == pytest.approx(0.0071)
    with pytest.raises(ValueError, match="Not synchronised"):
        read_chrony(tracking + "Not synchronised\n")
    assert read_ntp("leap=00, offset=-0.5,\nrootdelay=10.0, rootdisp=2.0\n") == pytest.approx(0.0075)
    with pytest.raises(ValueError, match="leap"):
        read_ntp("leap=11, offset=0, rootdelay=0, rootdisp=0")
    data_set = "RESPONSE MANAGEMENT CURRENT_DATA_SET\n\tstepsRemoved 1\n\toffsetFromMaster -120.0\n"
    assert read_ptp(data_set + "\tmeanPathDelay 900.0\n") == pytest.approx(1.02e-6)
    with pytest.raises(KeyError):
        read_ptp(data_set)


def test_reports_that_are_none_are_told() -> None:
    for text in ("", "{}", '{"round_trips": [{}]}', "[]"):
        with pytest.raises(errors.TesterError, match="irtt gives no report"):
            irtt.read_report(text)
        with pytest.raises(errors.TesterError, match="iperf3 gives no report"):
            iperf3.read_report(text, 1)
    with pytest.raises(errors.TesterError, match="unable to connect"):
        iperf3.read_report(json.dumps({"error": "unable to connect to server"}), 1)


def test_lost_round_trips_stay() -> None:
    delay = {"send": 900, "receive": -300, "rtt": 600}
    report = {"round_trips": [{"seqno": 0, "lost": "false", "delay": delay}, {"seqno": 1, "lost": "true"}]}
    trips = irtt.read_report(json.dumps(report))
    assert [trip.round_trip_ns for trip in trips] == [600, None]
    assert irtt.clock_offset_ns(trips) == (600, 300)
    with pytest.raises(errors.TesterError, match="do not come back"):
        irtt.clock_offset_ns(trips[1:])
