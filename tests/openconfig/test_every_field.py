"""Every field of a plan is carried, or told: a value in any of them changes the document's plan or its findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from qosforge.openconfig.restrict import RestrictedPlan, restrict
from qosforge.plan.early_drop import Red, RedProfile, TailThreshold
from qosforge.plan.input_queues import InputQueues
from qosforge.plan.model import (
    DROP,
    Action,
    CircuitPlan,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Plan,
    Policer,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
    TunnelGroup,
    UnknownLine,
)

from .plans import APPLICATIONS

POLICER = Policer(rate=64000, burst=8000)
INNER = Egress(scheduler=Scheduler(discipline=Discipline.FIFO, queues=(Queue(number=0),)))
BASE = Plan(
    device="r1",
    platform="cisco_ios",
    interfaces=(
        InterfacePlan(
            name="Serial0/0",
            ingress=Ingress(policy="IN", rules=(Rule(name="gold", any_of=(Term(dscp=(46,)),), set_dscp=46),)),
            egress=Egress(
                policy="OUT",
                rules=(Rule(name="gold", any_of=(Term(dscp=(46,)),), queue=0),),
                default_queue=1,
                scheduler=Scheduler(
                    discipline=Discipline.WRR,
                    queues=(
                        Queue(
                            number=0,
                            name="gold",
                            share=Share(unit=ShareUnit.WEIGHT, value=3),
                            red=Red(unit="bytes", profiles=(RedProfile(minimum=3000, maximum=9000),)),
                        ),
                        Queue(number=1, name="rest", share=Share(unit=ShareUnit.WEIGHT, value=1)),
                    ),
                ),
            ),
        ),
    ),
)
"""A plan of which everything is carried."""
OTHER: dict[type[BaseModel], dict[str, Any]] = {
    Plan: {"unknown": (UnknownLine(line=1, text="fair-queue"),)},
    System: {
        "cos_to_dscp": (0, 8, 16, 24, 32, 46, 48, 56), "dscp_to_cos": (1,) * 64, "cos_to_queue": (1,) * 8,
        "dscp_to_queue": (1,) * 64, "queue_set": 2, "policed_dscp": (1,) * 64,
        "dropped_first": (10, 12), "inside_tunnels": ("Tunnel0",),
        "input_queues": InputQueues(weights=(4, 4), buffer_percent=(90, 10)),
    },
    InterfacePlan: {
        "name": "Serial0/1", "bandwidth_kbps": 2000, "reservable_percent": 90, "circuit": CircuitPlan(dlci=100),
        "efficiency": Efficiency(multiclass=True), "groups": (TunnelGroup(group="G", egress=Egress(policy="P")),),
    },
    Ingress: {
        "policy": "OTHER", "trust": Trust.DSCP, "port_cos": 3, "policers": (InterfacePolicer(police=POLICER),),
    },
    Rule: {
        "name": "silver", "none_of": (Term(dscp=(8,)),), "set_dscp": 10, "set_cos": 3, "set_precedence": 5,
        "set_drop_precedence": "high", "police": POLICER, "queue": 1, "set_qos_group": 3, "set_mpls_imposition": 5,
        "set_mpls_topmost": 4,
    },
    Term: {
        "dscp": (8,), "cos": (5,), "precedence": (3,), "application": "http", "protocol": 6, "source": "10.0.0.0/8",
        "destination": "2001:db8::/32", "source_ports": (PortRange(first=1, last=2),),
        "destination_ports": (PortRange(first=1, last=2),), "source_mac": "001b.54aa.bbcc",
        "destination_mac": "001b.54aa.bbcd", "input_interface": "Serial0/0", "vlan": (10,),
        "mpls_experimental": (5,), "qos_group": (3,),
    },
    Egress: {
        "policy": "OTHER", "default_queue": 0, "policers": (InterfacePolicer(police=POLICER),), "transmit_ring": 5,
        "shape_rate": 64000, "shape_burst": 4000,
    },
    Scheduler: {"discipline": Discipline.STRICT, "limit_percent": 90, "divides_guarantees": True},
    Queue: {
        "number": 4, "name": "silver", "priority": True, "share": Share(unit=ShareUnit.WEIGHT, value=7),
        "limit_packets": 10, "red": None, "fair": True, "shape_weight": 4, "shape_rate": 64000, "burst": 3000,
        "police": POLICER, "limit_bytes": 9000, "limit_ms": 20,
        "thresholds": (TailThreshold(dscp=(8,), percent=50),),
        "buffer_percent": 25, "level": 2, "child": INNER, "flows": 64, "shape_percent": 50,
        "shape_burst_bits": 8000, "shape_excess_bits": 8000, "shape_burst_ms": 20, "shape_excess_ms": 20,
    },
    Red: {"weight_exponent": 4, "unit": "packets", "profiles": (), "ecn": True},
    RedProfile: {"dscp": (8,), "precedence": (1,), "minimum": 4, "maximum": 10**5, "denominator": 50},
}  # fmt: skip
UNSEEN = {
    (Plan, "schema_version"), (Plan, "device"), (Plan, "platform"), (Plan, "system"), (Plan, "interfaces"),
    (Plan, "foreign_lists"), (Plan, "flow_control"),
    (System, "scheduler"), (System, "queue_on_input"), (System, "express_forwarding"),
    (Plan, "switched"), (Plan, "filter_masks"), (InterfacePlan, "ingress"), (InterfacePlan, "egress"),
    (Ingress, "rules"), (Rule, "any_of"), (Egress, "rules"), (Egress, "scheduler"), (Scheduler, "queues"),
    (Queue, "capped"), (System, "ietf_circuits"),
    (System, "ipv6"), (System, "encrypting"), (System, "untrusted_keeps_dscp"), (Rule, "ipv4"),
    (Red, "by_dscp"), (Red, "stated"), (RedProfile, "colour"), (Red, "even"), (Red, "idle_decay"),
    (Plan, "auto_qos"), (Plan, "schedulers"), (Scheduler, "decoupled"),
    (Plan, "mtus"), (Plan, "schedulers_in_use"), (Plan, "filtered_inputs"),
}  # fmt: skip
"""What is no setting of a device, changed below through what it holds, or without effect by itself."""


def parts(path: tuple[str | int, ...], value: Any) -> Iterator[tuple[tuple[str | int, ...], BaseModel]]:
    """Every model in a plan with its place."""
    if isinstance(value, BaseModel):
        yield path, value
        for name in type(value).model_fields:
            yield from parts((*path, name), getattr(value, name))
    elif isinstance(value, tuple):
        for at, entry in enumerate(value):
            yield from parts((*path, at), entry)


def put(whole: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A plan with another value at a place."""
    if not path:
        return value
    first, *rest = path
    if isinstance(whole, tuple):
        assert isinstance(first, int)
        return (*whole[:first], put(whole[first], tuple(rest), value), *whole[first + 1 :])
    below = put(getattr(whole, str(first)), tuple(rest), value)
    return type(whole).model_validate({**dict(whole), str(first): below})


