"""The shape of a document: what people look for in it, under the model's own names."""

from __future__ import annotations

from typing import Any

from qosforge.openconfig.write import QOS, export_plan
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)

from .plans import APPLICATIONS, plan

CAP = Queue(number=0, name="voice", priority=True, capped=True, share=Share(unit=ShareUnit.KBPS, value=800))
REST = Queue(
    number=1,
    name="rest",
    share=Share(unit=ShareUnit.WEIGHT, value=20),
    red=Red(unit="bytes", profiles=(RedProfile(minimum=30000, maximum=60000),)),
)
MANAGED = Scheduler(discipline=Discipline.WRR, queues=(CAP, REST))
VOICE = Rule(name="voice", any_of=(Term(dscp=(46,)),), queue=0)


def qos(given: Plan) -> Any:
    return export_plan(given, APPLICATIONS).document[QOS]


def one(rows: dict[str, Any], name: str) -> Any:
    (row,) = rows[f"{name}s" if name != "scheduler-policy" else "scheduler-policies"][name]
    return row


def terms(given: Plan, kind: str) -> list[Any]:
    rows = qos(given)["classifiers"]["classifier"]
    (found,) = [row for row in rows if row["config"]["type"] == kind]
    listed: list[Any] = found["terms"]["term"]
    return listed


def test_an_empty_plan_is_an_empty_document() -> None:
    assert export_plan(Plan(device="r1", platform="cisco_ios"), APPLICATIONS).document == {QOS: {}}


def test_a_term_says_its_conditions_and_marks() -> None:
    ports = (PortRange(first=16384, last=32767),)
    term = Term(dscp=(46, 34), protocol=17, source="10.0.0.0/8", destination_ports=ports)
    given = plan(rules=(Rule(name="voice", any_of=(term,), set_dscp=34, set_cos=5),))
    assert terms(given, "IPV4") == [
        {
            "id": "1.1-voice",
            "config": {"id": "1.1-voice"},
            "conditions": {
                "ipv4": {
                    "config": {
                        "source-address": "10.0.0.0/8",
                        "dscp-set": [34, 46],
                        "protocol": "openconfig-packet-match-types:IP_UDP",
                    }
                },
                "transport": {"config": {"destination-port": "16384..32767"}},
            },
            "actions": {"remark": {"config": {"set-dscp": 34, "set-dot1p": 5}}},
        }
    ]


def test_a_term_without_addresses_stands_in_both_families_and_others_in_their_own() -> None:
    rule = Rule(name="gold", any_of=(Term(dscp=(46,)), Term(source="10.0.0.0/8"), Term(source="2001:db8::/32")))
    ids = {kind: [row["id"] for row in terms(plan(rules=(rule,)), kind)] for kind in ("IPV4", "IPV6")}
    assert ids == {"IPV4": ["1.1-gold", "1.2-gold"], "IPV6": ["1.1-gold", "1.3-gold"]}


def test_an_output_chooses_queues_through_forwarding_groups() -> None:
    output = Egress(policy="OUT", rules=(VOICE,), default_queue=1, scheduler=MANAGED)
    given = plan(interfaces=(InterfacePlan(name="Serial0/0", egress=output),))
    found = qos(given)
    assert [row["config"] for row in found["queues"]["queue"]] == [
        {"name": "voice", "queue-id": 0},
        {"name": "rest", "queue-id": 1},
    ]
    assert [row["config"] for row in found["forwarding-groups"]["forwarding-group"]] == [
        {"name": "voice", "output-queue": "voice"},
        {"name": "default", "output-queue": "rest"},
    ]
    last = terms(given, "IPV4")[-1]
    assert last == {
        "id": "default",
        "config": {"id": "default"},
        "actions": {"config": {"target-group": "default"}},
    }


def test_a_scheduler_serves_strict_queues_before_the_weighted() -> None:
    given = plan(scheduler=MANAGED)
    strict, weighted = one(qos(given), "scheduler-policy")["schedulers"]["scheduler"]
    assert strict["config"] == {
        "sequence": 0,
        "priority": "STRICT",
        "type": "openconfig-qos-types:ONE_RATE_TWO_COLOR",
    }
    assert strict["one-rate-two-color"] == {
        "config": {"cir": "800000", "queuing-behavior": "POLICE"},
        "exceed-action": {"config": {"drop": True}},
    }
    assert weighted["config"] == {"sequence": 1}
    (entry,) = weighted["inputs"]["input"]
    assert entry["config"] == {"id": "rest", "input-type": "QUEUE", "queue": "rest", "weight": "20"}


def test_a_cap_in_per_cent_names_the_whole_or_what_is_left() -> None:
    for unit, leaf in ((ShareUnit.PERCENT, "cir-pct"), (ShareUnit.REMAINING_PERCENT, "cir-pct-remaining")):
        capped = CAP.model_copy(update={"share": Share(unit=unit, value=33)})
        given = plan(scheduler=Scheduler(discipline=Discipline.STRICT, queues=(capped,)))
        (strict,) = one(qos(given), "scheduler-policy")["schedulers"]["scheduler"]
        assert strict["one-rate-two-color"]["config"][leaf] == 33


def test_a_drop_profile_stands_once_and_is_attached_by_name() -> None:
    entries = tuple(
        InterfacePlan(name=f"Serial0/{n}", egress=Egress(policy="OUT", scheduler=MANAGED)) for n in range(2)
    )
    found = qos(plan(interfaces=entries))
    profile = one(found, "queue-management-profile")
    assert profile["wred"]["uniform"]["config"] == {
        "min-threshold": "30000",
        "max-threshold": "60000",
        "max-drop-probability-percent": 10,
        "weight": 9,
        "drop": True,
    }
    for row in found["interfaces"]["interface"]:
        attached = row["output"]["queues"]["queue"][1]["config"]
        assert attached == {"name": "rest", "queue-management-profile": profile["name"]}
    assert len(found["scheduler-policies"]["scheduler-policy"]) == 1


def test_an_input_names_its_classifier() -> None:
    entry = InterfacePlan(name="Serial0/0", ingress=Ingress(policy="IN", rules=(VOICE,)))
    row = one(qos(plan(interfaces=(entry,))), "interface")
    assert row["interface-ref"] == {"config": {"interface": "Serial0/0"}}
    assert [r["config"] for r in row["input"]["classifiers"]["classifier"]] == [
        {"type": "IPV4", "name": "IN-ipv4"},
        {"type": "IPV6", "name": "IN-ipv6"},
    ]
    assert "output" not in row


def test_one_class_with_two_queues_has_two_groups() -> None:
    rules = (VOICE, VOICE.model_copy(update={"queue": 1}))
    groups = qos(plan(rules=rules))["forwarding-groups"]["forwarding-group"]
    assert [(g["name"], g["config"]["output-queue"]) for g in groups] == [
        ("voice", "queue-0"),
        ("voice.2", "queue-1"),
    ]
