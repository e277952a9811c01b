"""Ports of devices as a policy of the library configures them: compiled for the device, in the twin's language."""

from __future__ import annotations

from functools import cache

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.errors import ServiceError
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.platforms.base import platform
from qosforge.resources import root
from qosforge.tester.scenario.ports import twin_port
from qosforge.twin.scenario import PortSpec


@cache
def _compile(policy: str, inventory: str) -> Compilation:
    loaded = load_intent(root() / "policies" / f"{policy}.yaml")
    return compile_intent(loaded, load_network(root() / "inventories" / inventory))


def policy_port(policy: str, inventory: str, device: str, interface: str, rate: int) -> PortSpec:
    """The twin's port of one interface under a policy; ``rate`` is the line's in bits per second.

    Raises:
        ServiceError: the policy configures no such interface.
    """
    for compiled in _compile(policy, inventory).devices:
        held = compiled.plan.interface(interface) if compiled.name == device else None
        if held is not None:
            return twin_port(compiled.plan, held, None, rate, platform(compiled.plan.platform, device).profile)
    raise ServiceError(
        f"{policy} configures no interface {interface} of {device} in {inventory}",
        hint="name a device and an interface that the policy applies to",
    )
