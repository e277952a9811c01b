"""Seven stations through switches into an eighth: what the study of Ethernet switches for aircraft measured.

Every station has a link of its own, and sends in step with the others; delay counts from first bit to first bit.
Loads are per cent of the line rate with preamble and gap. All devices of the experiment stand side by side in one
case, each with stations of its own, so that they can be compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from qosforge.errors import Place, ServiceError
from qosforge.experiments.cases import Case, SubjectSelection, read_described
from qosforge.experiments.devices import device_profile
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.policy_port import policy_port
from qosforge.plan.fluid import Division, FluidClass, throughput
from qosforge.platforms.profile import BufferSize, DeviceProfile, DisciplineProfile
from qosforge.twin.described import read_scheduler
from qosforge.twin.filters import MatchSpec
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import (
    PS,
    EgressRule,
    EgressSpec,
    FlowSpec,
    LinkSpec,
    NodeSpec,
    PacketSpec,
    PortSpec,
    TwinScenario,
)
from qosforge.twin.sources import CbrSource, SynchronisedPhase

WIRE = 20
"""Preamble and gap of an Ethernet frame, bytes."""
ALL = "all"
_SETTLED = 3
"""Time constants after which 95 per cent of the way are done."""
_ORDINARY = {"fifo", "strict"}


def cases(experiment: Experiment) -> Iterator[Case]:
    """One case for each frame size and load that a scenario asks for.

    Raises:
        ServiceError: the data ask for what the testbed does not know.
    """
    setup = experiment.setup
    wanted: dict[tuple[int, int], list[str]] = {}
    for name, scenario in experiment.scenarios.items():
        for size in _sizes(experiment, name, scenario):
            for percent in _loads(experiment, name, scenario):
                wanted.setdefault((size, percent), []).append(name)
    for (size, percent), names in wanted.items():
        yield Case(
            scenarios=tuple(names),
            document=_document(experiment, size, percent),
            subjects=_subjects(experiment, size, percent),
            load=float(percent),
            trials=int(setup["runs"][size]["trials"]),
        )


def _sizes(experiment: Experiment, name: str, scenario: Mapping[str, Any]) -> Sequence[int]:
    sizes = scenario.get("frame_bytes", experiment.setup["frame_bytes"])
    sizes = [sizes] if isinstance(sizes, int) else sizes
    unknown = [size for size in sizes if size not in experiment.setup["frame_bytes"]]
    if unknown:
        raise _wrong(
            experiment, f"scenarios.{name}.frame_bytes", f"the study sends no frames of {unknown[0]} bytes"
        )
    return tuple(sizes)


def _loads(experiment: Experiment, name: str, scenario: Mapping[str, Any]) -> Sequence[int]:
    wanted = scenario.get("load_percent", {"from": 0, "to": 100})
    if isinstance(wanted, Mapping):
        wanted = [load for load in experiment.setup["load_percent"] if wanted["from"] <= load <= wanted["to"]]
    elif isinstance(wanted, int):
        wanted = [wanted]
    if not wanted or any(load not in experiment.setup["load_percent"] for load in wanted):
        raise _wrong(experiment, f"scenarios.{name}.load_percent", "no load of the set-up's list is meant")
    return tuple(wanted)


def _devices(experiment: Experiment, size: int) -> Sequence[str]:
    """The devices that frames of this size are sent through."""
    return [name for name, device in experiment.devices.items() if size in device.get("frame_bytes", [size])]


def _wrong(experiment: Experiment, path: str, problem: str) -> ServiceError:
    file = f"qosforge/experiments/data/{experiment.name}/experiment.yaml"
    return ServiceError(problem, Place(file=file, path=path), "correct the experiment's data")


def _classes(experiment: Experiment) -> Mapping[str, Sequence[int]]:
    """Stations of each class, the class of the highest priority first."""
    first = 0
    classes: dict[str, range] = {}
    for name, stations in experiment.setup["classes"].items():
        classes[name] = range(first, first + int(stations))
        first += int(stations)
    if first != experiment.setup["senders"]:
        raise _wrong(
            experiment, "setup.classes", f"{first} stations have a class, {experiment.setup['senders']} send"
        )
    return classes


def _document(experiment: Experiment, size: int, percent: int) -> TwinScenario:
    setup = experiment.setup
    rate = round(setup["link_mbps"] * 1e6)
    slot = (size + WIRE) * 8 * PS // rate
    # Whole periods, so that every sender has sent as much as every other.
    period = slot * 100 // percent
    warm_up = -(-_filling(setup, percent) // period) * period
    measured = int(setup["runs"][size]["periods"]) * period
    # The paper's switches tell classes by source address; without a policy the sender's mark stands for that.
    marks = {station: number for number, on in enumerate(_classes(experiment).values()) for station in on}
    nodes: list[NodeSpec] = []
    links: list[LinkSpec] = []
    flows: list[FlowSpec] = []
    nic = PortSpec(name="nic")
    for device in _devices(experiment, size):
        receiver = f"{device}.receiver"
        nodes += [_device(experiment, device), NodeSpec(name=receiver, ports=(nic,))]
        links.append(LinkSpec(a=(device, "out"), b=(receiver, nic.name), rate_bps=rate, framing="ethernet"))
        for station in range(setup["senders"]):
            name = _station(device, station)
            nodes.append(NodeSpec(name=name, ports=(nic,)))
            links.append(
                LinkSpec(a=(name, nic.name), b=(device, f"in{station}"), rate_bps=rate, framing="ethernet")
            )
            source = CbrSource(
                rate_bps=rate * percent // 100,
                rate_layer="wire",
                frame_bytes=size,
                phase=SynchronisedPhase(group=device),
                jitter_ps=round(setup["late_slots"] * slot),
            )
            packet = PacketSpec(dscp=marks[station], src=f"192.0.2.{station + 1}")
            path = ((name, nic.name), (device, "out"))
            flows.append(FlowSpec(name=name, path=path, packet=packet, source=source))
    return TwinScenario(
        version=VERSION,
        duration_ps=warm_up + measured,
        warmup_ps=warm_up,
        delay_reference="first_bit",
        nodes=tuple(nodes),
        links=tuple(links),
        flows=tuple(flows),
    )


def _filling(setup: Mapping[str, Any], percent: int) -> int:
    """Time until excess load has filled the largest queue and its early detection has settled, picoseconds.

    The queue comes near where drops and arrivals balance with a time constant of its depth over the arriving load.
    """
    load = int(setup["senders"]) * percent / 100
    if load <= 1:
        return 0
    emptied = float(setup["filling_bytes"]) * 8 / (float(setup["link_mbps"]) * 1e6)
    return round(emptied * (1 / (load - 1) + _SETTLED / load) * PS)


def _station(device: str, number: int) -> str:
    return f"{device}.station{number}"


def _device(experiment: Experiment, name: str) -> NodeSpec:
    """A switch as a node of the twin, served by the experiment's discipline as the device really does it."""
    senders, discipline = experiment.setup["senders"], str(experiment.setup["discipline"])
    classes = list(_classes(experiment))
    profile, served = _profile_service(experiment, name, discipline)
    room = served.room or profile.room
    assert room is not None
    ingress = None
    if "policy" in experiment.setup:
        port = _policy_port(experiment, name)
        assert port.egress is not None
        # The policy's ingress classifies on every port; what queues hold is the device's, not the policy's.
        ingress = port.ingress
        queues = tuple(room.queue(queue.name, number) for number, queue in enumerate(port.egress.queues))
        egress = replace(port.egress, queues=queues)
    else:
        egress = EgressSpec(
            queues=tuple(room.queue(queue, number) for number, queue in enumerate(classes)),
            rules=tuple(
                EgressRule(match=MatchSpec(dscp=(number,)), queue=number) for number in range(1, len(classes))
            ),
            scheduler=read_described(read_scheduler, served.scheduler),
            tx_fifo_packets=profile.transmit_fifo,
        )
    latency, jitter = profile.latencies_ps(discipline)
    return NodeSpec(
        name=name,
        latency_ps=latency,
        latency_jitter_ps=jitter,
        ports=(
            *(PortSpec(name=f"in{number}", ingress=ingress) for number in range(senders)),
            PortSpec(name="out", egress=egress),
        ),
    )


