"""The class of a flow follows the intent's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qosforge.intent.loader import parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import TrafficFlow, TrafficSource
from qosforge.tester.scenario.traffic import flow_class, flow_classes

ROOT = Path(__file__).resolve().parents[2]
NETWORK = load_network(ROOT / "inventories" / "campus")
FLOW = TrafficFlow(
    name="call", from_="vigo1", to="vigo2", application="rtp-audio", protocol="udp", dst_port=16400, src_port=20000,
    dscp=46, cos=5, source=TrafficSource(kind="cbr", rate=64_000, ip_bytes=200),
)  # fmt: skip
SOURCE, TARGET = (NETWORK.station(name).address for name in ("vigo1", "vigo2"))


def taken(match: dict[str, Any], flow: TrafficFlow = FLOW) -> bool:
    document = {
        "version": 1,
        "intent": "made",
        "classes": [{"name": "gold", "match": match}],
        "apply": [{"role": "edge", "interfaces": "wan", "direction": "output"}],
    }
    return flow_class(parse_intent(json.dumps(document), "made.yaml").intent, flow, NETWORK) == "gold"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ({"application": "rtp-audio"}, {"application": "http"}),
        ({"dscp": "ef"}, {"dscp": "af41"}),
        ({"cos": 5}, {"cos": 4}),
        ({"precedence": [1, 5]}, {"precedence": 4}),
        ({"protocol": "udp"}, {"protocol": "tcp"}),
        ({"source": SOURCE}, {"source": TARGET}),
        ({"destination": TARGET}, {"destination": "2001:db8::/32"}),
        ({"protocol": 17, "source_port": "19999-20000"}, {"protocol": 17, "source_port": "20001-20002"}),
        ({"protocol": 17, "destination_port": 16400}, {"protocol": 17, "destination_port": [16399, 16401]}),
    ],
)
def test_every_field_decides(right: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert taken({"any": [right]})
    assert not taken({"any": [wrong]})
    assert taken({"any": [wrong, right]})
    assert taken({"all": [{"dscp": [46, 0]}, right]})
    assert not taken({"any": [right], "none": [right]})
    assert taken({"none": [wrong]})
    assert not taken({"none": [wrong, right]})


@pytest.mark.parametrize(
    "untold", [{"vlan": 5}, {"source_mac": "001b.54aa.bbcc"}, {"input_interface": "Serial0/0"}]
)
def test_what_traffic_does_not_tell_takes_no_flow(untold: dict[str, Any]) -> None:
    assert not taken({"any": [{"dscp": "ef", **untold}]})
    assert taken({"any": [{"dscp": "ef"}], "none": [untold]})


def test_flows_described_as_one_have_the_classes_of_their_own_ports() -> None:
    document = {
        "version": 1,
        "intent": "made",
        "classes": [{"name": "gold", "match": {"any": [{"protocol": 17, "source_port": "19000-20001"}]}}],
        "apply": [{"role": "edge", "interfaces": "wan", "direction": "output"}],
    }
    intent = parse_intent(json.dumps(document), "made.yaml").intent

    found = flow_classes(intent, FLOW.model_copy(update={"count": 4}), NETWORK)

    assert found == ["gold", "gold", "default", "default"]
