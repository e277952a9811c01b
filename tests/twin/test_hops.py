"""What each hop adds to a delay, where it is known in closed form, and that hops add up to the whole way."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import MILLISECOND, SECOND, chain, ethernet, flow, flows_of, refusal, run, with_mtu

FAST, SLOW = 8_000_000, 1_000_000
BYTES = 1000
AT_ONCE = 20
FIFO = {"kind": "fifo"}


def line(rate: int, delay_ps: int = 0) -> dict[str, Any]:
    return {"rate_bps": rate, "delay_ps": delay_ps, "framing": "none"}


def queue(limit: int = 1000, **rest: Any) -> dict[str, Any]:
    return {"egress": {"queues": [{"name": "q", "limit_packets": limit}], "scheduler": FIFO, **rest}}


def told(scenario: dict[str, Any], name: str = "a", seed: int = 1) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The report of a flow, and its hops."""
    report = flows_of(run(scenario, seed))[name]
    return report, report["hops"]["steps"]


def adds_up(report: dict[str, Any]) -> None:
    """Means and losses of the hops are those of the whole way; so are sizes."""
    steps = report["hops"]["steps"]
    assert sum(step["lost"] + step["lost_input"] for step in steps) == report["lost"]
    assert sum(count for _, count, _, _ in report["hops"]["sizes"]) == report["delivered"]
    if not report["delivered"]:
        return
    for step in steps:
        assert sum(count for _, count in step["waiting_histogram"]) == report["delivered"]
    mean = sum(s["fixed_ps"] + s["serialisation_ps"]["mean"] + s["waiting_ps"]["mean"] for s in steps)
    assert mean == pytest.approx(report["delay_ps"]["mean"], abs=0.5)