CASES = [
    (path, type(part), name)
    for path, part in parts((), BASE)
    for name, value in OTHER.get(type(part), {}).items()
    if getattr(part, name) != value
]


def restricted(plan: Plan) -> RestrictedPlan:
    return restrict(plan, APPLICATIONS)


def test_nothing_of_the_plan_is_told() -> None:
    assert restricted(BASE).findings == ()


@pytest.mark.parametrize(("path", "model", "name"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_value_is_carried_or_told(path: tuple[str | int, ...], model: type[BaseModel], name: str) -> None:
    changed = put(BASE, (*path, name), OTHER[model][name])
    assert changed != BASE
    before, after = restricted(BASE), restricted(changed)
    assert (before.plan, before.findings) != (after.plan, after.findings)


@pytest.mark.parametrize("police", [POLICER.model_copy(update={"exceed": Action(set_dscp=8)}), POLICER])
def test_a_policer_of_a_class_is_told(police: Policer) -> None:
    changed = put(BASE, ("interfaces", 0, "ingress", "rules", 0, "police"), police)
    assert [f.code for f in restricted(changed).findings] == ["openconfig-police-not-carried"]
    assert DROP.drop


@pytest.mark.parametrize("model", OTHER)
def test_no_field_is_forgotten(model: type[BaseModel]) -> None:
    """A new field of a plan needs a place here: carried, told, or without effect."""
    known = {*OTHER[model], *(name for other, name in UNSEEN if other is model)}
    assert set(model.model_fields) == known
