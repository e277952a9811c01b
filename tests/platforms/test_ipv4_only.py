"""Switches whose inputs look at IPv4 alone say which classes packets of IPv6 do not reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qosforge.findings import Finding, Severity
from qosforge.intent.loader import LoadedIntent

from . import catalyst_support, switch_support

SHARE = {"bandwidth": {"remaining_percent": 70}}
REST = catalyst_support.REST
CATALYSTS, OTHERS = ("s2950", "s2970"), ("ers5510", "e300")


def told(device: str, match: dict[str, Any], *scopes: str) -> list[Finding]:
    """What a switch says of IPv6 for a class with one alternative."""
    voice = {"name": "calls", "match": {"any": [match]}, "mark": {"dscp": "af31", "cos": 3}, "treatment": SHARE}
    support = catalyst_support if device in CATALYSTS else switch_support
    loaded: LoadedIntent = support.intent(voice, REST)
    if scopes:
        kept = tuple(scope for scope in loaded.intent.apply if scope.direction in scopes)
        intent = loaded.intent.model_copy(update={"apply": kept})
        loaded = replace(loaded, intent=intent)
    _, result = support.lowered(device, loaded)
    return [f for f in result.findings if f.code == "told-in-ipv4"]


@pytest.mark.parametrize("match", [{"dscp": ["ef"]}, {"protocol": ["tcp"], "destination_port": [443]}])
@pytest.mark.parametrize("device", [*CATALYSTS, *OTHERS])
def test_classes_of_ip_headers_are_told_in_ipv4(device: str, match: dict[str, Any]) -> None:
    (found,) = told(device, match)
    assert (found.severity, found.traffic_class, found.direction) == (Severity.WARNING, "calls", "input")


@pytest.mark.parametrize("device", [*CATALYSTS, *OTHERS])
def test_prefixes_of_ipv4_ask_for_no_ipv6(device: str) -> None:
    assert told(device, {"protocol": ["tcp"], "destination": ["10.2.0.9/32"]}) == []


@pytest.mark.parametrize("device", ["s2970", *OTHERS])
def test_ethernet_headers_are_of_no_version(device: str) -> None:
    assert told(device, {"source_mac": ["00:04:23:aa:00:01"]}) == []


@pytest.mark.parametrize("device", [*CATALYSTS, *OTHERS])
def test_outputs_alone_recognise_nothing(device: str) -> None:
    assert told(device, {"dscp": ["ef"]}, "output") == []
