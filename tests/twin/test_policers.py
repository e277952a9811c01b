"""Policers of every kind, at interfaces, in rules and before queues: what they find and what follows."""

from .scenarios import MILLISECOND, SECOND, flow, flows_of, one_port, port_of, queues, run

SRTCM = {"kind": "srtcm", "rate_bps": 40_000, "burst_bytes": 200, "excess_burst_bytes": 1000}
"""25 packets of 200 bytes a second, five more at once."""


def steady(name="f", **packet):
    """50 packets of 200 bytes a second."""
    return flow(name, packet=packet, rate_bps=80_000, ip_bytes=200)


def fifo(**more):
    return {"queues": queues(1), "scheduler": {"kind": "fifo"}, **more}


def two_hops(first=None, second=None, *, out=None, flows=(), seconds=4):
    """h -> r (ingress `first`, egress `out`) -> s (ingress `second`) -> sink, without framing."""
    nodes = [
        {"name": "h", "ports": [{"name": "eth0"}]},
        {"name": "r", "ports": [{"name": "in", "ingress": first}, {"name": "out", "egress": out or fifo()}]},
        {"name": "s", "ports": [{"name": "in", "ingress": second}, {"name": "out"}]},
        {"name": "sink", "ports": [{"name": "eth0"}]},
    ]
    path = [["h", "eth0"], ["r", "out"], ["s", "out"]]
    far = [["r", "in"], ["s", "in"], ["sink", "eth0"]]
    links = [{"a": a, "b": b, "rate_bps": 10**7, "framing": "none"} for a, b in zip(path, far, strict=True)]
    sent = [f | {"path": path} for f in flows]
    return {"version": 1, "duration_ps": seconds * SECOND, "nodes": nodes, "links": links, "flows": sent}


def outcomes(conform, exceed, violate=0):
    return {"conform": conform, "exceed": exceed, "violate": violate}


def seen(result, count):
    """Packets by rule of the second hop's ingress."""
    return [rule["packets"] for rule in port_of(result, "s", "in")["rules"]["ingress"]][:count]


DSCPS = {"rules": [{"match": {"dscp": [d]}} for d in (10, 12, 14)]}


def test_three_colours_mark_and_drop():
    actions = {"conform": {"dscp": 10}, "exceed": {"dscp": 12}, "violate": {"dscp": 14}}
    edge = {"rules": [{"police": SRTCM | actions}]}
    result = run(two_hops(edge, DSCPS, flows=[steady()]))
    # 200 packets: the first and every second one are green; of the others five are yellow,
    # and none more, since the committed bucket never overflows.
    found = port_of(result, "r", "in")["rules"]["ingress"][0]
    assert found["police"] == outcomes(100, 5, 95)
    assert (found["packets"], found["exceeded"]) == (200, 100)
    assert seen(result, 3) == [100, 5, 95]
    dropped = run(
        two_hops({"rules": [{"police": SRTCM | {"exceed": "transmit", "violate": "drop"}}]}, flows=[steady()])
    )
    assert flows_of(dropped)["f"]["lost"] == 95


def test_what_violates_is_treated_as_what_exceeds():
    result = run(two_hops({"rules": [{"police": SRTCM}]}, flows=[steady()]))
    assert flows_of(result)["f"]["lost"] == 100


def test_two_rates():
    police = {"kind": "trtcm", "rate_bps": 20_000, "burst_bytes": 200, "peak_bps": 40_000, "peak_burst_bytes": 200}
    result = run(
        two_hops(
            {"rules": [{"police": police | {"exceed": {"dscp": 12}, "violate": "drop"}}]}, DSCPS, flows=[steady()]
        )
    )
    # Every second packet is within the peak, every second one of those within the rate.
    assert port_of(result, "r", "in")["rules"]["ingress"][0]["police"] == outcomes(50, 50, 100)
    assert seen(result, 3) == [0, 50, 0]


def test_a_colour_stays_in_its_node():
    edge = {"rules": [{"police": SRTCM | {"exceed": "transmit"}}]}
    out = {
        "queues": queues(3),
        "rules": [{"match": {"colour": [c]}, "queue": q} for q, c in enumerate(("green", "yellow", "red"))],
        "scheduler": {"kind": "strict", "order": [0, 1, 2]},
    }
    second = {"rules": [{"match": {"colour": ["green"]}}]}
    result = run(two_hops(edge, second, out=out, flows=[steady()]))
    assert [q["packets_in"] for q in port_of(result)["queues"]] == [100, 5, 95]
    assert seen(result, 2) == [200, 0]


