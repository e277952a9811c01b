"""A campus network through the product: inventory, running configurations and intents to runs in the twin.

Devices do what their startup configurations say as parsed, defaults that are not printed included, or what an
intent compiled for them makes of those. Rates are of frame bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from msgspec.structs import replace

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.compiler.merged_configuration import merged_tree, running_tree
from qosforge.configtree.tree_text import tree_text
from qosforge.errors import InputError, InputErrors, Place, ServiceError
from qosforge.experiments.cases import Case, SubjectSelection, read_described
from qosforge.experiments.model import Claim, ClaimKind, Experiment, Relation
from qosforge.findings import Severity
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.plan.model import Plan
from qosforge.plan.shares import expected_shares
from qosforge.platforms.base import platform
from qosforge.resources import path_of, read_text
from qosforge.tester.scenario.sources import PHASE_SECONDS
from qosforge.tester.twin import TwinTester
from qosforge.twin.described import read_source
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import PS, FlowSpec, LinkSpec, NodeSpec, PacketSpec, PortSpec, TwinScenario

PUBLISHED = "published"
"""Subjects whose figures are the paper's own cells, to recompute what it made of them."""
FIRST_PORT = 20000
_PROTOCOLS = {"tcp": 6, "tcp_session": 6}


def cases(experiment: Experiment) -> Iterator[Case]:
    """A case for every scenario that offers traffic, or for each of its loads, and the paper's own cells."""
    held = _Network(experiment)
    for name, scenario in experiment.scenarios.items():
        setup = {**experiment.setup, **scenario}
        if setup.get("offered", True) == []:
            continue
        plans = held.plans(setup.get("policy"), tuple(setup.get("unconfigured", ())))
        tester = TwinTester(held.network, plans)
        for load in setup.get("loads", [None]):
            flows = _flows(experiment, tester, setup, load)
            nodes, links = _topology(tester, setup)
            yield Case(
                scenarios=(name,),
                document=TwinScenario(
                    version=VERSION,
                    duration_ps=round((setup["warm_up"] + setup["seconds"]) * PS),
                    warmup_ps=round(setup["warm_up"] * PS),
                    nodes=nodes,
                    links=links,
                    flows=tuple(flow for group in flows.values() for flow in group),
                ),
                subjects=_subjects(experiment, setup, plans, flows),
                load=load,
                trials=setup["trials"],
            )
    yield from _published(experiment)


def _topology(tester: TwinTester, setup: Mapping[str, Any]) -> tuple[tuple[NodeSpec, ...], tuple[LinkSpec, ...]]:
    """The network; ``switching`` is how devices forward, ``transmit_ring`` what waits in hardware at the wire."""
    nodes, links = tester.topology()
    ring = setup.get("transmit_ring")
    return tuple(
        replace(
            node,
            switching=setup.get("switching", node.switching),
            ports=node.ports if ring is None else tuple(_with_ring(port, 1 + ring) for port in node.ports),
        )
        if node.name in tester.plans
        else node
        for node in nodes
    ), links


def _with_ring(port: PortSpec, packets: int) -> PortSpec:
    return port if port.egress is None else replace(port, egress=replace(port.egress, tx_fifo_packets=packets))


@dataclass(frozen=True)
class _Network:
    """The experiment's inventory with what its devices hold."""

    experiment: Experiment

    @property
    def network(self) -> Network:
        return _network(self.experiment.setup["network"])

    def plans(self, policy: str | None, unconfigured: Sequence[str]) -> Mapping[str, Plan]:
        """What each device does: ``policy`` on those that it applies to, but for the ``unconfigured`` ones.

        Raises:
            ServiceError: a device is named that is not there, or the policy cannot be had here.
        """
        name = self.experiment.name
        unknown = sorted(set(unconfigured) - {device.name for device in self.network.devices})
        if unknown:
            raise ServiceError(f"experiment {name}: unconfigured: no device is called {', '.join(unknown)}")
        configured = {} if policy is None else _compiled(self.experiment.setup["network"], policy)
        texts = _startup(self.experiment.setup["network"])
        plans = {}
        for device in self.network.devices:
            adapter = platform(device.platform, device.name)
            text = texts[device.name]
            if device.name in configured and device.name not in unconfigured:
                made = configured[device.name]
                text = tree_text(
                    merged_tree(made.request, made.blocks, running_tree(made.request, text)), adapter.grammar
                )
            plans[device.name] = adapter.parse(text, device.name, device.image)
        return plans


@cache
def _network(folder: str) -> Network:
    try:
        return load_network(path_of(f"{folder}/hosts.yaml").parent)
    except (InputError, InputErrors) as error:
        raise ServiceError(f"the network of an experiment cannot be used: {error}") from None


@cache
def _startup(folder: str) -> Mapping[str, str]:
    return {device.name: read_text(f"{folder}/{device.startup}") for device in _network(folder).devices}


@cache
def _compiled(folder: str, policy: str) -> Mapping[str, CompiledDevice]:
    try:
        found = compile_intent(load_intent(path_of(policy)), _network(folder), _startup(folder))
    except (InputError, InputErrors) as error:
        raise ServiceError(f"the policy of an experiment cannot be used: {error}") from None
    for finding in found.findings:
        if finding.severity is Severity.ERROR:
            raise ServiceError(f"{policy} on {folder}: {finding.message}", Place(device=finding.device))
    return {device.name: device for device in found.devices}


