"""A small network for the validators: two edges, a middle, a serial line and a slow multilink bundle.

``phone1 — r1 ═ 2 Mb/s ═ r2 ═ 256 kb/s ═ r3 — phone2``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import (
    Device,
    DeviceRole,
    Framing,
    Interface,
    Link,
    Network,
    Station,
    TrafficFlow,
    TrafficSource,
)
from qosforge.inventory.models import TrafficScenario as Scenario
from qosforge.plan.model import InterfacePlan, Plan

INTENT = """\
version: 1
intent: small
classes:
  - name: voice
    match: {any: [{application: [rtp-audio]}, {dscp: [ef, af41]}]}
    mark: {dscp: af41, cos: 5}
    treatment: {priority: {percent: 30}}
    objective: {delay: {p95: 100 ms, p99: 150 ms}}
  - name: web
    match: {any: [{application: [http]}]}
    mark: {dscp: af21, cos: 2}
    treatment: {bandwidth: {remaining_percent: 70}}
  - name: control
    match: {any: [{dscp: [cs6]}]}
    treatment: {bandwidth: {remaining_percent: 5}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 25}}
link_efficiency:
  - {when: {rate_below: 768 kb/s}, header_compression: rtp, fragment: {blocking_delay: 16 ms}}
apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
  - {role: edge, interfaces: lan, direction: input}
verify:
  - {from: phone1, to: phone2, classes: [voice], beside: [web]}
"""

RUNNING = {
    "r1": "hostname r1\n!\ninterface FastEthernet0/0\n!\ninterface Serial0/0\n bandwidth 2000\n!\nend\n",
    "r2": "hostname r2\n!\ninterface Serial0/1\n bandwidth 2000\n!\ninterface Multilink1\n bandwidth 256\n"
    " ppp multilink\n ppp multilink group 1\n!\nend\n",
    "r3": "hostname r3\n!\ninterface FastEthernet0/0\n!\ninterface Multilink1\n bandwidth 256\n ppp multilink\n"
    " ppp multilink group 1\n!\nend\n",
}


def _router(name: str, role: DeviceRole, *interfaces: Interface) -> Device:
    return Device(name=name, platform="cisco_ios", image="12.4", role=role, driver="ios", interfaces=interfaces)


def _wan(name: str, rate: int, role: DeviceRole, framing: Framing) -> Interface:
    return Interface(name=name, rate=rate, role=role, tags=frozenset({"wan"}), encapsulation=framing)


def _lan(role: DeviceRole) -> Interface:
    return Interface(name="FastEthernet0/0", rate=100_000_000, role=role, tags=frozenset({"lan"}))


def _flow(name: str, application: str, port: int, source: TrafficSource) -> TrafficFlow:
    return TrafficFlow(
        name=name, from_="phone1", to="phone2", application=application, dst_port=port, source=source
    )


EDGE, MIDDLE = DeviceRole.EDGE, DeviceRole.MIDDLE
NETWORK = Network(
    name="small",
    devices=(
        _router("r1", EDGE, _lan(EDGE), _wan("Serial0/0", 2_000_000, EDGE, Framing.HDLC)),
        _router(
            "r2",
            MIDDLE,
            _wan("Serial0/1", 2_000_000, MIDDLE, Framing.HDLC),
            _wan("Multilink1", 256_000, MIDDLE, Framing.MLPPP),
        ),
        _router("r3", EDGE, _wan("Multilink1", 256_000, EDGE, Framing.MLPPP), _lan(EDGE)),
    ),
    links=(
        Link(a=("r1", "Serial0/0"), b=("r2", "Serial0/1"), rate=2_000_000, delay=1e-3, framing=Framing.HDLC),
        Link(a=("r2", "Multilink1"), b=("r3", "Multilink1"), rate=256_000, delay=2e-3, framing=Framing.MLPPP),
    ),
    stations=(
        Station(name="phone1", address="192.0.2.10", attach=("r1", "FastEthernet0/0"), rate=100_000_000),
        Station(name="phone2", address="198.51.100.10", attach=("r3", "FastEthernet0/0"), rate=100_000_000),
        Station(name="island", address="203.0.113.10", attach=("alone", "1"), rate=100_000_000),
    ),
    traffic=(
        Scenario(
            name="calls",
            title="Calls beside the web",
            between=(("phone1", "phone2"),),
            flows=(
                _flow("call", "rtp-audio", 16384, TrafficSource(kind="cbr", rate=80_000, ip_bytes=200)),
                _flow("page", "http", 80, TrafficSource(kind="tcp")),
            ),
        ),
    ),
)


def compiled(
    intent: str = INTENT, network: Network = NETWORK, running: Mapping[str, str] | None = None
) -> Compilation:
    """The small intent on the small network."""
    return compile_intent(parse_intent(intent, "small.yaml"), network, running)


def with_device(
    compilation: Compilation, name: str, change: Callable[[CompiledDevice], CompiledDevice]
) -> Compilation:
    """A compilation with one device's result replaced."""
    devices = tuple(change(d) if d.name == name else d for d in compilation.devices)
    assert any(d.name == name for d in compilation.devices)
    return replace(compilation, devices=devices)


def without_device(compilation: Compilation, name: str) -> Compilation:
    """A compilation whose intent leaves one device alone."""
    return replace(compilation, devices=tuple(d for d in compilation.devices if d.name != name))


def with_interface(compilation: Compilation, device: str, interface: str, **changes: object) -> Compilation:
    """A compilation with fields of one interface plan replaced."""

    def changed(entry: InterfacePlan) -> InterfacePlan:
        return entry.model_copy(update=changes) if entry.name == interface else entry

    def planned(result: CompiledDevice) -> CompiledDevice:
        plan: Plan = result.plan
        assert plan.interface(interface) is not None
        return replace(
            result, plan=plan.model_copy(update={"interfaces": tuple(changed(i) for i in plan.interfaces)})
        )

    return with_device(compilation, device, planned)
