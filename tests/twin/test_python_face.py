"""The module itself: signals, the interpreter lock, the shape of the result."""

import json
import signal
import threading
import time

import pytest
import qosforge_twin

from tests.stopwatch import Stopwatch

from .scenarios import egress, flow, one_port, run

LONG = one_port(
    egress(1, {"kind": "fifo"}),
    [flow("f", rate_bps=9_000_000, ip_bytes=100)],
    seconds=100_000,
)
QUANTILES = ("p50", "p90", "p95", "p99", "p999")


class AlarmError(Exception):
    """Raised by the test's own signal handler."""


def test_a_signal_ends_a_long_run():
    def ring(_number, _frame):
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    watch = Stopwatch()
    try:
        with pytest.raises(AlarmError):
            qosforge_twin.run(json.dumps(LONG), 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert watch.seconds < 5


def test_other_threads_run_meanwhile():
    text = json.dumps(LONG | {"duration_ps": 100 * 10**12})
    thread = threading.Thread(target=qosforge_twin.run, args=(text, 1))
    thread.start()
    turns = 0
    while thread.is_alive():
        time.sleep(0.001)
        turns += 1
    thread.join()
    assert turns > 5


def test_the_result_has_the_promised_shape():
    sent = [flow("f", rate_bps=80_000, ip_bytes=100)]
    result = run(one_port(egress(1, {"kind": "fifo"}), sent), 42)
    assert set(result) == {"version", "seed", "delay_reference", "flows", "ports", "pools"}
    assert (result["version"], result["seed"]) == (1, 42)
    assert result["delay_reference"] == "arrival to end of transmission"
    assert set(result["flows"][0]) == {
        "name",
        "sent",
        "delivered",
        "lost",
        "unfinished",
        "bytes_delivered",
        "offered_by_layer_bps",
        "throughput_bps",
        "throughput_by_layer_bps",
        "delay_ps",
        "minimum_delay_ps",
        "interarrival_ps",
        "reordered",
        "histogram",
        "samples",
        "returned",
        "tcp",
        "transactions",
        "hops",
    }
    assert set(result["flows"][0]["delay_ps"]) == {"mean", "sd", "min", "max", *QUANTILES}
    assert set(result["ports"][0]) == {
        "node",
        "port",
        "queues",
        "line",
        "series",
        "dropped_input",
        "busy_ps",
        "utilisation",
        "rules",
        "policers",
        "by_flow",
    }


def test_buckets_of_delays_are_reported_unless_nobody_wants_them():
    full, bare = (
        run(one_port(egress(1, {"kind": "fifo"}), [flow("f", rate_bps=80_000, ip_bytes=100) | asked]))["flows"][0]
        for asked in ({}, {"histogram": False})
    )
    assert sum(count for _, count in full["histogram"]) == full["delivered"] > 0
    assert bare == full | {"histogram": None}


def test_a_flow_that_sends_nothing_has_no_delay():
    sent = [flow("f", rate_bps=80_000, ip_bytes=100, start_ps=10**13)]
    report = run(one_port(egress(1, {"kind": "fifo"}), sent))["flows"][0]
    assert (report["sent"], report["delivered"], report["histogram"]) == (0, 0, [])
    assert report["delay_ps"] == dict.fromkeys(("mean", "sd", "min", "max", *QUANTILES))
    assert report["interarrival_ps"] == {"mean": None, "sd": None}
    assert report["minimum_delay_ps"] is None
