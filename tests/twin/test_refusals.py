"""Bad scenarios: each is refused with the place and the hint, none crashes."""

import copy
import json

import pytest
import qosforge_twin
from hypothesis import given, settings
from hypothesis import strategies as st

from .scenarios import egress, flow, one_port

PORT = "nodes[0].ports[0].egress"
GOOD = one_port(
    egress(2, {"kind": "cbwfq", "weights": [1, 2]}),
    [flow("f", rate_bps=88_000, ip_bytes=200) | {"samples": True}],
    framing="mlppp",
)


def refused(text, path):
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        qosforge_twin.run(text, 1)
    error = caught.value
    assert error.path == path
    assert str(error) == f"{error.path}: {error.problem}; {error.hint}"
    assert error.problem
    assert error.hint
    assert isinstance(error, ValueError)


def place(path):
    """The steps of a JSON path, a scheduler's and a source's included."""
    return [int(p) if p.isdigit() else p for p in path.replace("[", ".").replace("]", "").split(".")]


def altered(path, value):
    scenario = copy.deepcopy(GOOD)
    *way, last = place(path)
    spot = scenario
    for step in way:
        spot = spot[step]
    spot[last] = value
    return json.dumps(scenario)


@pytest.mark.parametrize(
    ("path", "value", "reported"),
    [
        ("version", 2, "version"),
        ("duration_ps", 0, "duration_ps"),
        ("duration_ps", -1, "duration_ps"),
        ("duration_ps", 10**19, "duration_ps"),
        ("warmup_ps", 10**12, "warmup_ps"),
        ("typo", 1, "typo"),
        ("nodes[1].name", "r", "nodes[1].name"),
        ("nodes[0].latency_ps", 1.5, "nodes[0].latency_ps"),
        ("links[0].rate_bps", 0, "links[0].rate_bps"),
        ("links[0].framing", "token-ring", "links[0].framing"),
        ("links[0].tagged", True, "links[0].tagged"),
        ("links[0].delay_ps", 10**17, "links[0].delay_ps"),
        ("links[0].a", ["r", "in"], "links[0].a"),
        ("links[0].b", ["x", "eth0"], "links[0].b"),
        ("links[0].b", ["r", "out"], "links[0].b"),
        (f"{PORT}.tx_fifo_packets", 0, f"{PORT}.tx_fifo_packets"),
        (f"{PORT}.fragment_bytes", 0, f"{PORT}.fragment_bytes"),
        (f"{PORT}.interleave", True, f"{PORT}.interleave"),
        (f"{PORT}.queues[0]", {"name": "q0"}, f"{PORT}.queues[0]"),
        (f"{PORT}.queues[1].name", "q0", f"{PORT}.queues[1].name"),
        (f"{PORT}.queues[1].limit", 3, f"{PORT}.queues[1].limit"),
        (f"{PORT}.queues[1].red", {"weight_exponent": 17}, f"{PORT}.queues[1].red.weight_exponent"),
        (
            f"{PORT}.queues[1].red",
            {"default": {"min": 5, "max": 4, "mark_denominator": 1}},
            f"{PORT}.queues[1].red.default.max",
        ),
        (f"{PORT}.rules[0].queue", 2, f"{PORT}.rules[0].queue"),
        (f"{PORT}.rules[0].match", {"dscp": [64]}, f"{PORT}.rules[0].match.dscp[0]"),
        (f"{PORT}.rules[0].match", {"any": []}, f"{PORT}.rules[0].match.any"),
        (f"{PORT}.rules[0].match", {"any": [{"src": ["nowhere"]}]}, f"{PORT}.rules[0].match.any[0].src[0]"),
        (f"{PORT}.rules[0].match", {"any": [{"color": 1}]}, f"{PORT}.rules[0].match.any[0].color"),
        (f"{PORT}.rules[0].set", {"cos": 8}, f"{PORT}.rules[0].set.cos"),
        (
            f"{PORT}.rules[0].police",
            {"rate_bps": 0, "burst_bytes": 1},
            f"{PORT}.rules[0].police.rate_bps",
        ),
        (f"{PORT}.rules[0].police", 5, f"{PORT}.rules[0].police"),
        (f"{PORT}.rules[0].police", {"kind": "gcra", "pcr_bps": 1}, f"{PORT}.rules[0].police"),
        (
            f"{PORT}.rules[0].police",
            {"rate_bps": 1, "burst_bytes": 1, "exceed": "continue"},
            f"{PORT}.rules[0].police.exceed",
        ),
        (
            f"{PORT}.police",
            [{"police": {"kind": "car", "rate_bps": 1, "burst_bytes": 0}}],
            f"{PORT}.police[0].police.burst_bytes",
        ),
        (f"{PORT}.police", [{"match": {"input": ["in"]}, "police": {}}], f"{PORT}.police[0].match.input[0]"),
        (f"{PORT}.police", [{"police": {"rate_bps": 1, "burst_bytes": 1}}] * 101, f"{PORT}.police"),
        (f"{PORT}.rules[0].set", {"dscp": 8, "precedence": 1}, f"{PORT}.rules[0].set.precedence"),
        (f"{PORT}.rules[0].set", {"colour": "blue"}, f"{PORT}.rules[0].set.colour"),
        (f"{PORT}.queues[0].police", {"rate_bps": 1}, f"{PORT}.queues[0].police"),
        (f"{PORT}.queues[0].pool", "nowhere", f"{PORT}.queues[0].pool"),
        (f"{PORT}.queues[0].alpha", 1.0, f"{PORT}.queues[0].pool"),
        (f"{PORT}.queues[0].drain_bps", 0, f"{PORT}.queues[0].drain_bps"),
        (f"{PORT}.queues[0].thresholds", [{}], f"{PORT}.queues[0].thresholds[0]"),
        (f"{PORT}.queues[0].thresholds", [{"percent": 101}], f"{PORT}.queues[0].thresholds[0]"),
        (
            f"{PORT}.queues[0].thresholds",
            [{"match": {"dscp": [64]}, "packets": 1}],
            f"{PORT}.queues[0].thresholds[0].match.dscp[0]",
        ),
        (f"{PORT}.pools", [{"name": "p"}], f"{PORT}.pools[0]"),
        (f"{PORT}.pools", [{"name": "p", "bytes": 0}], f"{PORT}.pools[0].bytes"),
        (f"{PORT}.pools", [{"name": "p", "bytes": 1}] * 2, f"{PORT}.pools[1].name"),
        ("flows[0].packet", {"src_mac": "00:00"}, "flows[0].packet.src_mac"),
        ("flows[0].packet", {"ecn": "maybe"}, "flows[0].packet.ecn"),
        (f"{PORT}.otherwise", {"queue": 9}, f"{PORT}.otherwise.queue"),
        (f"{PORT}.scheduler", {"kind": "magic"}, f"{PORT}.scheduler.kind"),
        (f"{PORT}.scheduler", {"weights": [1]}, f"{PORT}.scheduler"),
        (f"{PORT}.scheduler", {"kind": "fifo"}, f"{PORT}.scheduler"),
        (f"{PORT}.scheduler", {"kind": "wfq"}, f"{PORT}.scheduler"),
        (f"{PORT}.scheduler", {"kind": "strict", "order": [0]}, f"{PORT}.scheduler.order"),
        (f"{PORT}.scheduler", {"kind": "strict", "order": [0, 0]}, f"{PORT}.scheduler.order[1]"),
        (f"{PORT}.scheduler", {"kind": "strict", "order": [0, 2]}, f"{PORT}.scheduler.order[1]"),
        (f"{PORT}.scheduler", {"kind": "wrr"}, f"{PORT}.scheduler"),
        (f"{PORT}.scheduler", {"kind": "wrr", "weights": [1, 0]}, f"{PORT}.scheduler.weights"),
        (f"{PORT}.scheduler", {"kind": "wrr", "weights": {"x": 1}}, f"{PORT}.scheduler.weights"),
        (f"{PORT}.scheduler", {"kind": "wrr", "weights": "1 2"}, f"{PORT}.scheduler.weights"),
        (f"{PORT}.scheduler", {"kind": "srr", "weights": [1, 1, 1]}, f"{PORT}.scheduler.weights"),
        (f"{PORT}.scheduler", {"kind": "srr", "weights": [1, 1], "strict": 2}, f"{PORT}.scheduler.strict"),
        (f"{PORT}.scheduler", {"kind": "cbwfq", "weights": [1, 10**13]}, f"{PORT}.scheduler.weights"),
        (
            f"{PORT}.scheduler",
            {"kind": "cbwfq", "weights": [None, 1], "priority": [{"queue": 0, "rate_bps": 1, "burst_bytes": 0}]},
            f"{PORT}.scheduler.priority[0].burst_bytes",
        ),
        (f"{PORT}.scheduler", {"kind": "cbwfq", "weights": [1, 1], "wieghts": 1}, f"{PORT}.scheduler.wieghts"),
        (
            f"{PORT}.queues[1]",
            {"name": "q1", "limit_packets": 9, "fair_queue": {"dynamic_queues": 0}},
            f"{PORT}.queues[1].fair_queue.dynamic_queues",
        ),
        (f"{PORT}.shape", {"rate_bps": 0, "burst_bytes": 1}, f"{PORT}.shape.rate_bps"),
        (f"{PORT}.shape", {"rate_bps": 1, "burst_bytes": -1}, f"{PORT}.shape.burst_bytes"),
        (
            f"{PORT}.scheduler",
            {"kind": "wrr", "weights": [1, 1], "shapes": {"2": {"rate_bps": 1, "burst_bytes": 1}}},
            f"{PORT}.scheduler.shapes.2",
        ),
        (
            f"{PORT}.scheduler",
            {"kind": "wrr", "weights": [1, 1], "shapes": {"1": {"rate_bps": 0, "burst_bytes": 1}}},
            f"{PORT}.scheduler.shapes.1.rate_bps",
        ),
        (f"{PORT}.scheduler", {"kind": "wfq", "shapes": {}}, f"{PORT}.scheduler.shapes"),
        (f"{PORT}.scheduler", {"kind": "strict", "order": [0, "x"]}, f"{PORT}.scheduler.order[1]"),
        (f"{PORT}.scheduler", {"kind": "drr", "quantum_bytes": [0, 1]}, f"{PORT}.scheduler.quantum_bytes"),
        (f"{PORT}.scheduler", {"kind": "htb", "classes": []}, f"{PORT}.scheduler.classes"),
        (f"{PORT}.scheduler", {"kind": "tree", "children": [{"queue": 0}]}, f"{PORT}.scheduler.children"),
        (f"{PORT}.scheduler", {"kind": "cbq", "classes": [{"name": "a"}]}, f"{PORT}.scheduler.classes[0]"),
        ("flows[0].path", [], "flows[0].path"),
        ("flows[0].path", [["h", "eth0"], ["h", "eth0"]], "flows[0].path[1]"),
        ("flows[0].return_path", [["h", "eth0"]], "flows[0].return_path"),
        ("flows[0].packet", {"dscp": 64}, "flows[0].packet.dscp"),
        ("flows[0].packet", {"src": "10.0.0.256"}, "flows[0].packet.src"),
        ("flows[0].packet", {"dscp": 300}, "flows[0].packet.dscp"),
        ("flows[0].source", {"kind": "tcp"}, "flows[0].return_path"),
        ("flows[0].source", {"kind": "tcp", "mss": 0}, "flows[0].source.mss"),
        ("flows[0].source", {"kind": "morse"}, "flows[0].source.kind"),
        ("flows[0].source.rate_bps", 0, "flows[0].source.rate_bps"),
        ("flows[0].source.rate_bps", 10**18, "flows[0].source.rate_bps"),
        ("duration_ps", 10**18, "flows[0].source.rate_bps"),
        ("flows[0].source.ip_bytes", 70_000, "flows[0].source.ip_bytes"),
        ("flows[0].source.ip_bytes", "200", "flows[0].source.ip_bytes"),
        ("flows[0].source.burst", 1, "flows[0].source.burst"),
        (
            "flows[0].source",
            {"kind": "video", "frame_rate": 0, "frame_bytes_mean": 1, "ip_bytes": 500},
            "flows[0].source.frame_rate",
        ),
        (
            "flows[0].source",
            {"kind": "onoff", "rate_bps": 1, "ip_bytes": 500, "on_ps": 0, "off_ps": 1},
            "flows[0].source.on_ps",
        ),
    ],
)
def test_refusals_name_the_place(path, value, reported):
    refused(altered(path, value), reported)


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("links[0].rate_bps", -5, "give a whole number from 0 on"),
        ("links[0].rate_bps", 1e6, "without a point or an exponent"),
        ("flows[0].packet.dscp", "ef", "give a whole number from 0 to 255"),
        ("links[0].framing", "token-ring", "use one of the names expected"),
        ("links[0].tagged", 1, "give true or false"),
        ("nodes[0].name", 7, "give text in quotes"),
        ("nodes[0].ports", 7, "give a list"),
        ("nodes[0]", 7, "give an object"),
        ("typo", 1, "remove the key"),
    ],
)
def test_a_wrong_type_is_mended_in_terms_of_the_document(path, value, hint):
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        qosforge_twin.run(altered(path, value), 1)
    assert hint in caught.value.hint


