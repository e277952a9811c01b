"""An inventory as a lab: an emulated device for each, with credentials of its own, and traffic through it.

The lab is a distribution of its own, ``qoslab``. An installation that only manages real devices goes without it:
it is imported where it is started or asked.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qosforge.errors import InputError, NotInstalled, Place, ServiceError
from qosforge.inventory.models import Network, TrafficFlow
from qosforge.inventory.overlay import state_folder
from qosforge.inventory.probes import GuestHost, LabHost
from qosforge.system_packages import install_command, parts
from qosforge.tester.counters.offered_load import OfferedPackets

if TYPE_CHECKING:
    from qoslab.control import Overlay

USERNAME = "qosforge"
OFFERED_PACKETS = 1000
"""Packets of each flow: enough to tell any mix of classes apart, whatever else moves a counter by a few."""
_PROTOCOLS = {"tcp": 6, "udp": 17}


@dataclass(frozen=True)
class KernelRouterRun:
    """What a Linux kernel did with packets: when each was sent, and when received (ns; None: lost)."""

    sent_ns: tuple[int, ...]
    received_ns: tuple[int | None, ...]


def run_kernel_router(
    commands: Sequence[str],
    dscps: Sequence[int],
    packets: tuple[Sequence[int], Sequence[int], Sequence[int]],
    *,
    drain_s: float,
) -> KernelRouterRun:
    """Send packets through a Linux router in virtual time.

    ``commands`` are told to the router (``tc``, its interface is ``out``). ``packets`` are times (ns, in order),
    numbers of flows, each with its DSCP in ``dscps``, and bytes of frames.

    Raises:
        NotInstalled: the lab or a package of the operating system is missing.
        ServiceError: the kernel does not run, or refuses a command.
    """
    _require_lab()
    from qoslab.errors import LabError  # noqa: PLC0415
    from qoslab.virtual_time import Mark, Packets, RouterPlan, run_router  # noqa: PLC0415

    _require_packages("virtual-time")
    plan = RouterPlan(tuple(commands), tuple(map(Mark, dscps)), Packets(*packets), drain_s)
    try:
        run = run_router(plan)
    except LabError as error:
        raise ServiceError(str(error)) from None
    return KernelRouterRun(run.sent_ns, run.received_ns)


def start_lab(
    network: Network, folder: Path, state: Path, clock_scale: float = 1.0, *, virtual_time: bool = False
) -> Overlay:
    """Start the lab of a network and wait until every device listens; a running one is left as it is.

    ``folder`` is the inventory's, which holds the startup configurations. ``virtual_time``: Linux routers run in a
    guest whose clock counts instructions.

    Raises:
        InputError: a device has no startup configuration, or the lab's credentials cannot be used.
        NotInstalled: the lab is not installed, or a package of the operating system that virtual time takes.
        ServiceError: the lab does not start.
    """
    _require_lab()
    if virtual_time:
        _require_packages("virtual-time-network")
    from qoslab import control  # noqa: PLC0415
    from qoslab.errors import LabError  # noqa: PLC0415
    from qoslab.spec import BoxSpec, LinkSpec, NetworkSpec, StationSpec  # noqa: PLC0415

    login = _credentials(state)
    devices = []
    for device in network.devices:
        path = (folder / device.startup).resolve() if device.startup else None
        if path is None or not path.is_file():
            raise InputError(
                "no startup configuration for its emulated device",
                Place(device=device.name),
                "give 'startup' in hosts.yaml a file below the inventory",
            )
        devices.append(
            BoxSpec(
                name=device.name,
                platform=device.platform,
                image=device.image,
                features=dict.fromkeys(device.features, True),
                startup_config=path,
                **login,
            )
        )
    links = [
        *(LinkSpec(a=link.a, b=link.b, rate=link.rate) for link in network.links),
        *(
            LinkSpec(
                a=station.attach, rate=station.rate, station=StationSpec(name=station.name, address=station.address)
            )
            for station in network.stations
        ),
    ]
    spec = NetworkSpec(
        network=network.name, boxes=devices, links=links, clock_scale=clock_scale, virtual_time=virtual_time
    )
    try:
        return control.start(spec, state)
    except LabError as error:
        raise ServiceError(str(error), hint=f"see {state / 'lab.log'}") from None


def stop_lab(state: Path, *, clean: bool = False) -> bool:
    """Stop the lab that runs in ``state``; whether one was stopped. ``clean`` forgets what its devices kept, too.

    Raises:
        NotInstalled: the lab is not installed.
        ServiceError: the lab does not stop.
    """
    _require_lab()
    from qoslab import control  # noqa: PLC0415
    from qoslab.errors import LabError  # noqa: PLC0415

    try:
        stopped = control.stop(state)
        if clean:
            control.clean(state)
    except LabError as error:
        raise ServiceError(str(error)) from None
    return stopped


def lab_devices(state: Path) -> frozenset[str] | None:
    """The devices of the lab that runs in ``state``; ``None`` where none runs.

    Raises:
        NotInstalled: the lab is not installed.
        ServiceError: it runs and does not answer.
    """
    _require_lab()
    answer = _status(state)
    if answer is None:
        return None
    held = (answer.get(kind) for kind in ("boxes", "routers"))
    return frozenset(name for kind in held if isinstance(kind, dict) for name in kind)


def running_labs(var: Path) -> list[str]:
    """The networks whose lab runs with this run directory, by name.

    Raises:
        NotInstalled: the lab is not installed.
    """
    _require_lab()
    from qoslab import control  # noqa: PLC0415

    return sorted(one.parent.name for one in state_folder(var, "").glob("*/pid") if control.running_pid(one.parent))


def with_lab_stations(network: Network, state: Path | None) -> Network:
    """The network with the stations of its running lab as hosts of probes, where it names no others.

    Unless its permission says so, nobody looks at processors then: the lab's routers have those of this machine,
    which the probes and everything else here keep busy.

    Raises:
        ServiceError: the lab does not answer.
    """
    if state is None or not _lab_is_installed():
        return network
    answer = _status(state) or {}
    named = {host.station for host in network.probes.hosts}
    stations = answer.get("stations", {})
    assert isinstance(stations, dict)
    in_guest = answer.get("guest_stations", {})
    assert isinstance(in_guest, dict)
    known = str(state / "known_hosts")
    made: tuple[LabHost | GuestHost, ...] = (
        *(LabHost(station=name, process=pid) for name, pid in stations.items()),
        *(GuestHost(station=name, known_hosts=known, **reached) for name, reached in in_guest.items()),
    )
    hosts = tuple(host for host in made if host.station not in named)
    added: dict[str, object] = {"hosts": (*network.probes.hosts, *hosts)}
    permission = network.probes.permission
    if hosts and "cpu_percent" not in permission.abort.model_fields_set:
        abort = permission.abort.model_copy(update={"cpu_percent": None})
        added["permission"] = permission.model_copy(update={"abort": abort})
    probes = network.probes.model_copy(update=added)
    return network.model_copy(update={"probes": probes})


def _status(state: Path) -> Mapping[str, object] | None:
    """What the lab that runs in ``state`` says of itself; ``None`` where none runs.

    Raises:
        ServiceError: it runs and does not answer.
    """
    from qoslab import control  # noqa: PLC0415
    from qoslab.errors import LabError  # noqa: PLC0415

    try:
        return control.status(state)
    except LabError as error:
        raise ServiceError(str(error), hint=f"see {state / 'lab.log'}") from None


def _lab_is_installed() -> bool:
    return find_spec("qoslab") is not None


def _require_packages(name: str) -> None:
    part = parts()[name]
    if missing := part.missing():
        raise NotInstalled(f"{part.title} lacks {', '.join(missing)}", hint=install_command(missing))


def _require_lab() -> None:
    if not _lab_is_installed():
        hint = "install them: pip install 'qosforge[lab]'"
        raise NotInstalled("the emulated devices, the package qoslab, are not installed", hint=hint)


def _credentials(state: Path) -> dict[str, str]:
    path = state / "credentials.json"
    try:
        if path.is_file():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return {key: stored[key] for key in ("username", "password", "secret")}
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        credentials = {
            "username": USERNAME,
            "password": secrets.token_urlsafe(12),
            "secret": secrets.token_urlsafe(12),
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(credentials), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be used: {error.strerror}", Place(file=str(path))) from None
    except (ValueError, KeyError, TypeError):
        hint = "forget the lab and start it anew: qosforge lab clean, qosforge lab up"
        raise InputError("does not hold the lab's credentials", Place(file=str(path)), hint) from None
    return credentials


def emulated_devices(state: Path | None) -> frozenset[str]:
    """The devices of the lab that runs in ``state`` that are emulated: those that answer and forward nothing.

    Raises:
        ServiceError: the lab does not answer.
    """
    if state is None or not _lab_is_installed():
        return frozenset()
    boxes = (_status(state) or {}).get("boxes", {})
    assert isinstance(boxes, dict)
    return frozenset(boxes)


def offer_traffic(network: Network, state: Path, packets: int = OFFERED_PACKETS) -> tuple[OfferedPackets, ...]:
    """Carry ``packets`` of every described flow hop by hop through the running lab of the network.

    Each device classifies, marks and counts by its own running configuration; the marks that leave one go into the
    next, the CoS over tagged links only. A flow comes as far as its devices are emulated.

    Returns:
        Every offer made, in order: what each device was given.

    Raises:
        NotInstalled: the lab is not installed.
        ServiceError: the lab does not answer, or a device has no such interface.
    """
    _require_lab()
    emulated = emulated_devices(state)
    offers: list[OfferedPackets] = []
    for scenario in network.traffic:
        for flow in scenario.flows:
            offers += _carry_flow(network, state, flow, packets, emulated)
    return tuple(offers)


def _carry_flow(
    network: Network, state: Path, flow: TrafficFlow, packets: int, emulated: Collection[str]
) -> Iterator[OfferedPackets]:
    source, target = network.station(flow.from_), network.station(flow.to)
    device, into = source.attach
    waiting = [
        OfferedPackets(
            device=device,
            into=into,
            out="",
            packets=packets,
            size=flow.source.ip_bytes,
            dscp=flow.dscp,
            cos=0,
            tagged=False,
            protocol=_PROTOCOLS[flow.protocol],
            source=source.address,
            destination=target.address,
            source_port=flow.src_port,
            destination_port=flow.dst_port,
            application=flow.application,
        )
    ]
    for hop in network.path(source.name, target.name):
        if hop[0] not in emulated:
            return  # a kernel of its own takes real packets alone
        offers_out = [replace(offer, out=hop[1]) for offer in waiting]
        outcomes = [(offer, outcome) for offer in offers_out for outcome in _offer_packets(state, offer)]
        yield from offers_out
        end = network.neighbour(hop)
        if end is None:
            return  # the target's own port
        link, (device, into) = end
        waiting = [
            replace(
                offer,
                device=device,
                into=into,
                packets=outcome["count"] - outcome["dropped_in"] - outcome["dropped_out"],
                dscp=outcome["dscp_out"],
                cos=outcome["cos_out"] if link.tagged else 0,
                tagged=link.tagged,
            )
            for offer, outcome in outcomes
        ]
        waiting = [offer for offer in waiting if offer.packets]


def _offer_packets(state: Path, offer: OfferedPackets) -> list[dict[str, Any]]:
    from qoslab import control  # noqa: PLC0415
    from qoslab.errors import LabError  # noqa: PLC0415

    group = {
        "count": offer.packets,
        "bytes": offer.size,
        "dscp": offer.dscp,
        "cos": offer.cos,
        "tagged": offer.tagged,
        "protocol": offer.protocol,
        "src": offer.source,
        "dst": offer.destination,
        "src_port": offer.source_port,
        "dst_port": offer.destination_port,
        "application": offer.application or "",
    }
    try:
        return control.offer(state, offer.device, offer.into, offer.out, [group])
    except LabError as error:
        raise ServiceError(str(error), Place(device=offer.device), f"see {state / 'lab.log'}") from None