def test_colour_aware_markers_take_what_rules_set():
    aware = SRTCM | {"colour_aware": True, "violate": "drop", "exceed": "transmit"}
    edge = {"rules": [{"match": {"dscp": [10]}, "set": {"colour": "yellow"}, "police": aware}]}
    result = run(two_hops(edge, flows=[steady(dscp=10)]))
    # Yellow packets draw on the excess bucket: 1000 bytes at once, and what the full committed
    # bucket lets over: 200 bytes every 40 ms.
    found = port_of(result, "r", "in")["rules"]["ingress"][0]["police"]
    assert found["conform"] == 0
    assert found["exceed"] == 5 + 99
    assert flows_of(result)["f"]["lost"] == found["violate"] == 96


CAR = {"kind": "car", "rate_bps": 40_000, "burst_bytes": 200}


def test_rate_limits_are_asked_in_order_until_one_does_not_continue():
    listed = [
        {
            "match": {"dscp": [46]},
            "police": CAR | {"conform": "transmit", "exceed": {"precedence": 1, "then": "continue"}},
        },
        {"match": {"precedence": [1]}, "police": CAR | {"rate_bps": 8_000, "exceed": {"precedence": 0}}},
        {"police": CAR | {"rate_bps": 8_000_000, "burst_bytes": 10_000, "conform": "drop"}},
    ]
    second = {"rules": [{"match": {"dscp": [46]}}, {"match": {"dscp": [8]}}, {"match": {"dscp": [0]}}]}
    flows = [steady("ef", dscp=46), steady("other")]
    result = run(two_hops({"police": listed}, second, flows=flows))
    found = port_of(result, "r", "in")["policers"]["ingress"]
    # Every fifth of the hundred that exceed the first conforms to the second.
    assert found == [outcomes(100, 100), outcomes(20, 80), outcomes(200, 0)]
    assert seen(result, 3) == [100, 20, 80]
    assert (flows_of(result)["ef"]["lost"], flows_of(result)["other"]["lost"]) == (0, 200)
    assert port_of(result, "r", "in")["rules"]["ingress"][0]["packets"] == 200


def test_rate_limits_on_output_come_before_classes():
    out = {
        "police": [{"match": {"dscp": [46]}, "police": CAR | {"exceed": {"dscp": 0}}}],
        "queues": queues(2),
        "rules": [{"match": {"dscp": [46]}, "queue": 1}],
        "scheduler": {"kind": "strict", "order": [1, 0]},
    }
    result = run(two_hops(out=out, flows=[steady(dscp=46)]))
    assert [q["packets_in"] for q in port_of(result)["queues"]] == [100, 100]
    assert [r["packets"] for r in port_of(result)["rules"]["egress"]] == [100, 100]
    assert port_of(result)["policers"]["egress"] == [outcomes(100, 100)]
    out["police"][0]["police"]["exceed"] = "drop"
    dropped = run(two_hops(out=out, flows=[steady(dscp=46)]))
    assert flows_of(dropped)["f"]["lost"] == 100
    assert [q["packets_in"] for q in port_of(dropped)["queues"]] == [0, 100]


def test_an_extended_burst_lends():
    def lost(extended):
        police = CAR | {"burst_bytes": 1000, "extended_burst_bytes": extended}
        return flows_of(run(two_hops({"police": [{"police": police}]}, flows=[steady()])))["f"]["lost"]

    # 1000 bytes and what 3.98 s earn are 104 packets and a half. A loan is paid back, so the
    # long-term rate is the same but for what is owed at the end.
    assert lost(1000) == 200 - 104
    assert lost(1000) - 10 <= lost(3000) < lost(1000)


def test_a_metered_queue_counts_its_drops():
    egress = fifo()
    egress["queues"][0]["police"] = {"rate_bps": 40_000, "burst_bytes": 200}
    result = run(one_port(egress, [steady()], seconds=4))
    queue = port_of(result)["queues"][0]
    assert queue["police"] == outcomes(100, 100)
    assert (queue["packets_in"], queue["packets_out"], queue["dropped_police"]) == (200, 100, 100)
    assert port_of(result)["rules"]["egress"][0]["police"] is None
    (share,) = port_of(result)["by_flow"]
    assert (share["packets_in"], share["dropped"]) == (200, 100)
    assert share["window"] == {"packets_in": 200, "packets_out": 100, "bytes_out": 20_000, "dropped": 100}


def test_rule_and_queue_may_both_police():
    egress = fifo(rules=[{"queue": 0, "police": {"rate_bps": 40_000, "burst_bytes": 200}}])
    egress["queues"][0]["police"] = {"rate_bps": 20_000, "burst_bytes": 200}
    result = run(one_port(egress, [steady()], seconds=4))
    assert port_of(result)["rules"]["egress"][0]["police"] == outcomes(100, 100)
    assert port_of(result)["queues"][0]["police"] == outcomes(50, 50)
    assert port_of(result)["queues"][0]["dropped_police"] == 150
    assert flows_of(result)["f"]["delivered"] == 50


