"""The QoS state of a port: whether it tells classes apart, compared with the factory default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.plan.model import Discipline, InterfacePlan, Plan, Scheduler, System

_DECIDES = ("scheduler", "cos_to_queue", "dscp_to_cos", "dscp_to_queue", "queue_set", "queue_on_input")
"""What of a device as a whole decides how a port without a scheduler of its own serves its queues."""


@dataclass(frozen=True)
class PortState:
    """What a port does with classes.

    ``scheduler`` serves it: its own, or, where ``shared``, that of the whole device. ``by_class``: what it sends is
    told apart as somebody configured it; a switch as delivered has queues, and no policy. ``marks``: what comes in
    is classified.
    """

    scheduler: Scheduler | None
    shared: bool
    by_class: bool
    marks: bool

    @property
    def queues(self) -> int:
        """How many queues it has."""
        return len(self.scheduler.queues) if self.scheduler else 0

    @property
    def discipline(self) -> Discipline:
        """How they share the port; of a port without any, that of one queue."""
        return self.scheduler.discipline if self.scheduler else Discipline.FIFO


def port_state(plan: Plan, interface: InterfacePlan, delivered: Iterable[System]) -> PortState:
    """The state of a port; ``delivered`` is what such a device can hold as a whole without a policy: a switch may
    come with any of several queue sets, each with the maps that belong to it.
    """
    egress = interface.egress
    own = egress.dividing.scheduler
    scheduler = own or plan.system.scheduler
    acts = bool(egress.rules or egress.policers or egress.shape_rate)
    if own is not None:
        by_class = acts or len(own.queues) > 1
    else:
        by_class = acts or (scheduler is not None and _decided(plan.system) not in map(_decided, delivered))
    ingress = interface.ingress
    return PortState(scheduler, own is None, by_class, bool(ingress.rules or ingress.policers))


def _decided(system: System) -> tuple[object, ...]:
    return tuple(getattr(system, field) for field in _DECIDES)
