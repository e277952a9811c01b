"""Policers beside engines and IP fragments: which comes first, and the least delay through them."""

from .scenarios import SECOND, chain, flow, flows_of, port_of, queues, run, with_mtu

PER_PACKET = 25 * 10**9
"""Of an engine: 40 packets a second."""
LINE = {"rate_bps": 10**6, "framing": "none"}
HALF = {"rate_bps": 40_000, "burst_bytes": 200}
"""25 packets of 200 bytes a second."""
SLOW = {"per_packet_ps": PER_PACKET, "input_queue_packets": 3}
STRICT = {"kind": "strict", "order": [1, 0]}


def steady():
    """50 packets of 200 bytes a second."""
    return flow("f", rate_bps=80_000, ip_bytes=200)


def boxed(node, *, into=None, out=None, sent=None, seconds=4):
    """a -> m (ingress `into`, egress `out`) -> b."""
    scenario = chain(node, [sent or steady()], [LINE, LINE], seconds=seconds)
    arriving, leaving = scenario["nodes"][1]["ports"]
    if into is not None:
        arriving["ingress"] = into
    if out is not None:
        leaving["egress"] = {"queues": queues(2), "scheduler": STRICT} | out
    return scenario


def policed(police):
    """Rules that put everything before a policer, on ingress or egress."""
    return {"otherwise": {"police": police}}