def _policy_port(experiment: Experiment, name: str) -> PortSpec:
    """The device's port as the experiment's policy configures it."""
    setup, device = experiment.setup, experiment.devices[name]
    rate = round(setup["link_mbps"] * 1e6)
    return policy_port(setup["policy"], setup["inventory"], device["device"], str(device["interface"]), rate)


def _profile_service(experiment: Experiment, name: str, discipline: str) -> tuple[DeviceProfile, DisciplineProfile]:
    """A device's profile, and what it does under the discipline; a device without a profile is ideal."""
    device = experiment.devices[name]
    if "profile" not in device:
        if discipline not in _ORDINARY:
            raise _wrong(experiment, f"devices.{name}", f"an ideal device does not serve by {discipline}")
        order = list(range(len(_classes(experiment))))
        scheduler = {"kind": "fifo"} if discipline == "fifo" else {"kind": "strict", "order": order}
        room = BufferSize(**experiment.setup["ideal_room"])
        profile = DeviceProfile(title=name, room=room, sources={"room": "of the experiment"})
        return profile, DisciplineProfile(scheduler=scheduler)
    profile = device_profile(device["profile"])
    if discipline not in profile.disciplines:
        raise _wrong(
            experiment, "setup.discipline", f"the profile {device['profile']} has no discipline {discipline!r}"
        )
    if profile.disciplines[discipline].room is None and profile.room is None:
        raise _wrong(
            experiment, f"devices.{name}.profile", f"the profile {device['profile']} has no room for packets"
        )
    return profile, profile.disciplines[discipline]


