"""The cool-down: the last packets measured meet the same traffic as the others."""

import pytest

from .scenarios import SECOND, egress, flow, flows_of, one_port, port_of, refusal, run

WEIGHTED = {"kind": "wrr", "weights": [1, 1]}


def crowded(cool_down=0.0, seconds=2.0, **rest):
    """Two flows that share a line evenly, each at more than its half; 100 packets of 1.6 ms wait in each queue."""
    sent = [flow(f"f{i}", i, rate_bps=8_000_000, ip_bytes=1000) | {"samples": True} for i in range(2)]
    scenario = one_port(egress(2, WEIGHTED), sent, 10_000_000, seconds)
    return scenario | {"warmup_ps": SECOND, "cool_down_ps": round(cool_down * SECOND), **rest}


def delays(result, name="f0"):
    return [delay for _, delay in flows_of(result)[name]["samples"] if delay >= 0]


def test_a_network_that_empties_is_faster_for_the_last_packets():
    """One queue alone is served twice as fast as beside another: without a cool-down the last ones see that."""
    alone = flow("f1", 1, rate_bps=8_000_000, ip_bytes=1000)
    alone["source"]["stop_ps"] = 2 * SECOND
    scenario = crowded()
    scenario["flows"][1] = alone
    scenario["flows"][0]["source"]["rate_bps"] = 6_000_000
    early, late = run(scenario), run(scenario | {"cool_down_ps": SECOND})
    assert delays(early)[:-120] == delays(late)[:-120]
    assert delays(late)[-1] == pytest.approx(max(delays(late)), rel=0.05)


def test_the_last_packets_measured_wait_as_the_others_do():
    found = delays(run(crowded(cool_down=1.0)))
    assert min(found[-50:]) == pytest.approx(max(found), rel=0.03)


def test_every_packet_of_the_window_ends_and_no_other_is_measured():
    result = run(crowded(cool_down=1.0))
    for each in result["flows"]:
        assert each["unfinished"] == 0
        assert each["sent"] == pytest.approx(1000, abs=1)
        assert max(sent for sent, _ in each.get("samples") or [(0, 0)]) <= 2 * SECOND


def test_the_window_is_the_same_with_and_without_it():
    with_it, without = run(crowded(cool_down=1.0)), run(crowded())
    for one, other in zip(with_it["flows"], without["flows"], strict=True):
        assert one["throughput_bps"] == other["throughput_bps"]
        assert one["offered_by_layer_bps"] == other["offered_by_layer_bps"]


def test_it_ends_as_soon_as_what_was_measured_has():
    """Sources go on for so long as is needed (0.16 s in the queue), not for all that is allowed."""
    soon, late = (port_of(run(crowded(cool_down=seconds)))["queues"] for seconds in (1.0, 1000.0))
    assert soon == late


def test_what_never_leaves_ends_after_it():
    """A starved queue holds its packets until the others stop; or is left unfinished where nothing drains."""
    starving = egress(2, {"kind": "strict", "order": [0, 1]})
    scenario = crowded(cool_down=1.0)
    scenario["nodes"][0]["ports"][0]["egress"] = starving
    scenario["flows"][0]["source"]["rate_bps"] = 20_000_000
    scenario["flows"][1]["source"]["start_ps"] = round(1.5 * SECOND)
    assert flows_of(run(scenario))["f1"]["unfinished"] == 0
    left = flows_of(run(scenario | {"drain": False}))["f1"]
    assert (left["delivered"], left["unfinished"]) == (0, 100)


def test_one_too_long_is_refused():
    error = refusal(crowded(cool_down=2_000_000.0))
    assert (error.path, error.problem) == ("cool_down_ps", "out of range")
