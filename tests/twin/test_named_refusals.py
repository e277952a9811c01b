"""The slips that people make: each is refused with the place, the problem and the hint."""

import pytest

from .scenarios import egress, flow, one_port, refusal

PORT = "nodes[0].ports[0].egress"
GOOD = one_port(egress(2, {"kind": "wrr", "weights": [1, 2]}), [flow("f", rate_bps=88_000, ip_bytes=200)])


def port(**changed):
    return GOOD | {
        "nodes": [{"name": "r", "ports": [{"name": "out", "egress": egress(2, **changed)}]}, GOOD["nodes"][1]]
    }


def in_port(key, value):
    document = port(scheduler={"kind": "wrr", "weights": [1, 2]})
    document["nodes"][0]["ports"][0]["egress"][key] = value
    return document


TWO_WAYS = {
    **GOOD,
    "nodes": [{"name": name, "ports": [{"name": "out"}]} for name in "rh"],
    "links": [{"a": ["r", "out"], "b": ["h", "out"], "rate_bps": 10**6, "framing": "none"}],
    "flows": [{**GOOD["flows"][0], "path": [["r", "out"], ["h", "out"], ["r", "out"]]}],
}
QUEUE = {"name": "q0", "limit_packets": 9}
SLIPS = {
    "a line's rate of zero": (
        GOOD | {"links": [GOOD["links"][0] | {"rate_bps": 0}]},
        "links[0].rate_bps",
        "0",
    ),
    "a source's rate of zero": (
        GOOD | {"flows": [flow("f", rate_bps=0, ip_bytes=200)]},
        "flows[0].source.rate_bps",
        "rate",
    ),
    "a negative weight": (
        port(scheduler={"kind": "wrr", "weights": [1, -2]}),
        f"{PORT}.scheduler.weights",
        "-2",
    ),
    "a negative share": (
        port(scheduler={"kind": "cbq", "classes": [{"name": n, "share": -0.5, "queue": int(n)} for n in "01"]}),
        f"{PORT}.scheduler.classes[0].share",
        "",
    ),
    "a loop in the path": (TWO_WAYS, "flows[0].path[2]", ""),
    "a class that no queue takes": (in_port("rules", [{"match": {}, "queue": 5}]), f"{PORT}.rules[0].queue", "5"),
    "a queue that no class serves": (
        port(scheduler={"kind": "strict", "order": [1]}),
        f"{PORT}.scheduler.order",
        "0",
    ),
    "an unknown pool": (
        in_port("queues", [QUEUE | {"pool": "shared"}, {"name": "q1", "limit_packets": 1}]),
        f"{PORT}.queues[0].pool",
        "shared",
    ),
    "an unknown kind of profile": (
        in_port(
            "queues",
            [QUEUE | {"red": {"profiles": [{"match_exp": [1], "min": 1, "max": 2, "mark_denominator": 1}]}}],
        ),
        f"{PORT}.queues[0].red.profiles[0].match_exp",
        "match_exp",
    ),
    "an unknown scheduler": (port(scheduler={"kind": "magic"}), f"{PORT}.scheduler.kind", "magic"),
    "an unknown schema version": (GOOD | {"version": 2}, "version", "2"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_named(slip):
    document, path, named = SLIPS[slip]
    error = refusal(document)
    assert error.path == path
    assert named in error.problem
    assert error.problem
    assert error.hint
    assert str(error) == f"{error.path}: {error.problem}; {error.hint}"