def _subjects(experiment: Experiment, size: int, percent: int) -> dict[str, SubjectSelection]:
    classes = _classes(experiment)
    link = float(experiment.setup["link_mbps"])
    facts = {"link_mbps": link, "sender_mbps": link * percent / 100}
    expected = _fluid(experiment, size, percent)
    # A policy's queues have the device's names.
    named = () if "policy" in experiment.setup else tuple(classes)
    subjects: dict[str, SubjectSelection] = {}
    for device in _devices(experiment, size):
        for queue, stations in classes.items():
            subjects[f"{device}.{queue}"] = SubjectSelection(
                flows=tuple(_station(device, station) for station in stations),
                port=(device, "out"),
                queues=(queue,) if named else (),
                expected=expected[queue],
                facts=facts,
            )
        everything = tuple(_station(device, station) for station in range(experiment.setup["senders"]))
        subjects[f"{device}.{ALL}"] = SubjectSelection(
            flows=everything,
            port=(device, "out"),
            queues=() if "policy" in experiment.setup else tuple(classes),
            expected=expected[ALL],
            facts=facts,
        )
    for together, devices in experiment.setup.get("together", {}).items():
        for queue in (*classes, ALL):
            flows = tuple(flow for device in devices for flow in subjects[f"{device}.{queue}"].flows)
            subjects[f"{together}.{queue}"] = SubjectSelection(flows=flows, facts=facts)
    return subjects


def _fluid(experiment: Experiment, size: int, percent: int) -> dict[str, dict[str, float]]:
    """Wire throughput and loss of each class in the fluid model: by what is offered, or highest priority first."""
    classes = _classes(experiment)
    link = float(experiment.setup["link_mbps"])
    offered = {name: len(stations) * link * percent / 100 for name, stations in classes.items()}
    first_come = experiment.setup["discipline"] == "fifo"
    children = tuple(
        FluidClass(name=name, offered=rate, priority=None if first_come else number + 1)
        for number, (name, rate) in enumerate(offered.items())
    )
    division = Division.OFFERED if first_come else Division.WEIGHT
    shares = throughput(FluidClass(name="link", children=children, division=division), link)
    got = {name: shares[name] for name in classes}
    got[ALL], offered[ALL] = sum(got.values()), sum(offered.values())
    return {name: {"throughput_mbps": got[name], "loss_ratio": 1 - got[name] / offered[name]} for name in offered}
