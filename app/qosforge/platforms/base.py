"""The interface of a platform package, and how platforms are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, Protocol

from qosforge.configtree import Grammar
from qosforge.errors import InputError, Place
from qosforge.findings import Fidelity, Finding
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.port_counters import PortCounterForm
from qosforge.platforms.profile import DeviceProfile
from qosforge.platforms.secret_forms import SecretForms

GROUP = "qosforge.platforms"


@dataclass(frozen=True)
class Block:
    """One configuration object: its text, the class it came from and the intent's line of that class."""

    kind: str
    name: str
    text: str
    traffic_class: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class ClassFidelity:
    """How near the plan is to what a class asked for; shares in per cent of the link rate."""

    traffic_class: str
    interface: str
    fidelity: Fidelity
    requested_percent: float | None = None
    applied_percent: float | None = None


@dataclass(frozen=True)
class LoweredDevice:
    """A plan, with what could not be had as asked.

    ``classes`` maps what the device calls a class or queue to the intent's class: the provenance that a device
    cannot hold itself.
    """

    plan: Plan
    findings: tuple[Finding, ...] = ()
    fidelity: tuple[ClassFidelity, ...] = ()
    classes: Mapping[str, str] = field(default_factory=dict)


Direction = Literal["input", "output"]
"""Side of an interface."""


@dataclass(frozen=True)
class QueueCount:
    """What a device has counted so far for one class or queue.

    ``queue`` is the class's name where the device counts by class, else the queue's number. ``interface`` is empty
    where the device counts for all its interfaces together. ``priority`` says whether the device tells that it
    serves the queue first; ``queued`` are the packets that the class's queue took, where the device counts them
    beside those that it classified. A device that evaluates all its rules counts a packet under each that matches:
    such counters are ``overlapping``. ``size_bytes`` are those of ``packets``. ``None`` is what the device does not
    tell.
    """

    interface: str
    direction: Direction
    queue: str
    packets: int
    drops: int | None = None
    priority: bool | None = None
    queued: int | None = None
    overlapping: bool = False
    size_bytes: int | None = None


@dataclass(frozen=True)
class DeviceFamily:
    """The devices of a platform: by which lines their configurations are told, and what an inventory says of them.

    ``signs`` is a pattern of whole lines that they have and others hardly; ``switches`` where ports are those of a
    switch. ``images`` are tried in this order where none is known; ``states_image`` where the ``version`` line of a
    configuration is one.
    """

    signs: str
    images: tuple[str, ...]
    driver: str
    role: DeviceRole
    switches: bool = True
    states_image: bool = False


class Platform(Protocol):
    """One kind of device. Implementations are pure: no I/O but reading their own data and templates."""

    id: str
    grammar: Grammar
    family: DeviceFamily
    profile: DeviceProfile
    batfish_format: str | None
    """What Batfish calls the text of this platform; none where it does not model it."""
    secrets: SecretForms
    """Which words of its lines are secrets."""
    counts: frozenset[Direction]
    """On which sides of its interfaces the device counts by class or queue."""
    port_counters: PortCounterForm | None
    """How it shows the counters of whole ports; ``None`` where no record of its answer is known."""
    features: frozenset[Feature]
    """What of the language beyond its core `lower` knows; it is never asked for more."""
    most_conditions: int
    """How many conditions (match lines, entries of access lists, filters) one class may come to on an interface."""

    def count_conditions(self, request: DeviceRequest, class_request: ClassRequest) -> int:
        """How many conditions a class comes to at most: by arithmetic, for whatever lists."""
        ...

    def lower(self, request: DeviceRequest, running: Plan | None) -> LoweredDevice:
        """The plan for a request; ``running`` is what the device holds now, where it is known."""
        ...

    def blocks(self, plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
        """The configuration objects of a plan, in the order people read them."""
        ...

    def parse(self, text: str, device: str, image: str) -> Plan:
        """The plan that a running configuration amounts to, defaults that it does not print included."""
        ...

    def inspection_commands(self, driver: str) -> tuple[str, ...]:
        """What to ask a device that is reached by this driver before it is trusted; none of it changes anything."""
        ...

    def inspect(self, answers: Mapping[str, str], running: str, driver: str) -> Inspection:
        """What a device is by its answers, by command, and its running configuration.

        An answer that is not understood tells nothing: its part of the result is ``None`` or empty.
        """
        ...

    def counter_commands(self, plan: Plan) -> tuple[str, ...]:
        """What to ask a device that holds this plan for its counters by class; nothing where it has none."""
        ...

    def read_counters(self, answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
        """The counters in a device's answers, by command, named as the plan names classes, queues and interfaces.

        Raises:
            ValueError: an answer is not what the command prints.
        """
        ...


@cache
def installed() -> Mapping[str, EntryPoint]:
    """Entry points of the installed platforms by their ids."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def _loaded(name: str) -> Platform:
    target: Platform = installed()[name].load()
    return target


@cache
def secret_forms(name: str) -> SecretForms:
    """The secret-bearing lines of a platform; of one that is not installed any more, those of all that are."""
    names = [name] if name in installed() else sorted(installed())
    return SecretForms(form for each in names for form in platform(each).secrets.forms)


def platform(name: str, device: str = "") -> Platform:
    """The platform of this id.

    Raises:
        InputError: none is installed under this id.
    """
    if name not in installed():
        place = Place(device=device or None)
        raise InputError(f"unknown platform {name!r}", place, f"known: {', '.join(sorted(installed()))}")
    return _loaded(name)
