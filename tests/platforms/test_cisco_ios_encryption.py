"""Outputs of routers with a crypto map: what is classified before it is encrypted."""

from __future__ import annotations

import pytest

from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.cisco_ios import PLATFORM

from .ios_support import STARTUP, a_class, booted, of, requested

WEB = a_class("web", terms=(Alternative(application="http"),), treatment={"bandwidth": {"percent": 10}})
CALLS = a_class(
    "calls",
    terms=(Alternative(dscp=(24,)), Alternative(protocol=(6,), destination_port=((5060, 5060),))),
    treatment={"bandwidth": {"percent": 10}},
)
ZERO = a_class("zero", terms=(Alternative(protocol=(0,)),), treatment={"bandwidth": {"percent": 10}})
MARKED = a_class("marked", terms=(Alternative(dscp=(46,)),), treatment={"bandwidth": {"percent": 10}})
MAP = "crypto map VPN 10 ipsec-isakmp\n set peer 192.0.2.1\n match address 110\n{0}"
FIRST = " qos pre-classify\n"


@pytest.mark.parametrize(
    ("maps", "at", "told"),
    [
        ((MAP.format(""),), "Serial0/0", ["web, calls"]),
        ((MAP.format(FIRST),), "Serial0/0", []),
        ((MAP.format(FIRST), MAP.format("").replace("VPN 10", "VPN 20")), "Serial0/0", ["web, calls"]),
        ((MAP.format(FIRST), MAP.format("").replace("VPN", "OTHER")), "Serial0/0", []),
        ((MAP.format(""),), "Serial0/1", []),
        ((), "Serial0/0", []),
    ],
    ids=["none", "classified first", "one of two entries", "another map", "another interface", "no map"],
)
def test_classes_that_are_encrypted_before_they_are_told(maps: tuple[str, ...], at: str, told: list[str]) -> None:
    startup = "".join(maps) + STARTUP.replace(f"interface {at}\n", f"interface {at}\n crypto map VPN\n")
    text = booted("12.4", startup).running_text()
    running = PLATFORM.parse(text, "r9", "12.4")

    found = of(PLATFORM.lower(requested(WEB, CALLS, MARKED), running), "pre-classify-missing")

    assert running.unknown == ()
    assert [(f.interface, f.facts["classes"]) for f in found] == [("Serial0/0", classes) for classes in told]


def test_protocol_zero_is_looked_for_inside_as_well() -> None:
    running = PLATFORM.parse(
        MAP.format("") + STARTUP.replace("interface Serial0/0\n", "interface Serial0/0\n crypto map VPN\n"),
        "r9",
        "12.4",
    )

    (found,) = of(PLATFORM.lower(requested(ZERO, MARKED), running), "pre-classify-missing")

    assert found.facts["classes"] == "zero"
