"""Marks on their way: ingress and egress rules, tags, policers, counters."""

import pytest

from .scenarios import SECOND, flow, flows_of, port_of, queues, run


def chain(*, tagged=True, edge=None, out=None, flows=(), seconds=1):
    """h1 -> r (ingress `edge`, egress `out`) -> m (one queue per CoS) -> h2."""
    rules = [{"match": {"cos": [c]}, "queue": c} for c in range(8)]
    strict = {"kind": "strict", "order": list(range(8))}
    sorted_out = {"queues": queues(8), "rules": rules, "scheduler": strict}
    dscp = [{"match": {"dscp": [34]}}, {"match": {"precedence": [1]}}]
    plain = {"queues": queues(1), "scheduler": {"kind": "fifo"}}
    nodes = [
        {"name": "h1", "ports": [{"name": "eth0"}]},
        {"name": "r", "ports": [{"name": "in", "ingress": edge}, {"name": "out", "egress": out or plain}]},
        {"name": "m", "ports": [{"name": "in", "ingress": {"rules": dscp}}, {"name": "out", "egress": sorted_out}]},
        {"name": "h2", "ports": [{"name": "eth0"}]},
    ]
    hops = [["h1", "eth0"], ["r", "out"], ["m", "out"]]
    far = [["r", "in"], ["m", "in"], ["h2", "eth0"]]
    links = [
        {"a": a, "b": b, "rate_bps": 10**8, "framing": "ethernet", "tagged": tagged and a[0] == "r"}
        for a, b in zip(hops, far, strict=True)
    ]
    sent = [f | {"path": hops} for f in flows]
    return {"version": 1, "duration_ps": seconds * SECOND, "nodes": nodes, "links": links, "flows": sent}


def queue_counts(result):
    return [q["packets_in"] for q in port_of(result, "m")["queues"]]


VOICE = flow("voice", packet={"application": "rtp-audio", "cos": 3}, rate_bps=80_000, ip_bytes=200)
MARK = {"rules": [{"match": {"application": ["rtp-audio"]}, "set": {"dscp": 34, "cos": 5}}]}


@pytest.mark.parametrize(
    ("edge", "tagged", "queue", "af41"),
    [
        (MARK, True, 5, 50),
        # Without a tag the class of service is lost, the DSCP is not.
        (MARK, False, 0, 50),
        # The host's link carries no tag: its own CoS never arrives.
        (None, True, 0, 0),
        ({"otherwise": {"cos": 2}}, True, 2, 0),
        ({"rules": [{"match": {"not": {"application": ["http"]}}, "set": {"cos": 1}}]}, True, 1, 0),
        ({"rules": [{"match": {"vlan": [1]}}], "otherwise": {"dscp": 34, "cos": 7}}, True, 7, 50),
    ],
)
def test_marks_are_set_and_carried(edge, tagged, queue, af41):
    result = run(chain(tagged=tagged, edge=edge, flows=[VOICE]))
    assert queue_counts(result) == [50 if q == queue else 0 for q in range(8)]
    ingress = port_of(result, "m", "in")["rules"]["ingress"]
    assert [rule["packets"] for rule in ingress] == [af41, 0, 50 - af41]


def test_egress_rules_mark_after_they_match():
    out = {
        "queues": queues(2),
        "rules": [{"match": {"dscp": [0]}, "queue": 1, "set": {"dscp": 8, "cos": 6}}],
        "scheduler": {"kind": "strict", "order": [0, 1]},
    }
    result = run(chain(out=out, flows=[VOICE]))
    assert [q["packets_in"] for q in port_of(result)["queues"]] == [0, 50]
    assert queue_counts(result)[6] == 50
    assert port_of(result, "m", "in")["rules"]["ingress"][1]["packets"] == 50


