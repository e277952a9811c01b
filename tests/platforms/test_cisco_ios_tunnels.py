"""Tunnels whose packets outputs tell by what they carry: ``qos pre-classify`` on the tunnel's interface."""

from __future__ import annotations

import pytest

from qosforge.platforms.cisco_ios import PLATFORM

from .ios_support import MODERN, STARTUP, a_class, errors, line, lowered, of, pushed, requested, text_of

GOLD = a_class("gold", 3, treatment={"bandwidth": {"rate": "400 kb/s"}})
TUNNEL = "interface Tunnel0\n ip address 10.0.9.1 255.255.255.0\n"


@pytest.mark.parametrize("image", ["12.3", "12.4", MODERN])
def test_an_output_looks_into_a_tunnel_of_the_device(image: str) -> None:
    result, box = pushed(requested(GOLD, image=image, interfaces=(line(tunnels=("Tunnel0",)),)), STARTUP + TUNNEL)

    assert result.plan.system.inside_tunnels == ("Tunnel0",)
    assert "interface Tunnel0\n ip address 10.0.9.1 255.255.255.0\n qos pre-classify\n" in box.running_text()


def test_tunnels_that_the_device_looks_into_already_stay() -> None:
    startup = (
        STARTUP + TUNNEL + TUNNEL.replace("Tunnel0", "Tunnel1").replace(".9.1", ".8.1") + " qos pre-classify\n"
    )

    result, _ = pushed(requested(GOLD, image=MODERN, interfaces=(line(tunnels=("Tunnel0",)),)), startup)

    assert result.plan.system.inside_tunnels == ("Tunnel0", "Tunnel1")


@pytest.mark.parametrize(
    ("name", "image", "why"),
    [
        ("Tunnel0", "12.1(5)T", "keeps no copy"),
        ("Loopback0", MODERN, "no tunnel interface"),
        ("Tunnel7", MODERN, "has no interface Tunnel7"),
    ],
)
def test_what_no_output_looks_into_is_told(name: str, image: str, why: str) -> None:
    request = requested(GOLD, image=image, interfaces=(line(tunnels=(name,)),))
    result = PLATFORM.lower(request, PLATFORM.parse(STARTUP + TUNNEL, "r9", image))

    (found,) = of(result, "tunnel-unsupported")
    assert why in found.message
    assert (found.interface, found.direction) == ("Serial0/0", "output")
    assert "pre-classify" not in text_of(request, result)


def test_a_tunnel_that_is_missing_leaves_those_beside_it() -> None:
    request = requested(GOLD, image=MODERN, interfaces=(line(tunnels=("Tunnel0", "Tunnel7")),))
    result = PLATFORM.lower(request, PLATFORM.parse(STARTUP + TUNNEL, "r9", MODERN))

    (found,) = of(result, "tunnel-unsupported")
    assert "Tunnel7" in found.message
    assert result.plan.system.inside_tunnels == ("Tunnel0",)


def test_without_tunnels_nothing_is_said_of_any() -> None:
    result = lowered(requested(GOLD, image=MODERN))

    assert errors(result) == []
    assert result.plan.system.inside_tunnels is None


@pytest.mark.parametrize(
    ("text", "line_text"),
    [
        ("mls qos map cos-dscp 0 8 16 24 32 46 48 56\n", "mls qos map cos-dscp 0 8 16 24 32 46 48 56"),
        ("interface Serial0/0\n ip rsvp bandwidth 100\n", "ip rsvp bandwidth 100"),
        ("interface Serial0/0\n mls qos trust dscp\n", "mls qos trust dscp"),
    ],
)
def test_what_plans_of_routers_have_no_place_for_is_named(text: str, line_text: str) -> None:
    assert [entry.text for entry in PLATFORM.parse(text, "r9", MODERN).unknown] == [line_text]
