"""The INFN-FNAL policies against the router configurations of the paper's appendices B and C."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.findings import Severity
from qosforge.intent.loader import load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.platforms.cisco_ios import PLATFORM
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "inventories" / "infn-fnal"
NETWORK = load_network(FOLDER)
ROUTER = NETWORK.device("router1")
LAN, WAN = "FastEthernet0/0", "ATM1/0.108"

MARKS = {7: "network", 6: "internet", 5: "critical", 4: "flash-override", 3: "flash", 2: "immediate", 1: "priority"}
"""Precedences as access lists call them; those of the classes ``pre7`` to ``pre1``."""


def appendix(policy: str, first: str, listed: tuple[int, ...] = (180, 181, 182, 183, 184, 185, 186)) -> str:
    """Appendix B or C as it is typed: ``first`` is the treatment of Robin, ``listed`` the lists of its class-maps.

    The class of precedence 5 names list 105 in the paper, which nobody defines; its entries are those of list 182.
    """
    lines = []
    for precedence, number in zip(MARKS, listed, strict=True):
        lines += [f"class-map pre{precedence}", f" match access-group {number}"]
    lines += [f"policy-map {policy}", " class pre7", f"  {first}"]
    for precedence in (6, 5, 4, 3, 2, 1):
        lines += [f" class pre{precedence}", "  bandwidth 100", "  queue-limit 10"]
    lines += [" class class-default", "  bandwidth 100", f"interface {LAN}"]
    rate = "1000000 8000 8000 conform-action set-prec-transmit"
    lines.append(f" rate-limit input access-group 150 {rate} 7 exceed-action drop")
    for p in (1, 2, 3, 4, 5, 6):
        lines.append(f" rate-limit input access-group {160 + p} {rate} {p} exceed-action set-prec-transmit {p}")
    lines += [
        f"interface {WAN} point-to-point",
        " pvc 4/108",
        "  tx-ring-limit 5",
        f"  service-policy output {policy}",
        "  vbr-nrt 2000 2000 1",
        "  encapsulation aal5snap",
        "access-list 150 permit ip any host 192.190.218.1",
    ]
    for p in (1, 2, 3, 4, 5):
        lines.append(f"access-list {160 + p} permit udp any host 192.190.218.2 eq {50000 + p}")
    lines.append("access-list 166 permit tcp any host 192.190.218.2")
    for number, word in zip(range(180, 187), MARKS.values(), strict=True):
        lines.append(f"access-list {number} permit ip any any precedence {word}")
    return "\n".join(lines) + "\n"


APPENDICES = {
    "infn-fnal-wfq": appendix("cdf-wfq", "bandwidth 800"),
    "infn-fnal-pq": appendix("cdf-pq", "priority 800"),
}


def startup(name: str = "router1") -> str:
    """What a router boots with."""
    return (FOLDER / f"startup/{name}.cfg").read_text(encoding="utf-8")


@cache
def compiled(name: str) -> Compilation:
    """A policy on both routers, against what they boot with."""
    running = {device.name: startup(device.name) for device in NETWORK.devices}
    return compile_intent(load_intent(ROOT / "policies" / f"{name}.yaml"), NETWORK, running)


def booted(name: str = "router1") -> Box:
    """An emulated router of the test bed."""
    device = NETWORK.device(name)
    spec = BoxSpec(name=name, platform=device.platform, image=device.image, username="u", password="p")
    with tempfile.TemporaryDirectory() as folder:
        box = make_box(spec, Storage(Path(folder), startup(name)), Clock())
        box.boot()
    assert box.boot_messages == []
    return box


def held_by(box: Box) -> Plan:
    """What an emulated router holds now."""
    return PLATFORM.parse(box.running_text(), "router1", ROUTER.image)


def meaning(plan: Plan, name: str) -> InterfacePlan:
    """An interface without the numbers of its access lists.

    The policers stand in one order: no packet is taken by two of their lists.
    """
    found = plan.interface(name)
    assert found is not None
    policers = [p.model_copy(update={"access_list": None}) for p in found.ingress.policers]
    assert len({(p.any_of[0].destination, p.any_of[0].protocol, p.any_of[0].destination_ports) for p in policers}) \
        == len(policers)  # fmt: skip
    ingress = found.ingress.model_copy(update={"policers": tuple(sorted(policers, key=repr))})
    return found.model_copy(update={"ingress": ingress})


@pytest.mark.parametrize("name", APPENDICES)
def test_what_is_compiled_is_the_appendix(name: str) -> None:
    box = booted()
    assert box.configure(APPENDICES[name].splitlines()) == []
    published = held_by(box)
    assert published.unknown == ()
    compilation = compiled(name)
    # The paper leaves the marks of what no list takes, which is told; nothing else is.
    assert {f.code for f in compilation.findings if f.severity is not Severity.INFO} == {"default-mark-kept"}
    for interface in (LAN, WAN):
        assert meaning(compilation.devices[0].plan, interface) == meaning(published, interface)


@pytest.mark.parametrize("name", APPENDICES)
def test_the_text_of_the_appendix_is_read_as_what_is_compiled(name: str) -> None:
    published = PLATFORM.parse(APPENDICES[name], "router1", ROUTER.image)
    assert published.unknown == ()
    for interface in (LAN, WAN):
        assert meaning(compiled(name).devices[0].plan, interface) == meaning(published, interface)


@pytest.mark.parametrize("name", APPENDICES)
@pytest.mark.parametrize("router", ["router1", "router3"])
def test_the_routers_take_every_line_and_give_it_back(name: str, router: str) -> None:
    box = booted(router)
    before = box.running_text()
    made = next(d for d in compiled(name).devices if d.name == router)
    candidate = make_candidate(made, before)
    assert box.configure(candidate.delta) == []
    held = PLATFORM.parse(box.running_text(), router, made.request.image)
    assert find_plan_differences(made.plan, held) == ()
    assert held.unknown == ()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


def test_the_list_that_the_paper_forgot_is_told() -> None:
    text = appendix("cdf-wfq", "bandwidth 800", (180, 181, 105, 183, 184, 185, 186))
    box = booted()
    assert box.configure(text.splitlines()) == []  # a router takes it without a word
    assert [line.undefined for line in held_by(box).unknown] == ["access-group 105"]
    assert meaning(held_by(box), WAN) != meaning(compiled("infn-fnal-wfq").devices[0].plan, WAN)


@pytest.mark.parametrize("name", APPENDICES)
@pytest.mark.parametrize(("rate", "refused"), [("800 kb/s", False), ("801 kb/s", True)])
def test_one_kilobit_more_is_refused(name: str, rate: str, refused: bool) -> None:
    text = (ROOT / "policies" / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.count("{rate: 800 kb/s}") == 1
    loaded = parse_intent(text.replace("{rate: 800 kb/s}", f"{{rate: {rate}}}"), "boundary.yaml")
    compilation = compile_intent(loaded, NETWORK, {device.name: startup(device.name) for device in NETWORK.devices})
    found = [f for f in compilation.findings if f.code != "default-mark-kept"]
    told = [(f.device, f.interface, f.code, f.severity.value, f.requested, f.applied) for f in found]
    error = ("reserved-bandwidth-exceeded", "error", "1501 kb/s", "at most 1500 kb/s")
    assert told == ([(router, WAN, *error) for router in ("router1", "router3")] if refused else [])
    box = booted()
    refusals = box.configure(appendix("cdf", f"bandwidth {rate.split(maxsplit=1)[0]}").splitlines())
    # The device judges likewise, when the policy is attached.
    assert [text for text in refusals if "available only" in text] == (refusals if refused else [])
    assert bool(refusals) is refused


def test_a_packet_takes_the_round_trip_of_the_paper() -> None:
    (link,) = NETWORK.links
    cells = 2 * 53 * 8 / link.rate  # 64 bytes in AAL5
    assert 2 * (link.delay + cells) == pytest.approx(0.1245, abs=0.0001)
