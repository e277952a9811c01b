"""Compile an intent for a network into plans, configuration and findings. Pure: the same input gives the same
bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

from qosforge.compiler.features import find_unsupported, without_unsupported
from qosforge.compiler.not_understood import find_affected
from qosforge.compiler.projected_plan import project_plan
from qosforge.compiler.resolve import resolve
from qosforge.compiler.shared_policy_check import find_shared_policies
from qosforge.compiler.sides_left import find_sides_left, leave_sides, tell_sides_left
from qosforge.compiler.size import find_oversized, without_matches
from qosforge.errors import Place, QosforgeError
from qosforge.findings import Finding
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.note import note
from qosforge.plan.model import Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, ClassFidelity, platform
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration

SHAPES = 128
"""How many shapes (devices that differ in more than their names) are kept for others like them."""
MET = 100_000
"""How many shapes are remembered to have been met."""
NAMED = 8
"""Characters at the beginning of a policy's name that every device keeps, however short its names are."""


@dataclass(frozen=True)
class CompiledDevice:
    """One device's plan and configuration."""

    request: DeviceRequest
    plan: Plan
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]
    fidelity: tuple[ClassFidelity, ...]
    classes: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the device."""
        return self.request.device

    @property
    def printed_blocks(self) -> tuple[Block, ...]:
        """The blocks that say something: not the interfaces that the policy has no lines for."""
        return tuple(block for block in self.blocks if not block.bare)

    @property
    def text(self) -> str:
        """The whole configuration."""
        return "!\n".join(block.text for block in self.printed_blocks)


@dataclass(frozen=True)
class Compilation:
    """What an intent becomes on a network."""

    intent: LoadedIntent
    network: Network
    devices: tuple[CompiledDevice, ...]
    general: tuple[Finding, ...]

    def narrowed(self, devices: Collection[str]) -> Compilation:
        """Of a network with these devices and those that were compiled alone, for work that asks for no others: a
        large network takes longer to hand to a process than its change to check.
        """
        names = {*devices, *(device.name for device in self.devices)}
        kept = tuple(device for device in self.network.devices if device.name in names)
        return replace(self, network=self.network.model_copy(update={"devices": kept}))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: of the intent as a whole, then device by device."""
        return (*self.general, *(f for device in self.devices for f in device.findings))


def compile_intent(
    loaded: LoadedIntent,
    network: Network,
    running: Mapping[str, Configuration] | None = None,
    devices: Collection[str] = (),
) -> Compilation:
    """Compile an intent for a network; of its devices those that are named, all without a name.

    ``running`` holds the running configurations that are known, by device: what a device states about itself (the
    bandwidth of an interface, the queue set it booted with) is checked against them.

    Raises:
        InputError: a device's platform is not installed.
    """
    compiled, general = compile_devices(loaded, network, running, devices)
    return Compilation(loaded, network, tuple(compiled), general)


def compile_devices(
    loaded: LoadedIntent,
    network: Network,
    running: Mapping[str, Configuration] | None = None,
    devices: Collection[str] = (),
) -> tuple[Iterator[CompiledDevice], tuple[Finding, ...]]:
    """As `compile_intent`, device by device as they are taken, with the findings on the intent as a whole.

    Nothing is kept of a device that was taken: a network of any size needs the memory of a few devices beside
    its requests.
    """
    requests, general = resolve(loaded, network)
    compiler = Compiler(loaded)
    known = running or {}
    chosen = (request for request in requests if not devices or request.device in devices)
    compiled = (compiler.device(request, known.get(request.device)) for request in chosen)
    return compiled, (*loaded.findings, *general)


