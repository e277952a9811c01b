"""Planted faults: devices that do not do what they are told, and devices that somebody changed afterwards.

The first kind is planted before a push, which must catch it, name the box and roll everything back. The second is
typed after a good push: the comparison with what is read back must tell, and what reaches the traffic must change
the verdict or a figure of the class concerned, or the twin is blind to that device.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from qoslab import control

from .campus import POLICY, Campus
from .site import Check, Seen, Site

SECONDS = {"layer-3": 60, "branches": 180, "layer-2": 5}
"""Long enough for a broken objective to be called broken."""
SLOWLY_FILLING = 96
"""Where a queue fills for seconds: the first look tells then what that of a shorter measurement does not, which is
made longer twice until its third one does."""
CONFERENCE: Check = ("vigo1", "vigo2", "voice-video")
BACK: Check = ("vigo2", "vigo1", "voice-video")
BRANCH_256: Check = ("phone256", "vigo1", "voice-video")
BRANCH_56: Check = ("phone56", "vigo1", "voice-video")
TO_S2950: Check = ("vigo1", "vigo3", "voice-video")
TO_S2970: Check = ("vigo3", "vigo1", "voice-video")
TO_ERS: Check = ("vigo4", "vigo2", "voice-video")
TO_E300: Check = ("vigo2", "vigo4", "voice-video")


# -- typed after a good push ------------------------------------------------------------------------------
@dataclass(frozen=True)
class Typed:
    """Lines on a device's console, the class that feels them, and what the tester then says.

    ``told``: "broken" (the verdict), "figure" (the verdict stands, a reported figure moves), or "read-back": the
    traffic of the scenario does not feel it, so that only the comparison tells.
    """

    what: str
    box: str
    lines: tuple[str, ...]
    scenario: str
    check: Check
    told: str
    seconds: int


def _typed(
    what: str, box: str, scenario: str, check: Check, told: str, *lines: str, seconds: int | None = None
) -> Typed:
    return Typed(what, box, lines, scenario, check, told, seconds or SECONDS[scenario])


OUT, IN = "policy-map QOSFORGE-OUT", "policy-map QOSFORGE-IN"
WEB_TO = {
    "s2950": ("traffic1", "vigo3", "web-and-file"),
    "s2970": ("traffic3", "vigo1", "web-and-file"),
    "ers5510": ("traffic4", "vigo2", "web-and-file"),
    "e300": ("traffic2", "vigo4", "web-and-file"),
}
BULK: Check = ("traffic1", "traffic2", "web-and-file")
REST: Check = ("traffic1", "traffic2", "default")
REST_E300: Check = ("traffic4", "vigo4", "default")

TYPED = [
    # routers
    _typed("policy on the wrong interface", "r1", "layer-3", CONFERENCE, "broken",
           "interface Serial0/0", "no service-policy output QOSFORGE-OUT",
           "interface FastEthernet0/0", "service-policy output QOSFORGE-OUT"),
    _typed("weights permuted", "r1", "layer-3", BULK, "figure",
           OUT, "class web-and-file", "bandwidth remaining percent 30",
           "class class-default", "bandwidth remaining percent 70"),
    _typed("WRED dropped", "r1", "layer-3", REST, "figure", OUT, "class class-default", "no random-detect"),
    _typed("priority turned into a share", "r1", "layer-3", CONFERENCE, "broken",
           OUT, "class class-default", "bandwidth remaining percent 29",
           "class voice-video", "no priority percent 50", "bandwidth remaining percent 1"),
    _typed("another mark set", "r1", "layer-3", CONFERENCE, "read-back",
           IN, "class voice-video", "set dscp af11"),
    _typed("priority policed too low", "r2", "layer-3", CONFERENCE, "broken",
           OUT, "class voice-video", "priority percent 5"),
    _typed("match of the mark dropped", "r2", "layer-3", CONFERENCE, "read-back",
           "class-map match-any voice-video", "no match dscp af41"),
    _typed("cRTP missing at the far end", "r2", "branches", BRANCH_56, "figure",
           "interface Multilink2", "no ip rtp header-compression"),
    _typed("policy missing", "r3", "layer-3", BACK, "figure",
           "interface Serial0/1", "no service-policy output QOSFORGE-OUT"),
    _typed("fragments of 100 ms", "b256", "branches", BRANCH_256, "broken",
           "interface Multilink1", "ppp multilink fragment delay 100"),
    _typed("cRTP missing at the near end", "b56", "branches", BRANCH_56, "figure",
           "interface Multilink1", "no ip rtp header-compression"),
    _typed("fragment size left to the device", "b56", "branches", BRANCH_56, "broken",
           "interface Multilink1", "no ppp multilink fragment-delay"),
    _typed("interleaving missing", "b56", "branches", BRANCH_56, "broken",
           "interface Multilink1", "no ppp multilink interleave"),
    # Catalyst 2950
    _typed("trust missing", "s2950", "layer-2", TO_S2950, "broken",
           "interface GigabitEthernet0/1", "no mls qos trust"),
    _typed("trust cos with the default map", "s2950", "layer-2", TO_S2950, "read-back",
           "no mls qos map cos-dscp", "interface GigabitEthernet0/1", "mls qos trust cos"),
    _typed("DSCP to CoS left at the default", "s2950", "layer-2", TO_S2950, "broken", "no mls qos map dscp-cos"),
    _typed("queue map swapped", "s2950", "layer-2", TO_S2950, "figure",
           "wrr-queue cos-map 1 5", "wrr-queue cos-map 4 0 1 3 4"),
    _typed("weights permuted", "s2950", "layer-2", WEB_TO["s2950"], "broken", "wrr-queue bandwidth 70 30 3 0"),
    _typed("no expedite queue", "s2950", "layer-2", TO_S2950, "figure", "wrr-queue bandwidth 30 70 3 1"),
    _typed("hosts' CoS trusted, which they do not send", "s2950", "layer-2", TO_S2970, "broken",
           "interface FastEthernet0/1", "mls qos trust cos"),
    # Catalyst 2970
    _typed("trust missing", "s2970", "layer-2", TO_S2970, "broken",
           "interface GigabitEthernet0/1", "no mls qos trust"),
    _typed("trust cos with the default map", "s2970", "layer-2", TO_S2970, "broken",
           "no mls qos map cos-dscp", "interface GigabitEthernet0/1", "mls qos trust cos"),
    _typed("queue map swapped", "s2970", "layer-2", TO_S2970, "figure",
           "mls qos srr-queue output dscp-map queue 3 threshold 1 34"),
    _typed("weights permuted", "s2970", "layer-2", WEB_TO["s2970"], "broken",
           "interface GigabitEthernet0/5", "srr-queue bandwidth share 1 70 30 3"),
    _typed("no expedite queue", "s2970", "layer-2", TO_S2970, "figure",
           "interface GigabitEthernet0/5", "no priority-queue out"),
    _typed("QoS switched off", "s2970", "layer-2", TO_S2970, "broken", "no mls qos"),
    # BayStack 5510
    _typed("egress map wrong", "ers5510", "layer-2", TO_ERS, "broken", "qos egressmap ds 34 1p 0 dp low-drop"),
    _typed("port without its role", "ers5510", "layer-2", TO_E300, "broken", "no qos if-assign port 1"),
    _typed("host port trusted", "ers5510", "layer-2", TO_E300, "broken",
           "qos if-assign port 1 name qosforge-trunk"),
    _typed("conference in the last queue", "ers5510", "layer-2", TO_ERS, "broken",
           "qos queue-set-assignment queue-set 4 1p 5 queue 3"),
    _typed("web in the last queue", "ers5510", "layer-2", WEB_TO["ers5510"], "broken",
           "qos queue-set-assignment queue-set 4 1p 2 queue 3"),
    _typed("policy missing", "ers5510", "layer-2", TO_E300, "broken", "no qos policy 50001"),
    # Force10 E300
    _typed("strict priority missing", "e300", "layer-2", TO_E300, "figure", "no strict-priority unicast"),
    _typed("shares swapped", "e300", "layer-2", WEB_TO["e300"], "broken",
           "qos-policy-output web-and-file", "bandwidth-percentage 12",
           "qos-policy-output default", "bandwidth-percentage 28", seconds=SLOWLY_FILLING),
    _typed("class sent to no queue", "e300", "layer-2", TO_ERS, "broken",
           "policy-map-input QOSFORGE-IN", "no service-queue 4"),
    _typed("queues swapped", "e300", "layer-2", WEB_TO["e300"], "broken", "policy-map-output QOSFORGE-OUT",
           "service-queue 0 qos-policy web-and-file", "service-queue 2 qos-policy default",
           seconds=SLOWLY_FILLING),
    _typed("trust missing", "e300", "layer-2", TO_E300, "broken",
           "policy-map-input QOSFORGE-TRUST", "no service-queue 4"),
    # The box writes the queue's number over the first three bits of every mark that it sets: CS4, for CS1 asked.
    _typed("another mark set", "e300", "layer-2", TO_ERS, "broken",
           "qos-policy-input voice-video", "set ip-dscp 8"),
    _typed("another WRED profile", "e300", "layer-2", REST_E300, "figure",
           "qos-policy-output default", "wred green wred_drop"),
]  # fmt: skip


@pytest.fixture(scope="module")
def site(campus: Campus) -> Iterator[Site]:
    made = Site(campus)
    try:
        yield made
    finally:
        made.close()


def told(before: Seen, after: Seen) -> str:
    """What a measurement tells against a good one."""
    assert before.outcome != "broken"
    if after.outcome == "broken":
        return "broken"
    pairs = [
        (before.summary.loss, after.summary.loss),
        (before.summary.mean_delay_ps, after.summary.mean_delay_ps),
        (before.summary.quantiles_ps.get("p95"), after.summary.quantiles_ps.get("p95")),
    ]
    moved = [abs((a or 0) - (b or 0)) > 0.1 * max(a or 0, b or 0) for a, b in pairs]
    return "figure" if any(moved) else "read-back"


@pytest.mark.parametrize("fault", TYPED, ids=lambda fault: f"{fault.box} {fault.what}".replace(" ", "-"))
def test_what_is_typed_afterwards_is_told(site: Site, fault: Typed) -> None:
    before = site.good(fault.scenario, SECONDS[fault.scenario], fault.check)
    with site.changed(fault.box, fault.lines) as plan:
        assert site.find_plan_differences(fault.box, plan)
        after = site.measure({**site.plans, fault.box: plan}, fault.scenario, fault.seconds, fault.check)
        assert told(before, after) == fault.told
    assert site.find_plan_differences(fault.box, site.read_plan(fault.box)) == ()


def test_every_kind_of_box_has_faults_that_the_traffic_feels(site: Site) -> None:
    feels = {site.campus.network.device(fault.box).platform for fault in TYPED if fault.told != "read-back"}
    assert feels == {device.platform for device in site.campus.network.devices}
    assert len([fault for fault in TYPED if fault.told != "read-back"]) >= 24


# -- planted before a push --------------------------------------------------------------------------------
@dataclass(frozen=True)
class Planted:
    """A fault of one device, and the words by which the run must name it."""

    kind: str
    names: str
    args: Mapping[str, str] = field(default_factory=dict)


def _dropped(pattern: str, names: str) -> Planted:
    return Planted("drop_line", names, {"pattern": pattern})


def _replaced(pattern: str, text: str, names: str) -> Planted:
    return Planted("replace_line", names, {"pattern": pattern, "text": text})


def _refused(pattern: str, text: str, names: str) -> Planted:
    return Planted("refuse", names, {"pattern": pattern, "text": text})


PLANTED: dict[str, dict[str, Planted]] = {
    "lines forgotten or refused": {
        "r1": _dropped("^priority percent", "does not hold"),
        "r2": _dropped("^random-detect", "does not hold"),
        "r3": _dropped("^service-policy output", "does not hold"),
        "b256": _dropped("^ip rtp header-compression", "does not hold"),
        "b56": _refused("ppp multilink interleave", "% Interleaving is not supported", "refused"),
        "s2950": _dropped("^mls qos trust", "does not hold"),
        "s2970": _dropped("^priority-queue out", "does not hold"),
        "ers5510": _refused("qos if-assign port 48", "% Cannot modify settings", "refused"),
        "e300": _dropped("^strict-priority", "does not hold"),
    },
    "other lines stored": {
        "r1": _replaced("^set dscp af41", "set dscp af11", "does not hold"),
        "r2": _replaced("^bandwidth remaining percent 70", "bandwidth remaining percent 7", "does not hold"),
        "r3": _replaced("^match protocol rtp audio", "match protocol rtp video", "does not hold"),
        "b256": _replaced("delay 16", "delay 160", "does not hold"),
        "b56": _replaced("delay 16", "delay 160", "does not hold"),
        "s2950": _replaced("^mls qos trust dscp", "mls qos trust cos", "does not hold"),
        "s2970": _replaced("share 1 30 70 3", "share 1 70 30 3", "does not hold"),
        "e300": _replaced("^bandwidth-percentage 28", "bandwidth-percentage 8", "does not hold"),
    },
    "priority accepted and ignored": {
        "r1": Planted("ignore_priority", "its priority queue took 0 of them"),
        "r3": Planted("ignore_priority", "its priority queue took 0 of them"),
    },
}


@pytest.fixture
def delivered(campus: Campus) -> Iterator[Campus]:
    """Devices as they were delivered, without faults afterwards."""
    campus.reset()
    yield campus
    for name in campus.names:
        control.plant(campus.state, name, "clear")


@pytest.mark.parametrize("faults", PLANTED.values(), ids=PLANTED)
def test_what_is_planted_before_is_caught_named_and_rolled_back(
    delivered: Campus, faults: Mapping[str, Planted]
) -> None:
    before = delivered.all_running()
    startups = {name: delivered.startup(name) for name in delivered.names}
    for name, fault in faults.items():
        control.plant(delivered.state, name, fault.kind, **fault.args)
    ended = delivered.command("push", POLICY, "--json")
    document: dict[str, Any] = json.loads(ended.stdout)
    assert (ended.code, document["status"]) == (3, "rolled_back")
    messages = dict.fromkeys(delivered.names, "")
    for error in document["errors"]:
        messages[error["device"]] += error["message"]
    assert {name for name, message in messages.items() if message} == set(faults)
    assert [name for name, fault in faults.items() if fault.names not in messages[name]] == []
    assert delivered.all_running() == before
    assert _saved(delivered, startups)
    assert delivered.timers() == []
    assert Path(document["report"]).is_file()


def _saved(campus: Campus, startups: Mapping[str, str]) -> bool:
    """Whether every device would boot into what it would have booted into before."""

    def commands(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.strip() and not line.startswith("!")]

    return all(commands(campus.startup(name)) == commands(startups[name]) for name in campus.names)
