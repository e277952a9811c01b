"""A packet on a line is what the twin makes of it: frame bytes, line time, what policers count."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import Any

import pytest
import qosforge_twin

from qosforge.calculus.encapsulation import Encapsulation
from qosforge.calculus.stages import EgressLine, Meter, Passage
from qosforge.tester.scenario.path_stages import PathStages
from qosforge.twin.scenario import PS, EgressSpec, LinkSpec
from tests.twin.scenarios import part

Json = dict[str, Any]
PACKETS = 5
WIDE = {"kind": "token_bucket", "rate_bps": 10**9, "burst_bytes": 10**7}

LINKS: dict[str, tuple[Json, list[Json]]] = {
    "none": ({"framing": "none"}, [{}]),
    "ethernet": ({"framing": "ethernet"}, [{}]),
    "tagged": ({"framing": "ethernet", "tagged": True}, [{}]),
    "hdlc": ({"framing": "hdlc"}, [{}, {"header_compression": True}]),
    "ppp": ({"framing": "ppp"}, [{}, {"header_compression": True, "compressed_header_bytes": 2}]),
    "mlppp": (
        {"framing": "mlppp"},
        [
            {},
            {"fragment_bytes": 100},
            {"fragment_bytes": 100, "interleave": True, "header_compression": True},
            {"fragment_bytes": 100, "interleave": True, "multiclass": True},
        ],
    ),
    "short": ({"framing": "mlppp", "short_sequence": True}, [{"fragment_bytes": 77}]),
    "frame relay": ({"framing": "frame_relay"}, [{}, {"fragment_bytes": 80, "interleave": True}]),
    "atm": ({"framing": "atm"}, [{}]),
    "atm_mux": ({"framing": "atm_mux"}, [{}]),
}
SCHEDULERS: list[Json] = [
    {"kind": "strict", "order": [0, 1]},
    {"kind": "strict", "order": [{"1": 1, "0": 2}]},
    {"kind": "drr", "quantum_bytes": [1000, 1000]},
    {"kind": "strict_wrr", "strict": [1], "weights": {"0": 1}, "mode": "bytes"},
    {"kind": "srr", "weights": [1, 1], "strict": 1},
    {"kind": "cbwfq", "priority": [{"queue": 1, "rate_bps": 10**6, "burst_bytes": 10**5}], "weights": {"0": 1}},
    {"kind": "tree", "children": [{"queue": 0, "priority": 1}, {"children": [{"queue": 1}]}]},
]
CASES = [
    (name, number, mtu)
    for name, (_, ports) in LINKS.items()
    for number in range(len(ports))
    for mtu in (None, 68, 333)
]


@pytest.mark.parametrize(("name", "number", "mtu"), CASES)
def test_packets_of_every_size_are_on_the_line_what_the_twin_makes_of_them(
    name: str, number: int, mtu: int | None
) -> None:
    random = Random(f"{name} {number} {mtu}")
    link, ports = LINKS[name]
    for size in (21, 40, 41, 60, 80, 81, 128, 129, 1500, *random.sample(range(20, 1500), 6)):
        rate, queue, rtp = random.choice([56_000, 2_000_000, 1_544_000]), random.randrange(2), random.random() < 0.5
        egress = ports[number] | {
            "ip_mtu": mtu,
            "queues": [{"name": str(n), "limit_packets": 1000} for n in range(2)],
            "otherwise": {"queue": queue, "police": WIDE},
            "scheduler": random.choice(SCHEDULERS),
        }
        between = {"a": ["a", "out"], "b": ["b", "in"], "rate_bps": rate, **link}
        received = {"otherwise": {"police": WIDE}}
        document = {
            "version": 1,
            "duration_ps": PACKETS * 20 * PS,
            "nodes": [
                {"name": "a", "ports": [{"name": "out", "egress": egress}]},
                {"name": "b", "ports": [{"name": "in", "ingress": received}, {"name": "on"}]},
                {"name": "c", "ports": [{"name": "in"}]},
            ],
            "links": [between, {"a": ["b", "on"], "b": ["c", "in"], "rate_bps": 10**9, "framing": "hdlc"}],
            "flows": [
                {
                    "name": "f",
                    "path": [["a", "out"], ["b", "on"]],
                    "packet": {"application": "rtp-audio" if rtp else None},
                    "source": {"kind": "cbr", "rate_bps": max(8 * size // 20, 1), "ip_bytes": size},
                }
            ],
        }
        answer = json.loads(qosforge_twin.run(json.dumps(document), 1))
        sent = answer["flows"][0]["sent"]
        out, into = (
            next(p for p in answer["ports"] if (p["node"], p["port"]) == at) for at in (("a", "out"), ("b", "in"))
        )

        described = part(egress, EgressSpec)
        carries = Encapsulation.of(part(between, LinkSpec), described, rtp=rtp)
        way = PathStages([size], {})
        way.cut(carries)
        way.police(("a", "out", "egress", 0), 1, 1, carries.policed_bytes)
        line = EgressLine("a", "out", rate, rate, 1, (1000, 1000), 0, 0, discipline=described.scheduler)
        way.pass_line(line, queue, carries)
        way.police(("b", "in", "ingress", 0), 1, 1, carries.received_bytes)
        before, passage, behind = way.stages()

        assert isinstance(passage, Passage)
        assert isinstance(before, Meter)
        assert isinstance(behind, Meter)
        counters = out["queues"][queue]
        assert len(passage.usual.parts) * sent == counters["packets_out"]
        assert passage.usual.frame_bytes * sent == counters["bytes_out"]
        assert Fraction(passage.usual.wire_bits) * PS / rate * sent == out["busy_ps"]
        assert before.frame_bytes * sent == out["rules"]["egress"][0]["bytes"]
        assert behind.frame_bytes * sent == into["rules"]["ingress"][0]["bytes"]