class TestEngine:
    def test_what_is_dropped_on_input_takes_no_time_of_it(self):
        free = run(boxed(SLOW))
        assert port_of(free, "m", "in")["dropped_input"] > 0
        result = run(boxed(SLOW, into=policed(HALF)))
        arriving = port_of(result, "m", "in")
        assert arriving["dropped_input"] == 0
        assert arriving["rules"]["ingress"][-1]["police"] == {"conform": 100, "exceed": 100, "violate": 0}
        report = flows_of(result)["f"]
        assert report["lost"] == 100
        # 200 bytes twice on the line; every second packet passes, so none waits for another.
        alone = 2 * 200 * 8 * 10**6 + PER_PACKET
        assert report["delay_ps"]["min"] == report["delay_ps"]["max"] == alone
        assert report["minimum_delay_ps"] == {"smallest": alone, "largest": alone}

    def test_marks_of_policers_are_known_behind_it(self):
        into = policed(HALF | {"conform": {"dscp": 10}, "exceed": {"dscp": 12}})
        out = {"rules": [{"match": {"dscp": [12]}, "queue": 1}]}
        result = run(boxed({"latency_jitter_ps": 10**6}, into=into, out=out))
        assert [q["packets_out"] for q in port_of(result, "m", "out")["queues"]] == [100, 100]

    def test_policers_of_the_egress_judge_when_it_is_done(self):
        # Two packets come together every 50 ms and leave the engine 25 ms apart, as the bucket fills.
        sent = flow("f", kind="trace", times_ps=[n // 2 * 2 * PER_PACKET for n in range(100)], ip_bytes=[200] * 100)
        out = policed(HALF | {"rate_bps": 64_000})
        for node, lost in (({}, 50), ({"per_packet_ps": PER_PACKET}, 0)):
            leaving = port_of(run(boxed(node, out=out, sent=sent)), "m", "out")
            assert leaving["queues"][0]["dropped_police"] == lost


def test_policers_of_the_egress_count_ip_fragments_one_by_one():
    # 1000 bytes at an MTU of 500: payloads of 480, 480 and 20 bytes, each with a header of 20.
    sent = flow("f", rate_bps=8_000, ip_bytes=1_000)
    out = with_mtu(500)["egress"]
    passing = run(boxed({}, out=out | policed({"rate_bps": 10**6, "burst_bytes": 1_040}), sent=sent))
    rule = port_of(passing, "m", "out")["rules"]["egress"][-1]
    assert (rule["packets"], rule["bytes"]) == (4 * 3, 4 * 1_040)
    assert rule["police"]["conform"] == 4 * 3
    assert flows_of(passing)["f"]["delivered"] == 4
    # The bucket holds two fragments but not the third: all packets are lost.
    losing = run(boxed({}, out=out | policed({"rate_bps": 8_000, "burst_bytes": 1_020}), sent=sent))
    leaving = port_of(losing, "m", "out")
    assert leaving["rules"]["egress"][-1]["police"] == {"conform": 4 * 2, "exceed": 4, "violate": 0}
    assert leaving["queues"][0]["packets_out"] == 4 * 2
    assert flows_of(losing)["f"]["lost"] == 4


def test_offered_bytes_before_a_policer_are_those_of_all_fragments():
    scenario = chain({}, [flow("f", rate_bps=8_000, ip_bytes=1_000)], [LINE, LINE], [with_mtu(500), {}])
    plain = flows_of(run(scenario))["f"]["offered_by_layer_bps"]
    egress = scenario["nodes"][0]["ports"][0]["egress"]
    egress |= policed({"rate_bps": 10**6, "burst_bytes": 10_000})
    assert flows_of(run(scenario))["f"]["offered_by_layer_bps"] == plain
    assert plain["frame"] == 1_040 * 8


class TestLeastDelay:
    def test_is_of_what_policers_let_through(self):
        slow = {"rate_bps": 10**5, "framing": "mlppp"}
        rules = policed(HALF | {"exceed": {"dscp": 12}})
        egress = rules | {"queues": queues(1), "scheduler": {"kind": "fifo"}, "fragment_bytes": 100}
        scenario = chain({}, [steady()], [slow, LINE], [{"egress": egress}, {}])
        report = flows_of(run(scenario))["f"]
        # Fragments of 111 bytes at 80 us a byte, then 200 bytes at 8 us.
        alone = 2 * 111 * 80 * 10**6 + 200 * 8 * 10**6
        assert report["minimum_delay_ps"]["smallest"] == report["delay_ps"]["min"] == alone

    def test_is_of_the_kindest_marks(self):
        # Bulk is cut into fragments, what exceeds is put where packets travel whole.
        slow = {"rate_bps": 10**5, "framing": "mlppp"}
        marking = policed(HALF | {"exceed": {"dscp": 46}})
        out = {"rules": [{"match": {"dscp": [46]}, "queue": 1}]}
        scenario = boxed({}, into=marking, out=out | {"fragment_bytes": 100, "interleave": True})
        scenario["links"][1] |= slow
        report = flows_of(run(scenario))["f"]
        # Whole, beside the fragments' sequence: 207 bytes.
        alone = 200 * 8 * 10**6 + 207 * 80 * 10**6
        assert report["minimum_delay_ps"]["smallest"] == report["delay_ps"]["min"] == alone

    def test_there_is_none_where_everything_is_dropped(self):
        drop = {"rate_bps": 8_000, "burst_bytes": 1_000, "conform": "drop"}
        for scenario in (boxed({}, into=policed(drop)), boxed({}, out=policed(drop))):
            report = flows_of(run(scenario))["f"]
            assert (report["delivered"], report["minimum_delay_ps"]) == (0, None)
        last = boxed({})
        last["nodes"][2]["ports"][0]["ingress"] = policed(drop)
        assert flows_of(run(last))["f"]["minimum_delay_ps"] is None


def test_runs_with_engines_and_policers_end_empty():
    into = policed(HALF | {"exceed": {"dscp": 12}})
    out = with_mtu(100)["egress"] | {"police": [{"match": {"dscp": [12]}, "police": HALF}]}
    node = {"per_packet_ps": PER_PACKET // 10, "latency_jitter_ps": SECOND // 100}
    report = flows_of(run(boxed(node, into=into, out=out)))["f"]
    assert report["sent"] == report["delivered"] + report["lost"]
    assert 0 < report["lost"] < report["sent"]
    assert report["unfinished"] == 0