def test_a_burst_waits_at_each_hop_for_those_before_it() -> None:
    """Packet i of a burst waits i times the service at the first line, and i times the difference at the next."""
    burst = {"kind": "trace", "times_ps": [MILLISECOND] * AT_ONCE, "ip_bytes": [BYTES] * AT_ONCE}
    node = {"latency_ps": 7 * MILLISECOND}
    flows = [{**flow("a"), "source": burst, "hops": True}]
    report, (first, second) = told(chain(node, flows, [line(FAST, 3 * MILLISECOND), line(SLOW, MILLISECOND)]))
    fast, slow = (BYTES * 8 * SECOND // rate for rate in (FAST, SLOW))
    assert (first["node"], first["port"], second["node"], second["port"]) == ("a", "out", "m", "out")
    assert (first["fixed_ps"], second["fixed_ps"]) == (10 * MILLISECOND, MILLISECOND)
    assert first["serialisation_ps"] == {"mean": fast, "min": fast, "max": fast}
    assert second["serialisation_ps"] == {"mean": slow, "min": slow, "max": slow}
    for step, each in ((first, fast), (second, slow - fast)):
        assert step["waiting_ps"]["mean"] == each * (AT_ONCE - 1) / 2
        assert (step["waiting_ps"]["min"], step["waiting_ps"]["max"]) == (0, each * (AT_ONCE - 1))
    whole = 11 * MILLISECOND + fast + slow
    assert report["hops"]["sizes"] == [[BYTES, AT_ONCE, whole, whole]]
    adds_up(report)


def test_of_two_equal_servers_only_the_first_makes_packets_wait() -> None:
    """M/D/1 before a server as fast: ρ s / (2 (1 - ρ)) at the first, nothing at the second."""
    load, seconds = 0.5, 400
    service = BYTES * 8 * SECOND / FAST
    source = flow("a", kind="poisson", rate_bps=round(load * FAST), ip_bytes=BYTES) | {"hops": True}
    roomy = [queue(10**6), queue(10**6)]
    report, (first, second) = told(chain({}, [source], [line(FAST), line(FAST)], roomy, seconds))
    assert report["sent"] > 150_000
    assert first["waiting_ps"]["mean"] == pytest.approx(load * service / 2 / (1 - load), rel=0.03)
    assert second["waiting_ps"]["max"] == 0
    adds_up(report)


def test_a_loss_is_told_where_it_happened() -> None:
    hungry = flow("a", rate_bps=4 * SLOW, ip_bytes=BYTES) | {"hops": True}
    police = {"rate_bps": 2 * SLOW, "burst_bytes": 2 * BYTES}
    middle = {"ports": [{"name": "in", "ingress": {"police": [{"match": {}, "police": police}]}}, {"name": "out"}]}
    middle["ports"][1] |= queue(5)
    report, (first, second) = told(chain(middle, [hungry], [line(FAST), line(SLOW)], seconds=2.0))
    assert first["lost"] == second["lost_input"] == 0
    assert first["lost_input"] == pytest.approx(report["sent"] / 2, rel=0.02)
    assert second["lost"] == pytest.approx(report["sent"] / 4, rel=0.05)
    adds_up(report)
    busy = {"per_packet_ps": 4 * BYTES * 8 * SECOND // FAST, "input_queue_packets": 3}
    report, (first, second) = told(chain(busy, [hungry], [line(FAST), line(FAST)]))
    assert first["lost_input"] == report["lost"] > 0 == first["lost"] == second["lost"] + second["lost_input"]
    assert first["fixed_ps"] == busy["per_packet_ps"]
    adds_up(report)
    report, (first, second) = told(chain({}, [hungry], [line(SLOW), line(FAST)], [queue(5), {}]))
    assert first["lost"] == report["lost"] > 0 == second["lost"]
    adds_up(report)


def test_a_packet_in_fragments_goes_by_its_last_one() -> None:
    large = flow("a", rate_bps=100_000, ip_bytes=1400) | {"hops": True}
    lines = [ethernet(10**7), ethernet(10**6)]
    report, (first, second) = told(chain({}, [large], lines, [{}, with_mtu(576)]))
    assert report["lost"] == 0
    (size,) = report["hops"]["sizes"]
    assert (size[0], size[2]) == (1400, report["delay_ps"]["min"])
    # The last fragment waits for those before it.
    assert second["waiting_ps"]["min"] > second["serialisation_ps"]["max"] > 0 == first["waiting_ps"]["max"]
    adds_up(report)


def test_a_cut_through_node_waits_for_the_header_only() -> None:
    single = flow("a", rate_bps=100_000, ip_bytes=1000) | {"hops": True}
    lines = [ethernet(10**7), ethernet(10**7)]
    report, (first, second) = told(chain({"switching": "cut_through"}, [single], lines))
    bit = SECOND // 10**7
    assert first["serialisation_ps"]["max"] == (8 + 14) * 8 * bit
    assert second["serialisation_ps"]["max"] == (8 + 1018) * 8 * bit
    assert first["waiting_ps"]["max"] == second["waiting_ps"]["max"] == 0
    adds_up(report)


def test_without_waiting_the_hops_take_what_an_empty_network_takes() -> None:
    video = {"kind": "video", "frame_rate": 25, "frame_bytes_mean": 2000, "frame_bytes_sd": 900, "ip_bytes": 1000}
    flows = [{**flow("a"), "source": video, "hops": True, "packet": {"application": "rtp-video"}}]
    out = queue(100, header_compression=True, fragment_bytes=200)
    lines = [ethernet(), {"rate_bps": 512_000, "framing": "mlppp", "delay_ps": MILLISECOND}]
    report, _ = told(chain({"latency_ps": 1000}, flows, lines, [{}, out], seconds=20.0))
    sizes = report["hops"]["sizes"]
    assert len(sizes) > 20
    assert sizes[0][3] == report["minimum_delay_ps"]["smallest"]
    assert sizes[-1][3] == report["minimum_delay_ps"]["largest"]
    assert all(least >= unloaded for _, _, least, unloaded in sizes)
    adds_up(report)


SOURCES = st.one_of(
    st.builds(
        lambda rate, size: {"kind": "cbr", "rate_bps": rate, "ip_bytes": size},
        st.integers(10**5, 3 * 10**6),
        st.integers(40, 1500),
    ),
    st.builds(
        lambda rate, size: {"kind": "poisson", "rate_bps": rate, "ip_bytes": [[40, 2], [size, 1]]},
        st.integers(10**5, 3 * 10**6),
        st.integers(41, 1500),
    ),
    st.just({"kind": "tcp", "bytes": None}),
)
NODES = st.fixed_dictionaries(
    {"latency_ps": st.integers(0, 10**9)},
    optional={"latency_jitter_ps": st.integers(1, 10**9), "per_packet_ps": st.integers(1, 10**9)},
)


LIMITS = st.integers(1, 30)
RATES = st.sampled_from([10**6, 4 * 10**6])


@st.composite
def tandems(draw: st.DrawFn) -> dict[str, Any]:
    """Two lines, a node between them, and flows of which every other one asks for its hops."""
    sources = draw(st.lists(SOURCES, min_size=1, max_size=4))
    flows = [{**flow(f"f{n}"), "source": source, "hops": n % 2 == 0} for n, source in enumerate(sources)]
    mtu = draw(st.sampled_from([None, 576]))
    ports = [queue(draw(LIMITS)), queue(draw(LIMITS), **({"ip_mtu": mtu} if mtu else {}))]
    lines = [ethernet(draw(RATES)), line(draw(RATES), 10**6)]
    scenario = chain(draw(NODES), flows, lines, ports, seconds=0.5)
    scenario["warmup_ps"] = SECOND // 10
    scenario["cool_down_ps"] = draw(st.sampled_from([0, SECOND // 2]))
    for each in scenario["flows"]:
        if each["source"]["kind"] == "tcp":
            each["return_path"] = [["b", "in"], ["m", "in"]]
    return scenario


@settings(derandomize=True, max_examples=60, deadline=None)
@given(scenario=tandems(), seed=st.integers(0, 100))
def test_hops_add_up_whatever_happens(scenario: dict[str, Any], seed: int) -> None:
    result = run(scenario, seed)
    for number, report in enumerate(result["flows"]):
        assert (report["hops"] is not None) == (number % 2 == 0)
        if report["hops"] and not report["unfinished"]:
            adds_up(report)
    # Nothing else changes because somebody asks.
    unasked = copy.deepcopy(scenario)
    for each in unasked["flows"]:
        each["hops"] = False
    plain = run(unasked, seed)
    for report in result["flows"]:
        report["hops"] = None
    assert json.dumps(plain) == json.dumps(result)


def test_delays_from_the_first_bit_have_no_hops() -> None:
    scenario = chain({}, [flow("a", rate_bps=SLOW, ip_bytes=BYTES) | {"hops": True}], [line(FAST), line(FAST)])
    error = refusal(scenario | {"delay_reference": "first_bit"})
    assert (error.path, error.hint) == ("flows[0].hops", "set delay_reference: arrival")