def _flows(
    experiment: Experiment, tester: TwinTester, setup: Mapping[str, Any], load: float | None
) -> dict[str, list[FlowSpec]]:
    """The twin's flows by the name of their description.

    ``injected`` multiplies those that may be; of those ``swept`` there are as many as the load says.
    """
    descriptions: Mapping[str, Mapping[str, Any]] = setup["flows"]
    wanted: Sequence[str] = setup.get("offered", list(descriptions))
    flows = {}
    for name in wanted:
        if name not in descriptions:
            raise ServiceError(f"experiment {experiment.name}: offered: no flow is called {name!r}")
        said = descriptions[name]
        count = said.get("count", 1) * (setup.get("injected", 1) if said.get("injected") else 1)
        if load is not None and said.get("swept"):
            count = int(load)
        like = _flow(experiment, tester, name, said)
        flows[name] = [_numbered(like, number, count) for number in range(count)]
    return flows


def _numbered(flow: FlowSpec, number: int, count: int) -> FlowSpec:
    """One of ``count`` flows like ``flow``, from a port of its own."""
    packet = replace(flow.packet, src_port=FIRST_PORT + number)
    return replace(flow, name=flow.name if count == 1 else f"{flow.name}-{number + 1}", packet=packet)


def _flow(experiment: Experiment, tester: TwinTester, name: str, said: Mapping[str, Any]) -> FlowSpec:
    try:
        source, target = (tester.network.station(said[end]) for end in ("from", "to"))
    except KeyError as error:
        raise ServiceError(f"experiment {experiment.name}: flow {name}: no station or end {error}") from None
    # Flows begin at a random moment, so that they are not in step, unless they say how they stand to each other.
    sending = dict(said["source"])
    if "phase" not in sending:
        sending.setdefault("phase_ps", round(PHASE_SECONDS * PS))
    path = tester.path(source, target)
    if "until" in said:
        # Measured at the far end of this line.
        end = tuple(said["until"])
        if end not in path:
            raise ServiceError(f"experiment {experiment.name}: flow {name}: until: not on its way")
        path = path[: path.index(end) + 1]
    back = tester.path(target, source) if sending["kind"] in _PROTOCOLS else None
    return FlowSpec(
        name=name,
        path=path,
        return_path=back,
        packet=PacketSpec(
            dscp=said.get("dscp", 0),
            cos=said.get("cos", 0),
            protocol=_PROTOCOLS.get(sending["kind"], said.get("protocol", 17)),
            src=source.address,
            dst=target.address,
            dst_port=said["dst_port"],
            application=said.get("application"),
        ),
        source=read_described(read_source, sending),
    )


def _subjects(
    experiment: Experiment,
    setup: Mapping[str, Any],
    plans: Mapping[str, Plan],
    flows: Mapping[str, Sequence[FlowSpec]],
) -> dict[str, SubjectSelection]:
    """Subjects of the scenario: those that have a flow in it."""
    named: Mapping[str, Sequence[str]] = setup["subjects"]
    facts = {name: float(value) for name, value in setup.get("facts", {}).items()}
    if "path" in setup:
        facts["levels"] = float(_levels(plans, setup["path"]))
    shares = _shares(plans, *setup["backlogged_at"]) if "backlogged_at" in setup else {}
    whole = setup.get("whole")
    found = {}
    for subject, parts in named.items():
        names = tuple(flow.name for part in parts for flow in flows.get(part, ()))
        if names:
            expected = {"throughput_ratio": shares[subject.lower()]} if subject.lower() in shares else {}
            found[subject] = SubjectSelection(
                flows=names, facts=facts, expected=expected, whole=None if subject == whole else whole
            )
    if not found:
        raise ServiceError(f"experiment {experiment.name}: no subject has a flow that is offered")
    return found


def _shares(plans: Mapping[str, Plan], device: str, interface: str) -> dict[str, float]:
    """Shares of the line by class, in lower case, where all of them have more to send (fluid model)."""
    held = plans[device].interface(interface)
    scheduler = held.egress.scheduler if held else None
    if held is None or scheduler is None:
        raise ServiceError(f"{device} {interface} serves no classes", hint="name an interface that has a policy")
    shares = expected_shares(scheduler, (held.bandwidth_kbps or 0) * 1000)
    return {(queue.name or "").lower(): share for queue, share in zip(scheduler.queues, shares, strict=True)}


def _levels(plans: Mapping[str, Plan], devices: Sequence[str]) -> int:
    """Levels of 802.1p priority that all the devices tell apart by their maps from CoS to queue."""
    return min(len(plans[device].system.cos_to_queue or ()) for device in devices)


def _published(experiment: Experiment) -> Iterator[Case]:
    """The paper's own cells by scenario: claims of plain figures that were measured."""
    cells: dict[str, dict[str, dict[str, float]]] = {}
    for claim in experiment.claims:
        if _is_cell(claim):
            assert isinstance(claim.value, float)
            subjects = cells.setdefault(claim.scenario, {})
            subjects.setdefault(f"{PUBLISHED}.{claim.subject}", {})[claim.metric] = claim.value
    for scenario, values in cells.items():
        selections = {subject: SubjectSelection() for subject in values}
        yield Case(scenarios=(scenario,), document=None, subjects=selections, values=values)


def _is_cell(claim: Claim) -> bool:
    return (
        claim.kind is ClaimKind.MEASURED
        and claim.type is Relation.APPROX
        and not claim.derived
        and claim.against is None
        and claim.where.startswith("Table")
    )
