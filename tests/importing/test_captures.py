"""Captured sessions and flat text of E-Series and 5510 switches: read like what the device prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qosforge.importing import read_configuration

FTOS = """\
ip access-list standard users
 permit 10.0.0.0/8
class-map match-any voice
 match ip access-group users
 match ip dscp 46
qos-policy-input voice
 set ip-dscp 46
wred-profile late
 threshold min 100 max 200
qos-policy-output voice
 bandwidth-percentage 10
 wred green late
policy-map-input in
 service-queue 5 class-map voice qos-policy voice
policy-map-output out
 service-queue 5 qos-policy voice
strict-priority unicast 5
interface GigabitEthernet 1/0
 service-policy input in
 service-policy output out
interface GigabitEthernet 1/1
 rate shape 500
"""
ERS = """\
qos agent queue-set 4
qos if-group name users class unrestricted
qos if-assign port 1-4 name users
qos ip-element 1 addr-type ipv4 ds-field 46
qos classifier 1 set-id 1 name voice element-type ip element-id 1
qos policy 1 name voice if-group users clfr-type classifier clfr-id 1 in-profile-action 7 precedence 11
interface FastEthernet ALL
 qos if-shaper port 8 shape-rate 40000 max-burst-rate 50000 max-burst-duration 3
exit
"""
PROMPTS = {
    "force10_e300": ("core(conf)#", "core(conf-if-gi-1/0)#"),
    "nortel_5510": ("5510-48T(config)#", "5510-48T(config-if)#"),
}
TEXTS = {"force10_e300": FTOS, "nortel_5510": ERS}


def _flat(text: str, platform: str) -> str:
    """Everything at the margin, an ``exit`` after each object."""
    del platform
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if inside and not line.startswith(" ") and line != "exit":
            lines.append("exit")
        inside = line.startswith(" ")
        lines.append(line.strip())
    return "\n".join(["enable", "configure", *lines, "end"]) + "\n"


def _captured(text: str, platform: str) -> str:
    """What a person typed behind prompts, and a command that prints something."""
    top, below = PROMPTS[platform]
    lines = [(below if line.startswith(" ") else top) + line.strip() for line in text.splitlines()]
    device = top.partition("(")[0]
    return "\n".join([f"{device}#configure", *lines, f"{device}#show clock", "12:00:00 UTC Mon Jan 1 2007"]) + "\n"


@pytest.mark.parametrize("platform", TEXTS)
@pytest.mark.parametrize("told", [_flat, _captured])
def test_a_capture_is_read_like_what_the_device_prints(platform: str, told: Callable[[str, str], str]) -> None:
    printed = read_configuration(TEXTS[platform], "box.cfg", device="box")
    captured = read_configuration(told(TEXTS[platform], platform), "box.cfg", device="box")
    assert (printed.platform, captured.platform) == (platform, platform)
    assert captured.plan == printed.plan
    assert printed.plan.unknown == ()
