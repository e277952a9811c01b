"""The library's policies on the devices of the inventories: compiled, imported, compiled again: the same."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Severity
from qosforge.intent.loader import load_intent
from qosforge.platforms.base import platform

from .support import FOLDERS, LIBRARY, NETWORKS, ROOT, compiled_again, imported, running, told, unlike

LIKE_OTHERS = {"r3", "b256", "b56", "router3"}
DEVICES = [
    (name, device.name)
    for name, network in NETWORKS.items()
    for device in network.devices
    if device.name not in LIKE_OTHERS
]
MAPS = r"(cos_to_dscp|dscp_to_cos|cos_to_queue)"
"""On a 5510 the CoS of a class that states none follows from all classes of the intent, marked or not."""
QUEUES = r"(output\.scheduler\.queues\[\d\]\.\S+|cos_to_queue|dscp_to_queue|input_queues\.\S+)"
"""Where a switch has fewer queues than an intent classes, how those of one queue share it is not to be seen."""
LOST = {
    ("aircraft-gold", "ers5510"): MAPS,
    ("infn-fnal-pq", "ers5510"): MAPS,
    ("infn-fnal-wfq", "ers5510"): MAPS,
    ("rfc4594-4", "ers5510"): MAPS,
    ("rfc4594-8", "ers5510"): MAPS,
    ("rfc4594-12", "s2970"): QUEUES,
    ("rfc4594-4", "s2970"): QUEUES,
    ("rfc4594-8", "s2970"): QUEUES,
}
"""What import does not give back, and says so."""
NO_COMPILE = re.compile(
    r"import-does-not-compile: intent \S+ does not compile(?: beside what the device runs)?: (\S+): "
)
HALF = {
    ("rfc4594-12", "e300"),
    *((policy, device) for policy in ("cern-strict", "cern-wrr") for device in ("router1", "e300")),
}
"""Devices with errors: an image has no line for what classes match, so that what is compiled matches nothing, or an
E300 has too few queues, so that what is read has fewer classes, each in the queue of its marks.
"""


@cache
def made(policy: str, folder: str) -> dict[str, CompiledDevice]:
    loaded = load_intent(ROOT / "policies" / f"{policy}.yaml")
    return {device.name: device for device in compile_intent(loaded, NETWORKS[folder]).devices}


@pytest.mark.parametrize(
    "policy", [policy for policy in LIBRARY if policy not in ("impossible", "rfc4594-4-basic")]
)
@pytest.mark.parametrize(("folder", "name"), DEVICES, ids=[name for _, name in DEVICES])
def test_what_is_imported_compiles_to_what_was_read(policy: str, folder: str, name: str, tmp_path: Path) -> None:
    device = made(policy, folder).get(name)
    if device is None:
        return  # the policy does not concern this device
    startup = NETWORKS[folder].device(name).startup
    assert startup is not None
    text = running(device, (FOLDERS[folder] / startup).read_text(encoding="utf-8"))
    found = imported(text, platform_id=device.request.platform, image=device.request.image, device=name)
    errors = {finding.code for finding in device.findings if finding.severity is Severity.ERROR}
    if len(found.intents) > 1:
        errors.add("policy-shared")  # policies of ours have names that another of the intents takes
    if (policy, name) in HALF:
        assert errors
        assert any(message.startswith("import-not-expressed: ") for message in told(found))
        return
    # Where the intent itself does not compile, nor does what is read of it.
    unsaid = [m for m in told(found) if (refused := NO_COMPILE.match(m)) is None or refused[1] not in errors]
    assert bool(unsaid) == ((policy, name) in LOST)
    for message in unsaid:
        lost = LOST[policy, name]
        assert re.fullmatch(f"import-not-expressed: {lost} is not what the intent compiles to", message)
    assert all(intent.text.startswith("# Read from") for intent in found.intents)
    if len(found.intents) > 1 or any("compiles to" in f.message for f in found.findings):
        return  # each intent is for sides of its own: `meaning` has compared those
    (again,) = compiled_again(found, tmp_path)
    held = platform(device.request.platform).parse(text, name, device.request.image)
    for interface in again.plan.interfaces:
        meant = held.interface(interface.name)
        assert meant is not None
        sides = {side.direction for side in found.intents[0].loaded.intent.apply if interface.name in side.ports}
        one = interface if "output" in sides else interface.model_copy(update={"egress": meant.egress})
        one = one if "input" in sides else one.model_copy(update={"ingress": meant.ingress})
        plan = again.plan.model_copy(update={"interfaces": (one,)})
        assert unlike(plan, held) == ()


@pytest.mark.parametrize(("folder", "name"), DEVICES, ids=[name for _, name in DEVICES])
def test_importing_twice_says_the_same(folder: str, name: str) -> None:
    device = made("campus-collaboration", folder)[name]
    texts = [imported(device.text, platform_id=device.request.platform, device=name).intents for _ in range(2)]
    assert [i.text for i in texts[0]] == [i.text for i in texts[1]]


def test_every_finding_has_a_place_and_a_hint() -> None:
    device = made("rfc4594-12", "campus")["ers5510"]
    for finding in imported(device.text, platform_id="nortel_5510", device="ers5510").findings:
        assert finding.device == "ers5510"
        assert finding.hint or finding.severity is Severity.INFO
