"""Shared pools, thresholds by mark, drop profiles and ECN."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import MILLISECOND, by_cos, egress, flow, flows_of, one_port, port_of, queues, run
from .test_conservation import SCHEDULERS, checked, sources

STRICT2 = {"kind": "strict", "order": [0, 1]}


def flood(name, cos=0, **packet):
    """2 Mb/s of 1000-byte packets."""
    return flow(name, cos, packet, rate_bps=2_000_000, ip_bytes=1000)


def shared(pools, **queue):
    return {
        "pools": pools,
        "queues": [{"name": f"q{i}", "pool": "buffer", **queue} for i in range(2)],
        "rules": by_cos(2),
        "scheduler": STRICT2,
    }


def test_a_pool_holds_what_its_queues_hold_together():
    port = shared([{"name": "buffer", "bytes": 20_000}])
    result = run(one_port(port, [flood("a"), flood("b", 1)], rate_bps=1_000_000))
    checked(result)
    assert result["pools"] == [
        {"node": "r", "port": "out", "name": "buffer", "unit": "bytes", "size": 20_000, "max_depth": 20_000}
    ]
    q0, q1 = port_of(result)["queues"]
    assert q0["dropped_pool"] > 0
    assert q1["dropped_pool"] > 0
    assert q0["dropped_tail"] == q1["dropped_tail"] == 0


def test_reservations_keep_room():
    port = shared([{"name": "buffer", "packets": 20}], reserved_packets=8)
    result = run(one_port(port, [flood("a"), flood("b", 1)], rate_bps=1_000_000))
    checked(result)
    # Twelve at most beside the other's eight.
    assert [q["max_depth"] for q in port_of(result)["queues"]] <= [12, 12]


def test_a_dynamic_threshold_leaves_room_for_the_quiet():
    def depth(**alpha):
        port = shared([{"name": "buffer", "packets": 60}], **alpha)
        late = flood("late", 0) | {"source": flood("late")["source"] | {"start_ps": 500 * MILLISECOND}}
        port["scheduler"] = {"kind": "wrr", "weights": [1, 1]}
        result = run(one_port(port, [flood("b", 1), late], rate_bps=1_000_000))
        checked(result)
        return [q["max_depth"] for q in port_of(result)["queues"]]

    # Alone, a queue takes half with alpha 1; two take a third each, while one gives back one more.
    assert depth(alpha=1.0) == [21, 30]
    assert depth()[1] == 60


def test_ports_share_the_pool_of_their_node():
    quarter = {"name": "q", "pool": "chip", "limit_packets": 100}
    port = {"queues": [quarter], "scheduler": {"kind": "fifo"}}
    scenario = one_port(port, [flood("a")], rate_bps=1_000_000)
    router = scenario["nodes"][0]
    router["pools"] = [{"name": "chip", "packets": 30}]
    router["ports"].append({"name": "two", "egress": port})
    scenario["nodes"].append({"name": "g", "ports": [{"name": "eth0"}]})
    scenario["links"].append(scenario["links"][0] | {"a": ["r", "two"], "b": ["g", "eth0"]})
    scenario["flows"].append(flood("b") | {"path": [["r", "two"]]})
    result = run(scenario)
    checked(result)
    depths = [port_of(result, "r", p)["queues"][0]["max_depth"] for p in ("out", "two")]
    assert result["pools"][0]["max_depth"] == 30
    assert result["pools"][0]["port"] is None
    assert sum(depths) >= 30
    assert max(depths) < 30


@pytest.mark.parametrize(
    ("depth", "most"), [({"packets": 10}, 10), ({"bytes": 7_500}, 7), ({"percent": 40}, 16), ({"packets": 0}, 0)]
)
def test_thresholds_drop_by_mark(depth, most):
    port = egress(1, {"kind": "fifo"}, 40)
    port["rules"] = []
    port["queues"][0]["thresholds"] = [{"match": {"dscp": [12, 14]}, **depth}]
    alone = run(one_port(port, [flood("low", dscp=14)], rate_bps=1_000_000))
    checked(alone)
    assert port_of(alone)["queues"][0]["max_depth"] == most
    both = run(one_port(port, [flood("low", dscp=14), flood("high", dscp=10)], rate_bps=1_000_000))
    assert port_of(both)["queues"][0]["max_depth"] == 40
    # The queue stays above the threshold once the others fill it.
    assert flows_of(both)["high"]["delivered"] > 10 * flows_of(both)["low"]["delivered"]


def test_drop_profiles_by_colour():
    profile = {"min": 1, "max": 5, "mark_denominator": 1}
    port = egress(1, {"kind": "fifo"}, 100)
    port["rules"] = [{"match": {"dscp": [14]}, "queue": 0, "set": {"colour": "red"}}]
    port["queues"][0]["red"] = {"weight_exponent": 0, "profiles": [profile | {"colour": ["red"]}]}
    flows = [flood("red", dscp=14), flood("green", dscp=10)]
    result = run(one_port(port, flows, rate_bps=3_000_000, seconds=2))
    lost = {name: f["lost"] for name, f in flows_of(result).items()}
    assert lost["green"] == 0
    assert lost["red"] == port_of(result)["queues"][0]["dropped_red"] > 100


def test_a_limit_in_time_is_bytes_of_its_rate():
    def deepest(**more):
        port = {"queues": [{"name": "q", "limit_ps": 80 * MILLISECOND, **more}], "scheduler": {"kind": "fifo"}}
        return port_of(run(one_port(port, [flood("a")], rate_bps=1_000_000)))["queues"][0]["max_depth"]

    assert deepest() == 10
    assert deepest(drain_bps=500_000) == 5
    assert deepest(limit_bytes=3_000) == 3


def test_ecn_marks_what_it_would_drop_by_chance():
    red = {"weight_exponent": 0, "ecn": True, "default": {"min": 5, "max": 100, "mark_denominator": 2}}
    port = egress(1, {"kind": "fifo"}, 400)
    port["queues"][0]["red"] = red

    def counts(ecn):
        sent = flow("f", packet={"ecn": ecn}, kind="poisson", rate_bps=950_000, ip_bytes=1000)
        result = run(one_port(port, [sent], rate_bps=1_000_000, seconds=60))
        checked(result)
        queue = port_of(result)["queues"][0]
        return queue["ecn_marked"], queue["dropped_red"]

    marked, dropped = counts("ect")
    assert marked > 5
    assert dropped == 0
    marked, dropped = counts("not_ect")
    assert marked == 0
    assert dropped > 5


def test_above_the_maximum_ecn_does_not_spare():
    port = egress(1, {"kind": "fifo"}, 400)
    port["queues"][0]["red"] = {
        "weight_exponent": 0,
        "ecn": True,
        "default": {"min": 5, "max": 20, "mark_denominator": 1},
    }
    result = run(one_port(port, [flood("f", ecn="ect")], rate_bps=1_000_000))
    checked(result)
    queue = port_of(result)["queues"][0]
    assert queue["max_depth"] == 20
    assert queue["ecn_marked"] > 0
    assert queue["dropped_red"] > 0


policers = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {
            "kind": st.just("srtcm"),
            "rate_bps": st.integers(1_000, 900_000),
            "burst_bytes": st.integers(0, 5_000),
            "excess_burst_bytes": st.integers(1, 5_000),
            "exceed": st.sampled_from(["transmit", "drop", {"dscp": 12}]),
            "violate": st.sampled_from(["drop", {"colour": "green"}]),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("car"),
            "rate_bps": st.integers(1_000, 900_000),
            "burst_bytes": st.integers(1, 5_000),
            "extended_burst_bytes": st.integers(0, 20_000),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("gcra"),
            "pcr_bps": st.integers(100_000, 2_000_000),
            "cdvt_ps": st.integers(0, 10**10),
            "discard": st.sampled_from(["cell", "partial_packet", "early_packet"]),
        }
    ),
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    scheduler=st.sampled_from(SCHEDULERS),
    offered=st.lists(
        st.tuples(sources, st.integers(0, 2), st.sampled_from(["ect", "not_ect"])), min_size=1, max_size=5
    ),
    pool=st.one_of(
        st.fixed_dictionaries({"packets": st.integers(3, 60)}),
        st.fixed_dictionaries({"bytes": st.integers(2_000, 60_000)}),
    ),
    alpha=st.sampled_from([None, 0.5, 2.0]),
    police=st.lists(policers, min_size=3, max_size=3),
    threshold=st.integers(0, 30),
)
def test_packets_in_are_packets_out_and_drops(*, scheduler, offered, pool, alpha, police, threshold):
    red = {"default": {"min": 3, "max": 9, "mark_denominator": 2}, "weight_exponent": 2, "ecn": True}
    port = {
        "pools": [{"name": "p", **pool}],
        "police": [{"match": {"cos": [0]}, "police": police[0] or {"rate_bps": 400_000, "burst_bytes": 3_000}}],
        "queues": queues(3, 40),
        "rules": [rule | {"police": police[1]} for rule in by_cos(3)],
        "scheduler": scheduler,
    }
    for queue in port["queues"]:
        queue |= {"pool": "p", "alpha": alpha, "police": police[2]}
        queue["thresholds"] = [{"match": {"colour": ["yellow"]}, "packets": threshold}]
    port["queues"][0]["reserved_packets" if "packets" in pool else "reserved_bytes"] = 1
    port["queues"][2]["red"] = red
    sent = [flow(f"f{i}", cos, {"ecn": ecn}, **source) for i, (source, cos, ecn) in enumerate(offered)]
    result = run(one_port(port, sent, rate_bps=1_000_000, seconds=0.5, framing="hdlc"))
    checked(result)
    (report,) = result["pools"]
    assert report["max_depth"] <= report["size"]
    at_interface = port_of(result)["policers"]["egress"][0]
    asked = sum(at_interface.values())
    entered = sum(q["packets_in"] for q in port_of(result)["queues"])
    sent_all = sum(f["sent"] for f in result["flows"])
    assert sent_all - asked <= entered <= sent_all
