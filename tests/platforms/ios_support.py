"""Requests for IOS routers of any train, and emulated routers that judge what is made of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import merge, transition
from qosforge.findings import Finding, Severity
from qosforge.intent.applications import load_catalogue
from qosforge.intent.models import Mark, Treatment
from qosforge.inventory.models import DeviceRole, Framing
from qosforge.plan.model import InterfacePlan, Queue
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest, TermRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.cisco_ios import PLATFORM
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

STARTUP = """\
hostname R9
ip cef
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface FastEthernet0/1
 no ip address
interface FastEthernet0/1.7
 encapsulation dot1Q 7
 ip address 10.0.7.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 ip address 10.0.1.1 255.255.255.252
interface Serial0/1
 bandwidth 1000
 ip address 10.0.2.1 255.255.255.252
"""
TRAINS = ("12.0(5)T", "12.0(7)T", "12.1(5)T", "12.2(8)T", "12.3", "12.4", "12.4(24)T", "15.1")
OLD, MODERN = "12.4", "15.1"
BEFORE_LLQ = "12.0(5)T"


def a_class(name: str, precedence: int | None = None, **more: Any) -> ClassRequest:
    """A class that is told by its precedence; ``treatment`` and ``mark`` as in an intent."""
    made: dict[str, Any] = {
        "name": name,
        "terms": (TermRequest(precedence=(precedence,)),) if precedence is not None else (),
    }
    if "treatment" in more:
        more["treatment"] = Treatment.model_validate(more["treatment"])
    if "mark" in more:
        more["mark"] = Mark.model_validate(more["mark"])
    return ClassRequest(**{**made, **more})


def rest(**treatment: Any) -> ClassRequest:
    """The class of everything else."""
    return a_class("default", treatment=treatment)


def line(name: str = "Serial0/0", rate: int = 2_000_000, **more: Any) -> InterfaceRequest:
    """An output that schedules."""
    wanted = {"name": name, "rate": rate, "usable": rate, "framing": Framing.HDLC, "schedule": True}
    return InterfaceRequest(**{**wanted, **more})


def lan(**more: Any) -> InterfaceRequest:
    """An input that recognises."""
    wanted = {"name": "FastEthernet0/0", "rate": 10**8, "usable": 10**8, "framing": Framing.ETHERNET}
    return InterfaceRequest(**{**wanted, "recognise": True, **more})


PHYSICS = a_class(
    "physics",
    3,
    treatment={"bandwidth": {"percent": 40}, "bounded": True},
    children=(
        a_class("physics-voice", 5, treatment={"priority": {"percent": 20}}),
        a_class("physics-data", 4, treatment={"bandwidth": {"percent": 50}}),
        rest(),
    ),
)
LIBRARY = a_class(
    "library",
    2,
    treatment={"bandwidth": {"percent": 30}},
    children=(a_class("library-web", 1, treatment={"bandwidth": {"percent": 60}}), rest()),
)
FAST = line("FastEthernet0/1", 100_000_000, usable=8_000_000, shape=8_000_000, framing=Framing.ETHERNET)
"""An output that is shaped below its port's rate."""


def requested(
    *classes: ClassRequest,
    image: str = OLD,
    interfaces: tuple[InterfaceRequest, ...] | None = None,
    role: DeviceRole = DeviceRole.EDGE,
    features: frozenset[str] = frozenset(),
) -> DeviceRequest:
    """A request; the class of everything else is added where it is not given."""
    return DeviceRequest(
        device="r9",
        platform="cisco_ios",
        image=image,
        role=role,
        features=features,
        intent="made",
        tolerance=0.05,
        classes=classes if classes and classes[-1].is_default else (*classes, ClassRequest(name="default")),
        interfaces=(line(),) if interfaces is None else interfaces,
        applications=dict(load_catalogue()),
    )


def lowered(request: DeviceRequest) -> LoweredDevice:
    """The plan of a request on a device that nothing is known of."""
    return PLATFORM.lower(request, None)


def text_of(request: DeviceRequest, result: LoweredDevice | None = None) -> str:
    """The configuration of a request."""
    made = result or lowered(request)
    return "!\n".join(block.text for block in PLATFORM.blocks(made.plan, made, request))


def of(result: LoweredDevice, code: str) -> list[Finding]:
    """The findings of this code."""
    return [f for f in result.findings if f.code == code]


def errors(result: LoweredDevice) -> list[str]:
    """Codes of the errors."""
    return [f.code for f in result.findings if f.severity is Severity.ERROR]


def port(result: LoweredDevice, name: str = "Serial0/0") -> InterfacePlan:
    """The interface of a plan, which must have it."""
    found = result.plan.interface(name)
    assert found is not None
    return found


def queues(result: LoweredDevice, name: str = "Serial0/0") -> tuple[Queue, ...]:
    """The queues of an interface, which must have a scheduler."""
    scheduler = port(result, name).egress.scheduler
    assert scheduler is not None
    return scheduler.queues


def booted(image: str, startup: str = STARTUP, features: frozenset[str] = frozenset()) -> Box:
    """An emulated router that has booted."""
    spec = BoxSpec(
        name="r9", platform="cisco_ios", image=image, features=dict.fromkeys(features, True), username="u",
        password="p",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        box = make_box(spec, Storage(Path(folder), startup), Clock())
        box.boot()
    assert box.boot_messages == []
    return box


def pushed(request: DeviceRequest, startup: str = STARTUP) -> tuple[LoweredDevice, Box]:
    """Put a request into a router: it takes every line, holds the plan, and comes back to what it held.

    The device is returned with the plan in it.
    """
    box = booted(request.image, startup, request.features)
    before = box.running_text()
    held = PLATFORM.parse(before, "r9", request.image)
    result = PLATFORM.lower(request, held)
    grammar = PLATFORM.grammar
    current = grammar.parse(before)
    target = merge(current, grammar.parse(text_of(request, result)), grammar)
    delta, inverse = transition(current, target, grammar), transition(target, current, grammar)

    assert box.configure(delta) == []
    after = box.running_text()
    assert find_plan_differences(result.plan, PLATFORM.parse(after, "r9", request.image)) == ()
    assert PLATFORM.parse(after, "r9", request.image).unknown == held.unknown
    for lines in (inverse, transition(grammar.parse(after), current, grammar)):
        assert box.configure(lines) == []
        assert box.running_text() == before
        assert box.configure(delta) == []
    return result, box
