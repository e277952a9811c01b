"""The interface of a platform package, and how platforms are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, NamedTuple

from qosforge.commands import CommandTable
from qosforge.configtree import Grammar
from qosforge.errors import InputError, Place
from qosforge.findings import Fidelity, Finding
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.plan.unknown_line import UnknownLine
from qosforge.platforms.capability_data import CapabilityData
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.line_rules import LineRule
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

    @property
    def bare(self) -> bool:
        """Whether it is an interface's heading with nothing below it."""
        lines = self.text.splitlines()
        return self.kind == "interface" and len(lines) == 1 and lines[0].startswith("interface ")


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
    cannot hold itself. ``held`` is what the device holds now, where objects that are written as a whole need it.
    """

    plan: Plan
    findings: tuple[Finding, ...] = ()
    fidelity: tuple[ClassFidelity, ...] = ()
    classes: Mapping[str, str] = field(default_factory=dict)
    held: Plan | None = None


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


class BesidePlan(NamedTuple):
    """A line that is understood and that a plan does not show.

    ``unattached``: nothing that an interface does refers to it. ``waiting``: quality of service is switched off on
    the device. ``stays``: it says more than plans have.
    """

    why: Literal["unattached", "waiting", "stays"]
    line: UnknownLine


@dataclass(frozen=True)
class DeviceFamily:
    """The devices of a platform: by which lines their configurations are told, and what an inventory says of them.

    ``title`` is what people call them. ``signs`` is a pattern of whole lines that they have and others hardly;
    ``switches`` where ports are those of a switch. ``images`` are tried in this order where none is known;
    ``states_image`` where the ``version`` line of a configuration is one; ``versions`` is a pattern of those that
    the devices run, which decides where the lines of a text are signs of several. ``drivers`` speak with them, the
    usual one first.

    ``delivered`` are configurations of devices as delivered: as such, and where quality of service has to be
    switched on. ``without_policy`` are those in which nobody told classes apart: as delivered, and with each of the
    queue sets that come with the device. ``objects`` is a pattern of the headings of what a device can be without;
    what it has for its own CPU is none of these. ``emulated_start`` is the configuration that an emulated device
    with ports of these rates in kb/s begins with, where one can be made of so little.
    """

    title: str
    signs: str
    images: tuple[str, ...]
    drivers: tuple[str, ...]
    role: DeviceRole
    switches: bool = True
    states_image: bool = False
    versions: str = ".*"
    delivered: tuple[str, ...] = ("",)
    without_policy: tuple[str, ...] = ("",)
    objects: str = "(?!)"
    emulated_start: Callable[[Mapping[str, int]], str] | None = None

    @property
    def driver(self) -> str:
        """What the devices are reached by where nothing says otherwise."""
        return self.drivers[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Platform:
    """One kind of device. Its functions are pure: no I/O but reading their own data and templates.

    ``commands`` are its configuration lines, ``capabilities`` the figures that its functions go by.
    ``batfish_format`` is what Batfish calls their text, where it models it. ``secrets`` tell which words of its
    lines are secrets. ``counts`` are the sides of its interfaces on which the device counts by class or queue;
    ``port_counters`` is how it shows the counters of whole ports, where a record of its answer is known.
    ``compile_weight`` is how long one of its devices takes to compile beside a router of ``cisco_ios``, roughly: by
    it processes share the devices of a network. ``line_rules`` are rules about several lines of a configuration, or
    about releases.
    ``features`` are what of the language beyond its core ``lower`` knows; it is never asked for more.
    ``device_features`` are the words that the ``features`` of a device in the inventory may have; any where it is
    ``None``.
    ``most_conditions`` is how many conditions (match lines, entries of access lists, filters) one class may come to
    on an interface, and ``count_conditions`` to how many a class comes at most: by arithmetic, for whatever lists.

    ``lower`` makes the plan for a request; its second argument is what the device holds now, where it is known.
    ``blocks`` are the configuration objects of a plan, in the order in which people read them. ``parse`` gives the
    plan that a running configuration (of a device of this name and image) amounts to, defaults that it does not
    print included. ``beside_plan`` are lines of a running configuration that are understood and that the plan does
    not show, where only the platform can tell.

    ``inspection_commands`` are what a device that is reached by a driver is asked before it is trusted; none of
    them changes anything. ``inspect`` tells what it is by its answers, by command, its running configuration and
    the driver; an answer that is not understood tells nothing, and its part of the result is ``None`` or empty.
    ``counter_commands`` are what a device that holds a plan is asked for its counters by class; nothing where it
    has none. ``read_counters`` reads the answers, by command, with the names that the plan has for classes, queues
    and interfaces, and raises `ValueError` where an answer is not what the command prints.
    """

    id: str
    commands: CommandTable
    capabilities: CapabilityData
    family: DeviceFamily
    profile: DeviceProfile
    batfish_format: str | None = None
    secrets: SecretForms
    counts: frozenset[Direction] = frozenset()
    port_counters: PortCounterForm | None = None
    compile_weight: float = 1.0
    line_rules: tuple[LineRule, ...] = ()
    features: frozenset[Feature]
    device_features: frozenset[str] | None = None
    most_conditions: int
    count_conditions: Callable[[DeviceRequest, ClassRequest], int]
    lower: Callable[[DeviceRequest, Plan | None], LoweredDevice]
    blocks: Callable[[Plan, LoweredDevice, DeviceRequest], tuple[Block, ...]]
    parse: Callable[[str, str, str], Plan]
    beside_plan: Callable[[str], tuple[BesidePlan, ...]] = lambda _text: ()
    inspection_commands: Callable[[str], tuple[str, ...]]
    inspect: Callable[[Mapping[str, str], str, str], Inspection]
    counter_commands: Callable[[Plan], tuple[str, ...]] = lambda _plan: ()
    read_counters: Callable[[Mapping[str, str], Plan], tuple[QueueCount, ...]] = lambda _answers, _plan: ()

    @property
    def grammar(self) -> Grammar:
        """The rules by which one configuration becomes another."""
        return self.commands.grammar


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
        raise unknown_platform(name, Place(device=device or None))
    return _loaded(name)


def unknown_platform(name: str, place: Place) -> InputError:
    """The error of a platform that is not installed."""
    return InputError(f"unknown platform {name!r}", place, f"known: {', '.join(sorted(installed()))}")
