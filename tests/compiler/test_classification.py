"""The emulated router takes into a class what the intent's own words put there."""

from __future__ import annotations

import json
from ipaddress import ip_address, ip_network
from typing import Any

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from qosforge.compiler.compile import compile_intent
from qosforge.findings import has_errors
from qosforge.intent.loader import parse_intent
from qosforge.intent.models import MatchTerm
from qosforge.inventory.models import Network, Station, TrafficFlow, TrafficSource
from qosforge.tester.scenario.traffic import flow_class
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.classes import in_class
from qoslab.packets import Packets

from .support import a_class, device, emulated, made_text, matches, routers, running
from .test_candidate import push

SETTINGS = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate)
)
ENDS = ("source", "destination")
NUMBERS = {"tcp": 6, "udp": 17}


@st.composite
def flows_near(draw: st.DrawFn, terms: tuple[MatchTerm, ...]) -> tuple[TrafficFlow, Network]:
    """A flow that has some fields of one of the terms, between stations of addresses of their own."""
    term = draw(st.sampled_from(terms))

    def near(values: tuple[Any, ...], others: st.SearchStrategy[Any]) -> Any:
        return draw(st.sampled_from(values)) if values and draw(st.integers(0, 3)) else draw(others)

    def address(prefixes: tuple[str, ...]) -> str:
        network = ip_network(near(prefixes, st.just("10.0.0.0/8")))
        return str(network[draw(st.integers(0, min(network.num_addresses, 4) - 1))])

    def port(ranges: tuple[tuple[int, int], ...]) -> int:
        first, last = near(ranges, st.just((1, 65535)))
        return max(1, draw(st.sampled_from([first, last, max(first - 1, 1), min(last + 1, 65535)])))

    precedence = near(term.precedence, st.just(0))
    protocols = tuple(name for name, number in NUMBERS.items() if number in term.protocol)
    flow = TrafficFlow(
        name="f",
        from_="here",
        to="there",
        application=near(term.application, st.sampled_from(["ftp", "sip"])),
        protocol=near(protocols, st.sampled_from(["tcp", "udp"])),
        src_port=port(term.source_port),
        dst_port=port(term.destination_port),
        dscp=near(term.dscp, st.just(precedence * 8)),
        cos=near(term.cos, st.just(0)),
        source=TrafficSource(kind="cbr", rate=64_000, ip_bytes=200),
    )
    ends = {"here": address(term.source), "there": address(term.destination)}
    assume(all(not ip_address(end).is_unspecified for end in ends.values()))
    stations = tuple(
        Station(name=name, address=end, attach=("r1", "FastEthernet0/0"), rate=10**8) for name, end in ends.items()
    )
    # RTP is carried by UDP alone: other packets of that name there are none.
    assume(not (flow.application or "").startswith("rtp") or flow.protocol == "udp")
    return flow, Network(name="made", devices=(), links=(), stations=stations)


@st.composite
def pairs(draw: st.DrawFn) -> dict[str, Any]:
    """A match of so many sources and destinations that they are two lists on a router."""
    several = {"min_size": 3, "max_size": 4, "unique": True}
    flow = {
        "protocol": draw(st.sampled_from([["tcp"], ["udp", "tcp"]])),
        **{side: [f"10.{n}.0.0/16" for n in draw(st.lists(st.integers(1, 6), **several))] for side in ENDS},
        **{f"{side}_port": draw(st.lists(st.integers(1, 9), max_size=3)) for side in ENDS if draw(st.booleans())},
    }
    return {"any": [{name: values for name, values in flow.items() if values}]}


@SETTINGS
@given(st.data(), matches() | pairs())
def test_the_box_takes_into_a_class_what_the_intent_means(data: st.DataObject, match: dict[str, Any]) -> None:
    loaded = parse_intent(made_text([a_class(match=match)]), "made.yaml")
    wanted = device(compile_intent(loaded, routers(), running()), "r1")
    assert not has_errors(wanted.findings), json.dumps(match)
    box = emulated("r1")
    assert isinstance(box, IosBox)
    push(box, wanted)
    meant = loaded.intent.traffic_class("gold").match
    assert meant is not None

    for _ in range(8):
        flow, network = data.draw(flows_near((*meant.alternatives(), *meant.none)))
        packets = Packets(
            count=1,
            bytes=200,
            dscp=flow.dscp,
            cos=flow.cos,
            protocol=NUMBERS[flow.protocol],
            src=network.station("here").address,
            dst=network.station("there").address,
            src_port=flow.src_port,
            dst_port=flow.dst_port,
            application=flow.application or "",
        )

        assert in_class(box, "gold", packets, into="") == (flow_class(loaded.intent, flow, network) == "gold")
