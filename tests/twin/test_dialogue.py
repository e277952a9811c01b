"""Round trips: echoed probes and short transactions over a network with queues."""

import copy
from typing import Any

import pytest
import qosforge_twin
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import MILLISECOND, SECOND, flow, flows_of, queues, run

RATE = 2_000_000
DELAY_MS = 20


def path(flows: list[dict[str, Any]], *, limit: int = 50, seconds: float = 20, **port: Any) -> dict[str, Any]:
    """Flows from r to s over a line of 2 Mb/s and 20 ms, and back."""
    egress = {"queues": queues(1, limit), "scheduler": {"kind": "fifo"}, **port}
    for each in flows:
        each["path"] = [["r", "out"]]
        if each["source"]["kind"] in {"tcp", "tcp_session", "udp_echo"}:
            each["return_path"] = [["s", "out"]]
    return {
        "version": 1,
        "duration_ps": round(seconds * SECOND),
        "nodes": [
            {"name": "r", "ports": [{"name": "out", "egress": egress}]},
            {"name": "s", "ports": [{"name": "out", "egress": copy.deepcopy(egress)}]},
        ],
        "links": [
            {
                "a": ["r", "out"],
                "b": ["s", "out"],
                "rate_bps": RATE,
                "delay_ps": DELAY_MS * MILLISECOND,
                "framing": "none",
            }
        ],
        "flows": flows,
    }


def line_ps(ip_bytes: int) -> int:
    """Time of a packet on the line."""
    return ip_bytes * 8 * SECOND // RATE


def conserved(result: dict[str, Any]) -> None:
    for report in result["flows"]:
        assert report["sent"] == report["delivered"] + report["lost"]
        back = report["returned"]
        if back is not None:
            assert back["sent"] == back["delivered"] + back["lost"]
        exchanges = report["transactions"]
        if exchanges is not None:
            for key in {"rtt_ps", "total_ps"} & set(exchanges):
                assert sum(count for _, count in exchanges[key]["histogram"]) == exchanges["count"]
            assert min(exchanges["failed"], exchanges["unfinished"]) >= 0


def test_a_probe_on_an_idle_path_takes_propagation_and_its_time_on_the_line():
    probe = flow("ping", kind="udp_echo", ip_bytes=64, reply_bytes=500, interval_ps=SECOND, server_ps=MILLISECOND)
    report = flows_of(run(path([probe])))["ping"]
    exchanges = report["transactions"]
    expected = 2 * DELAY_MS * MILLISECOND + line_ps(64) + line_ps(500) + MILLISECOND
    assert (exchanges["count"], exchanges["failed"], report["sent"]) == (20, 0, 20)
    assert exchanges["rtt_ps"]["min"] == exchanges["rtt_ps"]["max"] == expected
    assert report["returned"]["bytes_delivered"] == 20 * 500
    assert (report["tcp"], "total_ps" in exchanges) == (None, False)