def policed(where, exceed=None):
    police = {"rate_bps": 218 * 8 * 25, "burst_bytes": 218, "exceed": exceed}
    rule = {"match": {}, "police": police, "set": {"dscp": 34, "cos": 5}}
    if where == "ingress":
        return chain(edge={"rules": [rule]}, flows=[VOICE], seconds=4)
    out = {"queues": queues(1), "rules": [rule | {"queue": 0}], "scheduler": {"kind": "fifo"}}
    # A tagged frame is 4 bytes longer.
    police |= {"rate_bps": 222 * 8 * 25, "burst_bytes": 222}
    return chain(out=out, flows=[VOICE], seconds=4)


@pytest.mark.parametrize("where", ["ingress", "egress"])
def test_a_policer_drops_or_marks_what_exceeds(where):
    # 50 packets a second against 25: every other one exceeds.
    result = run(policed(where))
    assert (flows_of(result)["voice"]["sent"], flows_of(result)["voice"]["lost"]) == (200, 100)
    assert queue_counts(result)[5] == 100
    port = port_of(result, "r", "in" if where == "ingress" else "out")
    assert port["rules"][where][0]["exceeded"] == 100
    if where == "egress":
        assert port["queues"][0]["dropped_police"] == 100
        share = {k: v for k, v in port["by_flow"][0].items() if k != "window"}
        assert share == {"flow": "voice", "queue": "q0", "packets_in": 200, "dropped": 100}
    marked = run(policed(where, exceed={"dscp": 10, "cos": 1}))
    assert flows_of(marked)["voice"]["lost"] == 0
    assert (queue_counts(marked)[5], queue_counts(marked)[1]) == (100, 100)
    assert [r["packets"] for r in port_of(marked, "m", "in")["rules"]["ingress"]] == [100, 100, 0]


def test_a_policer_is_shared_by_the_flows_of_its_rule():
    two = [VOICE, VOICE | {"name": "second"}]
    result = run(policed("ingress") | {"flows": chain(flows=two)["flows"]})
    assert sum(f["lost"] for f in result["flows"]) == 300


@pytest.mark.parametrize(
    ("match", "hit"),
    [
        ({"src": ["192.168.0.0/16"], "dst_ports": [[16384, 32767]], "protocol": [17]}, True),
        ({"src": ["192.168.3.0/24"], "dst": ["10.0.0.0/8"]}, False),
        ({"any_port": [[80, 80], [16384, 16384]]}, True),
        ({"src_ports": [[1, 16383]]}, False),
        ({"any": [{"protocol": [6]}, {"vlan": [7]}]}, True),
        ({"any": [{"protocol": [6]}, {"vlan": [8]}]}, False),
        ({"not": {"any": [{"protocol": [6]}, {"vlan": [8]}]}}, True),
    ],
)
def test_matches(match, hit):
    packet = {
        "src": "192.168.3.15",
        "dst": "192.168.4.15",
        "src_port": 16384,
        "dst_port": 16384,
        "protocol": 17,
        "vlan": 7,
    }
    sent = flow("f", packet=packet, rate_bps=80_000, ip_bytes=200)
    edge = {"rules": [{"match": match, "set": {"cos": 4}}]}
    result = run(chain(edge=edge, flows=[sent]))
    assert queue_counts(result)[4] == (50 if hit else 0)


def test_a_group_chosen_on_input_picks_the_queue_and_stays_in_its_node():
    strict = {"kind": "strict", "order": [0, 1]}
    out = {"queues": queues(2), "rules": [{"match": {"group": [4]}, "queue": 1}], "scheduler": strict}
    edge = {"rules": [{"match": {"application": ["rtp-audio"]}, "set": {"group": 4}}]}
    scenario = chain(edge=edge, out=out, flows=[VOICE])
    middle = scenario["nodes"][2]["ports"]
    middle[0]["ingress"] = {"rules": [{"match": {"group": [4]}, "set": {"cos": 7}}]}
    result = run(scenario)
    assert [q["packets_in"] for q in port_of(result, "r", "out")["queues"]] == [0, 50]
    assert queue_counts(result)[7] == 0