def test_a_key_given_twice_is_told_as_such():
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        qosforge_twin.run(json.dumps(GOOD)[:-1] + ', "version": 1}', 1)
    assert caught.value.hint == "give each key once"


def test_names_and_links_are_unique():
    twice = copy.deepcopy(GOOD)
    twice["flows"] *= 2
    refused(json.dumps(twice), "flows[1].name")
    linked = copy.deepcopy(GOOD)
    linked["nodes"].append({"name": "x", "ports": [{"name": "eth0"}]})
    linked["links"].append(linked["links"][0] | {"b": ["x", "eth0"]})
    refused(json.dumps(linked), "links[1].a")
    unlinked = copy.deepcopy(GOOD)
    unlinked["links"] = []
    refused(json.dumps(unlinked), "flows[0].path[0]")


@pytest.mark.parametrize(
    ("queue", "reported"),
    [
        ({"reserved_bytes": 10}, f"{PORT}.queues[0].reserved_bytes"),
        ({"reserved_packets": 11}, f"{PORT}.pools[0]"),
        ({"alpha": 0.0}, f"{PORT}.queues[0].alpha"),
    ],
)
def test_a_queue_must_fit_its_pool(queue, reported):
    pooled = copy.deepcopy(GOOD)
    port = pooled["nodes"][0]["ports"][0]["egress"]
    port["pools"] = [{"name": "p", "packets": 10}]
    port["queues"][0] |= {"pool": "p"} | queue
    refused(json.dumps(pooled), reported)
    pooled["nodes"][0]["pools"] = [{"name": "p", "packets": 10}]
    port["queues"][0] = {"name": "q0", "pool": "p"}
    refused(json.dumps(pooled), "nodes[0].pools[0].name")