def test_a_probe_waits_in_both_directions_and_may_be_lost():
    probe = flow("ping", kind="udp_echo", ip_bytes=64, interval_ps={"kind": "exponential", "mean": SECOND // 20})
    flood = flow("flood", kind="poisson", rate_bps=2_200_000, ip_bytes=1000)
    result = run(path([probe, flood], limit=20, seconds=60))
    conserved(result)
    report = flows_of(result)["ping"]
    exchanges = report["transactions"]
    assert exchanges["failed"] == report["lost"] + report["returned"]["lost"] > 50
    assert exchanges["count"] + exchanges["failed"] == report["sent"]
    full = 2 * DELAY_MS * MILLISECOND + 2 * line_ps(64) + 21 * line_ps(1000)
    assert 0.7 * full < exchanges["rtt_ps"]["max"] <= full
    # The probes' own delays are one way.
    assert report["delay_ps"]["max"] < exchanges["rtt_ps"]["max"] - DELAY_MS * MILLISECOND


def test_only_probes_of_the_measured_window_count():
    probe = flow("ping", kind="udp_echo", ip_bytes=64, interval_ps=SECOND)
    report = flows_of(run(path([probe]) | {"warmup_ps": 5 * SECOND}))["ping"]
    assert (report["sent"], report["transactions"]["count"], report["returned"]["sent"]) == (15, 15, 15)


def test_round_trips_do_not_depend_on_the_reference_of_one_way_delays():
    probe = flow("ping", kind="udp_echo", ip_bytes=64, interval_ps=SECOND // 100, server_ps=MILLISECOND)
    sent = [probe, session(think_ps=0), flow("bulk", kind="tcp")]
    arrival = flows_of(run(path(copy.deepcopy(sent))))
    first_bit = flows_of(run(path(sent) | {"delay_reference": "first_bit"}))
    for name in ("ping", "rr", "bulk"):
        for part in ("transactions", "tcp", "returned"):
            assert first_bit[name][part] == arrival[name][part]
    assert first_bit["ping"]["delay_ps"]["mean"] < arrival["ping"]["delay_ps"]["mean"]


def test_what_is_under_way_at_the_end_is_unfinished():
    probe = flow("ping", kind="udp_echo", ip_bytes=64, interval_ps=MILLISECOND * 7, server_ps=30 * MILLISECOND)
    sent = [probe, session(think_ps=0, sessions=5), flow("bulk", kind="tcp")]
    reports = flows_of(run(path(sent, limit=10) | {"drain": False}))
    for report in reports.values():
        for way in (report, report["returned"]):
            assert way["sent"] == way["delivered"] + way["lost"] + way["unfinished"]
    ping = reports["ping"]["transactions"]
    assert ping["count"] + ping["failed"] + ping["unfinished"] == reports["ping"]["sent"]
    # 70 ms of travelling and waiting for the server hold ten probes.
    assert 10 <= ping["unfinished"] < 40
    assert reports["rr"]["transactions"]["unfinished"] == 5


OLD_STACK = {
    "handshake": True,
    "initial_window": 1,
    "rto_initial_ps": 3 * SECOND,
    "rto_min_ps": SECOND,
    "tick_ps": SECOND // 2,
    "limited_transmit": False,
    "byte_counting": False,
    "congestion_control": "reno",
}


def session(name: str = "rr", **source: Any) -> dict[str, Any]:
    return flow(name, kind="tcp_session", **{"request_bytes": 200, "response_bytes": 4096, **source})


def test_a_transaction_on_an_idle_path():
    result = run(path([session(handshake=True, period_ps=SECOND, response_bytes=1000)]))
    exchanges = flows_of(result)["rr"]["transactions"]
    trip = 2 * DELAY_MS * MILLISECOND
    # The request waits for the acknowledgement of the handshake to leave.
    answered = trip + line_ps(40) + line_ps(240) + line_ps(1040)
    assert exchanges["count"] == 20
    assert exchanges["rtt_ps"]["min"] == exchanges["rtt_ps"]["max"] == answered
    assert exchanges["total_ps"]["max"] == answered + trip + 2 * line_ps(44)


def test_short_transactions_show_the_old_timers_when_the_line_is_full():
    full = flow("full", kind="poisson", rate_bps=2_300_000, ip_bytes=1500)
    sent = session(period_ps=SECOND, **OLD_STACK)
    result = run(path([sent, full], limit=10, seconds=600))
    conserved(result)
    exchanges = flows_of(result)["rr"]["transactions"]
    quick = exchanges["rtt_without_timeout_ps"]
    assert exchanges["timed_out"] > 20
    assert quick["count"] + exchanges["timed_out"] == exchanges["count"]
    # Queueing alone: five round trips of at most eleven packets more; a lost SYN costs 2.5 s at least.
    assert quick["max"] < 5 * (2 * DELAY_MS * MILLISECOND + 12 * line_ps(1500))
    assert exchanges["total_ps"]["max"] > 2.5 * SECOND


def test_sessions_run_side_by_side():
    one = run(path([session(think_ps=0, connection="persistent")]))
    many = run(path([session(think_ps=0, connection="persistent", sessions=4, phase_ps=SECOND)]))
    counts = [flows_of(r)["rr"]["transactions"]["count"] for r in (one, many)]
    assert counts[1] > 3 * counts[0]
    assert flows_of(many)["rr"]["tcp"]["connections"] == 4


def test_a_bulk_transfer_reports_its_round_trips():
    result = run(path([flow("bulk", kind="tcp", delayed_ack_ps=0)], limit=20))
    conserved(result)
    rtt = flows_of(result)["bulk"]["tcp"]["rtt_ps"]
    # From the path alone to a queue of 20 and one packet on the line.
    base = 2 * DELAY_MS * MILLISECOND + line_ps(1500) + line_ps(40)
    assert rtt["min"] == base
    assert base + 18 * line_ps(1500) < rtt["max"] <= base + 21 * line_ps(1500)
    assert sum(count for _, count in rtt["histogram"]) == rtt["count"] > 1000


@pytest.mark.parametrize("control", ["reno", "newreno", "cubic"])
@pytest.mark.parametrize("sack", [False, True])
def test_every_control_fills_the_line(control, sack):
    result = run(path([flow("bulk", kind="tcp", congestion_control=control, sack=sack)], limit=20, seconds=60))
    report = flows_of(result)["bulk"]
    assert 10 < report["lost"] <= report["tcp"]["retransmits"]
    assert report["throughput_bps"] > 0.9 * RATE


def test_a_new_session_changes_no_other_draws():
    sizes = {"kind": "uniform", "min": 100, "max": 1000}
    first = session("a", request_bytes=sizes, response_bytes=100, period_ps=SECOND)
    other = session("b", think_ps=0, response_bytes={"kind": "exponential", "mean": 9000})
    alone = flows_of(run(path([first], limit=1000)))["a"]
    beside = flows_of(run(path([copy.deepcopy(first), other], limit=1000)))["a"]
    assert alone["bytes_delivered"] == beside["bytes_delivered"] > 0


stacks = st.fixed_dictionaries(
    {
        "congestion_control": st.sampled_from(["reno", "newreno", "cubic"]),
        "sack": st.booleans(),
        "timestamps": st.booleans(),
        "handshake": st.booleans(),
        "limited_transmit": st.booleans(),
        "byte_counting": st.booleans(),
        "idle_restart": st.booleans(),
        "initial_window": st.integers(1, 40),
        "mss": st.integers(60, 1460),
        "receive_window_bytes": st.integers(1460, 200_000),
        "send_buffer_bytes": st.one_of(st.none(), st.integers(1460, 200_000)),
        "rto_initial_ps": st.integers(SECOND // 100, 3 * SECOND),
        "rto_min_ps": st.integers(SECOND // 100, SECOND),
        "tick_ps": st.sampled_from([0, 1, SECOND // 100, SECOND // 2]),
        "delayed_ack_ps": st.integers(0, SECOND // 2),
        "ack_every": st.integers(1, 4),
        "quick_ack": st.integers(0, 20),
        "retries": st.integers(0, 15),
    }
)
kinds = st.one_of(
    st.fixed_dictionaries({"kind": st.just("tcp"), "bytes": st.one_of(st.none(), st.integers(1, 200_000))}),
    st.fixed_dictionaries(
        {
            "kind": st.just("tcp_session"),
            "request_bytes": st.integers(1, 20_000),
            "response_bytes": st.integers(1, 20_000),
            "sessions": st.integers(1, 3),
            "connection": st.sampled_from(["new", "persistent"]),
            "server_ps": st.sampled_from([0, 10**9, {"kind": "exponential", "mean": 10**11}]),
        }
    ),
)


@settings(derandomize=True, max_examples=120, deadline=None)
@given(
    offered=st.lists(st.tuples(kinds, stacks), min_size=1, max_size=4),
    limit=st.integers(1, 30),
    warmup=st.sampled_from([0, SECOND]),
)
def test_nothing_is_made_of_nothing(offered, limit, warmup):
    flows = [flow(f"f{i}", **kind, **stack) for i, (kind, stack) in enumerate(offered)]
    conserved(run(path(flows, limit=limit, seconds=5) | {"warmup_ps": warmup}))


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ({"kind": "udp_echo", "ip_bytes": 64}, ""),
        ({"kind": "udp_echo", "ip_bytes": 64, "interval_ps": 0}, ".interval_ps"),
        ({"kind": "udp_echo", "ip_bytes": 64, "interval_ps": 1}, ".interval_ps"),
        ({"kind": "udp_echo", "ip_bytes": 64, "interval_ps": SECOND, "reply_bytes": 10}, ".reply_bytes"),
        ({"kind": "udp_echo", "ip_bytes": 64, "interval_ps": SECOND, "server_ps": 2**63}, ".server_ps"),
        ({"kind": "udp_echo", "ip_bytes": 64, "interval_ps": SECOND, "count": 0}, ".count"),
        ({"kind": "tcp_session", "request_bytes": 0, "response_bytes": 1}, ".request_bytes"),
        ({"kind": "tcp_session", "request_bytes": 1}, ""),
        ({"kind": "tcp_session", "request_bytes": 1, "response_bytes": {"kind": "zipf"}}, ".response_bytes.kind"),
        ({"kind": "tcp_session", "request_bytes": 1, "response_bytes": 1, "sessions": 0}, ".sessions"),
        ({"kind": "tcp_session", "request_bytes": 1, "response_bytes": 1, "transactions": 0}, ".transactions"),
        ({"kind": "tcp_session", "request_bytes": 1, "response_bytes": 1, "bytes": 1}, ".bytes"),
        (
            {"kind": "tcp_session", "request_bytes": 1, "response_bytes": 1, "think_ps": 1, "period_ps": 1},
            ".period_ps",
        ),
        ({"kind": "tcp", "congestion_control": "vegas"}, ".congestion_control"),
        ({"kind": "tcp", "request_bytes": 1}, ".request_bytes"),
    ],
)
def test_refusals_name_their_place(source, key):
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        run(path([flow("f") | {"source": source}]))
    assert caught.value.path == f"flows[0].source{key}"
    assert caught.value.hint
