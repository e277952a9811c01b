"""Applications: the catalogue, and those of an intent's own."""

from __future__ import annotations

import pytest

from qosforge.errors import InputErrors
from qosforge.intent.applications import load_catalogue
from qosforge.intent.loader import parse_intent

APPLY = "apply: [{role: edge, direction: output}]\n"


def intent(applications: str, used: str) -> str:
    return (
        f"version: 1\nintent: own\napplications: [{applications}]\n"
        f"classes: [{{name: control, match: {{any: [{{application: [{used}]}}]}}}}]\n{APPLY}"
    )


def test_an_intent_may_name_applications_of_its_own() -> None:
    own = "{name: scada, protocol: udp, ports: [502, 2404-2405]}, {name: http, protocol: tcp, ports: 8080}"
    catalogue = parse_intent(intent(own, "scada, http, sip"), "own.yaml").catalogue

    assert (catalogue["scada"].protocol, catalogue["scada"].ports) == ("udp", ((502, 502), (2404, 2405)))
    assert catalogue["http"].ports == ((8080, 8080),)
    assert catalogue["sip"] == load_catalogue()["sip"]


@pytest.mark.parametrize(
    ("own", "used", "says"),
    [
        ("{name: scada, protocol: tcp, ports: 502}", "scadda", "did you mean 'scada'"),
        ("{name: scada, protocol: icmp, ports: 502}", "scada", "'icmp' is not possible"),
        ("{name: scada, protocol: tcp, ports: []}", "scada", "1 at least"),
        ("{name: scada, protocol: tcp, ports: 65536}", "scada", "no range of ports"),
        ('{name: "a b", protocol: tcp, ports: 1}', "http", "'a b' is not a name"),
    ],
)
def test_a_wrong_application_is_told(own: str, used: str, says: str) -> None:
    with pytest.raises(InputErrors, match=says):
        parse_intent(intent(own, used), "own.yaml")


@pytest.mark.parametrize("name", sorted(load_catalogue()))
def test_every_application_of_the_catalogue_can_be_told_by_ports(name: str) -> None:
    entry = load_catalogue()[name]

    assert entry.ports
    assert all(0 < first <= last <= 65535 for first, last in entry.ports)
    assert entry.source