def test_line_options_must_fit_the_framing():
    plain = copy.deepcopy(GOOD)
    plain["links"][0]["framing"] = "ppp"
    plain["nodes"][0]["ports"][0]["egress"]["fragment_bytes"] = 100
    refused(json.dumps(plain), f"{PORT}.fragment_bytes")
    ethernet = copy.deepcopy(GOOD)
    ethernet["links"][0]["framing"] = "ethernet"
    ethernet["nodes"][0]["ports"][0]["egress"]["header_compression"] = True
    refused(json.dumps(ethernet), f"{PORT}.header_compression")


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "\x00\x01", json.dumps(GOOD) + "x"])
def test_what_is_no_scenario(text):
    refused(text, "scenario")


def test_nesting_is_bounded():
    deep = json.dumps(GOOD).replace('"cbr"', "[" * 10_000 + "]" * 10_000)
    refused(deep, "scenario")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_has_64_bits(seed):
    with pytest.raises(OverflowError):
        qosforge_twin.run(json.dumps(GOOD), seed)


def paths_of(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths_of(inner, f"{prefix}[{index}]")
    if prefix:
        yield prefix


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**31, 2**63, 2**64 - 1, 2**64, 1e300, 0.5, "", "x", [], {}, [[]]]),
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(path=st.sampled_from(sorted(paths_of(GOOD))), value=junk)
def test_junk_anywhere_is_refused_or_run_but_never_fatal(path, value):
    try:
        result = json.loads(qosforge_twin.run(altered(path, value), 1))
    except qosforge_twin.ScenarioError as error:
        place_named = error.path
    else:
        place_named = "flows"
        assert all(f["sent"] == f["delivered"] + f["lost"] for f in result["flows"])
    assert place_named


def many_flows(count, rate_bps, **more):
    flows = [flow(f"f{n}", rate_bps=rate_bps, ip_bytes=64) | more for n in range(count)]
    return json.dumps(one_port(egress(1, {"kind": "fifo"}), flows) | {"duration_ps": 10**15})


def test_the_packets_of_all_sources_together_are_bounded():
    refused(many_flows(1000, 900_000_000), "flows[1].source")
    refused(many_flows(10, 5_000_000, samples=True), "flows[5].source")


def test_packets_under_way_are_bounded():
    queue = {"name": "q", "limit_packets": 10**9}
    scenario = one_port(
        {"queues": [queue], "scheduler": {"kind": "fifo"}}, [flow("f", rate_bps=10**10, ip_bytes=64)], rate_bps=1000
    )
    with pytest.raises(qosforge_twin.ScenarioError, match="more than 4194304 packets are under way") as caught:
        qosforge_twin.run(json.dumps(scenario | {"duration_ps": 10**12}), 1)
    assert caught.value.path == "nodes"
    assert "shorten the queues" in caught.value.hint