def test_a_policer_may_count_ip_bytes():
    def exceeded(layer):
        police = {"rate_bps": 80_000, "burst_bytes": 2180, "layer": layer, "exceed": "transmit"}
        egress = fifo(rules=[{"queue": 0, "police": police}])
        result = run(one_port(egress, [steady()], seconds=4, framing="ethernet"))
        return port_of(result)["rules"]["egress"][0]["exceeded"]

    assert exceeded("ip") == 0
    # Frames of 218 bytes out of the burst and what 3.98 s earn.
    assert exceeded("frame") == 200 - (2180 + 39_800) // 218


def test_addresses_inputs_and_precedence():
    edge = {"rules": [{"match": {"src_mac": ["0000.5e00.5301"]}, "set": {"precedence": 5}}]}
    out = {
        "queues": queues(3),
        "rules": [
            {"match": {"input": ["in"], "dscp": [40]}, "queue": 1},
            {"match": {"not": {"input": ["in"]}}, "queue": 2},
        ],
        "scheduler": {"kind": "strict", "order": [0, 1, 2]},
    }
    flows = [steady("a", src_mac="00:00:5e:00:53:01", dscp=46), steady("b", src_mac="00:00:5e:00:53:02")]
    scenario = two_hops(edge, out=out, flows=flows)
    scenario["flows"].append(steady("own") | {"path": [["r", "out"]]})
    result = run(scenario)
    assert [q["packets_in"] for q in port_of(result)["queues"]] == [200, 200, 200]


def atm_contract(flows, police, seconds=30):
    """h -> r -> (ATM line of 34 Mb/s, `police` at its end) -> s -> sink, and back."""
    nodes = [
        {"name": "r", "ports": [{"name": "west"}, {"name": "out", "egress": fifo()}]},
        {"name": "s", "ports": [{"name": "in", "ingress": {"police": [{"police": police}]}}, {"name": "east"}]},
        {"name": "h", "ports": [{"name": "eth0"}]},
        {"name": "sink", "ports": [{"name": "eth0"}]},
    ]
    lan = {"rate_bps": 10**8, "framing": "ethernet"}
    links = [
        {"a": ["h", "eth0"], "b": ["r", "west"], **lan},
        {
            "a": ["r", "out"],
            "b": ["s", "in"],
            "rate_bps": 34_000_000,
            "delay_ps": 60 * MILLISECOND,
            "framing": "none",
        },
        {"a": ["s", "east"], "b": ["sink", "eth0"], **lan},
    ]
    there = [["h", "eth0"], ["r", "out"], ["s", "east"]]
    back = [["sink", "eth0"], ["s", "in"], ["r", "west"]]
    sent = [f | {"path": there} | ({"return_path": back} if f["source"]["kind"] == "tcp" else {}) for f in flows]
    return {"version": 1, "duration_ps": seconds * SECOND, "nodes": nodes, "links": links, "flows": sent}


def test_a_policer_of_cells_passes_smooth_traffic_and_starves_bursts():
    # One packet of 32 cells back to back needs 31 × (212 − 12.5) µs; two would need twice that.
    police = {"kind": "gcra", "pcr_bps": 2_000_000, "cdvt_ps": 7 * MILLISECOND}
    smooth = flow("udp", rate_bps=1_760_000, ip_bytes=1500)
    result = run(atm_contract([smooth], police))
    assert flows_of(result)["udp"]["lost"] == 0
    greedy = [flow(f"tcp{i}", kind="tcp", receive_window_bytes=240_000) for i in range(4)]
    result = run(atm_contract(greedy, police))
    total = sum(f["throughput_bps"] for f in result["flows"])
    assert 100_000 < total < 800_000
    tolerant = police | {"cdvt_ps": 2000 * MILLISECOND}
    assert sum(f["throughput_bps"] for f in run(atm_contract(greedy, tolerant))["flows"]) > 1_500_000


def test_dropping_whole_packets_saves_the_contract():
    def delivered(discard):
        police = {"kind": "gcra", "pcr_bps": 2_000_000, "cdvt_ps": 7 * MILLISECOND, "discard": discard}
        # Half as much again as the contract.
        heavy = flow("udp", kind="poisson", rate_bps=2_600_000, ip_bytes=1500)
        return flows_of(run(atm_contract([heavy], police)))["udp"]["delivered"]

    by_cell, rest, whole = (delivered(d) for d in ("cell", "partial_packet", "early_packet"))
    assert by_cell < rest < whole