class Compiler:
    """Compiles device requests of one intent; devices that differ in their names alone share the work."""

    def __init__(self, loaded: LoadedIntent) -> None:
        self._place = cache(loaded.class_place)
        self._met: set[int] = set()
        self._kept: dict[_Shape, CompiledDevice] = {}

    def device(self, request: DeviceRequest, running: Configuration | None = None) -> CompiledDevice:
        """What a request becomes; ``running`` is what the device runs now, where it is known.

        Raises:
            InputError: the platform is not installed, or does not know the image or an interface.
        """
        if running is not None:
            return self._lower(request, running)
        # The platform does not see the name: what it makes cannot depend on it, and serves all devices of a shape.
        try:
            made = self._of_shape(_Shape(request.model_copy(update={"device": ""})))
        except QosforgeError:
            return self._lower(request, None)  # raises it again, of this device
        name = request.device
        return replace(
            made,
            request=made.request.model_copy(update={"device": name}),
            plan=made.plan.model_copy(update={"device": name}),
            findings=tuple(f.model_copy(update={"device": name}) if f.device == "" else f for f in made.findings),
        )

    def _of_shape(self, shape: _Shape) -> CompiledDevice:
        made = self._kept.get(shape)
        if made is not None:
            return made
        made = self._lower(shape.request, None)
        # What was met once only is not kept: where all devices differ, none is worth its room.
        if hash(shape) in self._met:
            if len(self._kept) >= SHAPES:
                del self._kept[next(iter(self._kept))]
            self._kept[shape] = made
        elif len(self._met) < MET:
            self._met.add(hash(shape))
        return made

    def _lower(self, request: DeviceRequest, running: Configuration | None) -> CompiledDevice:
        target = platform(request.platform, request.device)
        running_plan = (
            parse_running(request.platform, running, request.device, request.image) if running is not None else None
        )
        refused = tuple(find_unsupported(request, target.features))
        request = without_unsupported(request, target.features)
        too_much = find_oversized(request, target)
        if too_much:
            request = without_matches(request)
        lowered = target.lower(request, running_plan)
        blocks = target.blocks(lowered.plan, lowered, request)
        plan = lowered.plan
        unread: tuple[Finding, ...] = ()
        if running is not None and running_plan is not None:
            left = find_sides_left(request, running_plan)
            plan = leave_sides(plan, left, running_plan) if left else plan
            project = partial(project_plan, request, running, blocks)
            unread = (
                *_find_missing(request, running_plan),
                *_find_unread(running_plan),
                *find_shared_policies(plan, running_plan, project),
                *tell_sides_left(request.device, left),
                *(find_affected(request, running, blocks) if running_plan.unknown else ()),
            )
        unnamed = _without_names(request, plan)
        return CompiledDevice(
            request=request,
            plan=plan,
            blocks=blocks,
            findings=tuple(map(self._locate, (*refused, *too_much, *lowered.findings, *unnamed, *unread))),
            fidelity=lowered.fidelity,
            classes=lowered.classes,
        )

    def _locate(self, finding: Finding) -> Finding:
        if finding.file or finding.traffic_class is None:
            return finding
        place = self._place(finding.traffic_class, finding.line)
        return finding if place is None else finding.model_copy(update={"file": place.file, "line": place.line})


class _Shape:
    """A device request without the name, as a key: equal where all the rest is."""

    def __init__(self, nameless: DeviceRequest) -> None:
        self.request = nameless
        # Enough to tell most apart; classes may hold what has no hash.
        self._hash = hash((nameless.platform, nameless.image, *((i.name, i.rate) for i in nameless.interfaces)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shape) and self.request == other.request


def _without_names(request: DeviceRequest, plan: Plan) -> Iterator[Finding]:
    """Names of policies that nothing on the device carries."""
    for interface_request in request.interfaces:
        made = plan.interface(interface_request.name)
        for direction, name, side in (
            ("input", interface_request.input_policy, made.ingress if made else None),
            ("output", interface_request.output_policy, made.egress if made else None),
        ):
            if name is not None and side is not None and not (side.policy or "").startswith(name[:NAMED]):
                yield note(
                    "policy-name-unused",
                    Place(device=request.device, interface=interface_request.name, direction=direction),
                    requested=name,
                    applied="no name",
                )


def _find_missing(request: DeviceRequest, running: Plan) -> tuple[Finding, ...]:
    return tuple(
        note(
            "interface-missing",
            Place(device=request.device, interface=interface_request.name),
            name=interface_request.name,
        )
        for interface_request in request.interfaces
        if running.interface(interface_request.name) is None
    )


def _find_unread(running: Plan) -> Iterator[Finding]:
    for line in running.unknown:
        at_port = line.context.startswith("interface ")
        place = Place(device=running.device, interface=line.context.removeprefix("interface ") if at_port else None)
        if line.undefined:
            yield note("undefined-reference", place, text=line.text, undefined=line.undefined)
        else:
            yield note("line-not-understood", place, text=line.text)
