"""Classes that get no packet, and those whose order decides: told with the line of the intent and a packet."""

from __future__ import annotations

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.findings import Finding
from qosforge.intent.loader import parse_intent
from qosforge.validation.class_order import check_class_order
from qosforge.validation.context import ValidationContext
from tests.compiler.goldens import LIBRARY, every_platform, library


def _found(*classes: str) -> list[Finding]:
    text = "version: 1\nintent: ordered\nclasses:\n" + "".join(f"  - {entry}\n" for entry in classes)
    text += "apply: [{interfaces: lan, direction: input}]\n"
    compilation = compile_intent(parse_intent(text, "ordered.yaml"), every_platform())
    return list(check_class_order(ValidationContext(compilation, {})))


def _class(name: str, match: str, more: str = "") -> str:
    return f"{{name: {name}, match: {match}, mark: {{dscp: ef}}{more}}}"


@pytest.mark.parametrize("policy", LIBRARY)
def test_nothing_is_said_of_the_order_of_classes_in_the_library(policy: str) -> None:
    assert list(check_class_order(ValidationContext(library(policy), {}))) == []


def test_a_class_inside_earlier_ones_together_is_shadowed() -> None:
    (found,) = _found(
        _class("low", "{any: [{protocol: udp, destination_port: 0-1023}]}"),
        _class("high", "{any: [{protocol: udp, destination_port: 1024-65535}]}"),
        _class("voice", "{any: [{protocol: udp, destination_port: 1000-2000, source: 10.0.0.0/8}]}"),
    )

    assert (found.code, found.traffic_class, found.file, found.line) == (
        "class-shadowed",
        "voice",
        "ordered.yaml",
        6,
    )
    assert "such as an IPv4 packet of UDP from 10.0.0.0 to port 1000 by low" in found.message


def test_one_alternative_may_be_shadowed_alone() -> None:
    (found,) = _found(
        _class("ten", "{any: [{source: 10.0.0.0/8}]}"),
        _class("both", "{any: [{source: 10.1.0.0/16}, {source: 192.0.2.0/24}]}"),
    )

    assert (found.code, found.variant, found.traffic_class) == ("class-shadowed", "alternative", "both")


def test_a_precedence_is_its_eight_code_points() -> None:
    (found,) = _found(_class("five", "{any: [{precedence: 5}]}"), _class("ef", "{any: [{dscp: ef}]}"))

    assert (found.code, found.traffic_class) == ("class-shadowed", "ef")


def test_what_an_application_is_is_not_known_by_its_ports() -> None:
    assert not _found(
        _class("ports", "{any: [{protocol: tcp, destination_port: 80}, {protocol: tcp, source_port: 80}]}"),
        _class("web", "{any: [{application: http}]}"),
    )


def test_classes_that_share_some_packets_are_told_once() -> None:
    (found,) = _found(
        _class("site", "{any: [{protocol: tcp, source: 10.0.0.0/8}]}"),
        _class("mail", "{any: [{protocol: tcp, destination_port: 25}]}"),
    )

    assert (found.code, found.severity, found.traffic_class) == ("classes-overlap", "info", "mail")
    assert "which stands before it and takes them: an IPv4 packet of TCP from 10.0.0.0 to port 25" in found.message


@pytest.mark.parametrize(
    "match",
    [
        "{any: [{dscp: ef}]}",
        "{any: [{protocol: udp, destination_port: 5060}]}",
        "{any: [{protocol: tcp, destination_port: 25}], none: [{source: 10.0.0.0/8}]}",
        "{any: [{application: sip}]}",
    ],
)
def test_classes_of_other_fields_or_apart_do_not_overlap(match: str) -> None:
    assert not _found(_class("site", "{any: [{protocol: tcp, source: 10.0.0.0/8}]}"), _class("other", match))


def test_the_special_before_the_general_is_no_overlap() -> None:
    assert not _found(
        _class("mail", "{any: [{protocol: tcp, destination_port: 25}]}"), _class("tcp", "{any: [{protocol: tcp}]}")
    )
