"""Documents that others wrote: what a plan holds of them, what is told, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.errors import InputError
from qosforge.openconfig.read import ImportedPlan, import_document
from qosforge.openconfig.write import QOS, export_plan
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import Discipline, Plan, Share, ShareUnit

from .plans import APPLICATIONS, SETTINGS, compiled

QUEUES = {"BE1": 0, "AF1": 1, "AF4": 4, "NC1": 7}


def row(key: str, value: Any, **more: Any) -> dict[str, Any]:
    """A list entry with its key and the leaves of its configuration."""
    return {key: value, "config": {key: value, **more}}


def classifier(kind: str) -> dict[str, Any]:
    """Three terms by DSCP, as conformance tests of the model configure them."""
    listed = [("0", [0, 1], "BE1"), ("1", [8, 9], "AF1"), ("2", [48, 56], "NC1")]
    terms = [
        row("id", key)
        | {
            "conditions": {kind: {"config": {"dscp-set": dscps}}},
            "actions": {"config": {"target-group": f"group-{queue}"}},
        }
        for key, dscps, queue in listed
    ]
    return row("name", f"by_dscp_{kind}", type=kind.upper()) | {"terms": {"term": terms}}


def scheduler(sequence: int, weights: dict[str, int], **more: Any) -> dict[str, Any]:
    inputs = [row("id", q) for q in weights]
    for entry in inputs:
        queue = entry["id"]
        entry["config"] |= {"input-type": "QUEUE", "queue": queue, "weight": str(weights[queue])}
    return row("sequence", sequence, **more) | {"inputs": {"input": inputs}}


def foreign() -> Any:
    """A document in the manner of the model's own conformance tests (DP-1.2)."""
    kinds = ("ipv4", "ipv6")
    attached = [row("type", kind.upper(), name=f"by_dscp_{kind}") for kind in kinds]
    queues = [row("name", "AF4", **{"queue-management-profile": "ECN"}), row("name", "BE1")]
    return {
        QOS: {
            "queues": {"queue": [row("name", name, **{"queue-id": n}) for name, n in QUEUES.items()]},
            "forwarding-groups": {
                "forwarding-group": [row("name", f"group-{name}", **{"output-queue": name}) for name in QUEUES]
            },
            "classifiers": {"classifier": [classifier(kind) for kind in kinds]},
            "scheduler-policies": {
                "scheduler-policy": [
                    row("name", "scheduler")
                    | {
                        "schedulers": {
                            "scheduler": [
                                scheduler(1, {"BE1": 1, "AF1": 4}),
                                scheduler(0, {"AF4": 100, "NC1": 200}, priority="STRICT"),
                            ]
                        }
                    }
                ]
            },
            "queue-management-profiles": {
                "queue-management-profile": [
                    row("name", "ECN")
                    | {
                        "wred": {
                            "uniform": {
                                "config": {
                                    "min-threshold": "80000",
                                    "max-threshold": "160000",
                                    "max-drop-probability-percent": 1,
                                    "weight": 0,
                                    "drop": True,
                                }
                            }
                        }
                    }
                ]
            },
            "interfaces": {
                "interface": [
                    row("interface-id", "first")
                    | {
                        "interface-ref": {"config": {"interface": "Ethernet1"}},
                        "input": {"classifiers": {"classifier": attached}},
                        "output": {
                            "scheduler-policy": {"config": {"name": "scheduler"}},
                            "queues": {"queue": queues},
                        },
                    }
                ]
            },
        }
    }


def read(document: Any) -> ImportedPlan:
    return import_document(json.dumps(document), device="dut", file="dut.json")


def test_a_foreign_document_is_read_whole() -> None:
    imported = read(foreign())
    assert imported.findings == ()
    (entry,) = imported.plan.interfaces
    assert (entry.name, entry.ingress.policy, entry.egress.policy) == ("Ethernet1", "by_dscp_ipv4", "scheduler")
    assert [(r.name, r.any_of[0].dscp, r.queue) for r in entry.ingress.rules] == [
        ("group-BE1", (0, 1), 0),
        ("group-AF1", (8, 9), 1),
        ("group-NC1", (48, 56), 7),
    ]
    assert all(r.any_of[0].source is None for r in entry.ingress.rules)
    served = entry.egress.scheduler
    assert served is not None
    assert served.discipline is Discipline.WRR
    assert [(q.name, q.priority, q.share) for q in served.queues] == [
        ("NC1", True, None),  # the higher weight of a strict scheduler goes first
        ("AF4", True, None),
        ("BE1", False, Share(unit=ShareUnit.WEIGHT, value=1)),
        ("AF1", False, Share(unit=ShareUnit.WEIGHT, value=4)),
    ]
    profile = RedProfile(minimum=80000, maximum=160000, denominator=100)
    assert served.queues[1].red == Red(unit="bytes", weight_exponent=0, profiles=(profile,))


def test_what_was_read_exports_to_the_same_plan() -> None:
    plan = read(foreign()).plan
    again = export_plan(plan, {})
    assert again.findings == ()
    assert import_document(json.dumps(again.document), device="dut").plan == plan


def test_a_classifier_of_one_family_is_bound_to_it() -> None:
    document = foreign()
    document[QOS]["interfaces"]["interface"][0]["input"]["classifiers"]["classifier"].pop()
    imported = read(document)
    assert {r.any_of[0].source for r in imported.plan.interfaces[0].ingress.rules} == {"0.0.0.0/0"}
    assert [f.message for f in imported.findings] == [
        "classifier by_dscp_ipv6 stands at no interface and is not in the plan"
    ]


def test_families_with_other_terms_keep_their_own_order() -> None:
    document = foreign()
    document[QOS]["classifiers"]["classifier"][1]["terms"]["term"].reverse()
    rules = read(document).plan.interfaces[0].ingress.rules
    assert [(r.queue, [term.source for term in r.any_of]) for r in rules] == [
        (0, ["0.0.0.0/0"]),
        (1, ["0.0.0.0/0"]),
        (7, ["0.0.0.0/0", "::/0"]),
        (1, ["::/0"]),
        (0, ["::/0"]),
    ]


def test_consecutive_terms_of_one_group_are_one_class() -> None:
    document = foreign()
    for listed in document[QOS]["classifiers"]["classifier"]:
        listed["terms"]["term"][1]["actions"]["config"]["target-group"] = "group-BE1"
    rules = read(document).plan.interfaces[0].ingress.rules
    assert [(r.name, len(r.any_of)) for r in rules] == [("group-BE1", 2), ("group-NC1", 1)]


def _leaf(*path: str | int, value: Any) -> Callable[[Any], None]:
    def put(document: Any) -> None:
        node = document[QOS]
        for step in path[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        node[path[-1]] = value

    return put


TERM = ("classifiers", "classifier", 0, "terms", "term", 0)
STRICT = ("scheduler-policies", "scheduler-policy", 0, "schedulers", "scheduler", 1)
PROFILE = ("queue-management-profiles", "queue-management-profile", 0)
UNREAD: dict[str, tuple[Callable[[Any], None], str]] = {
    "a TTL": (_leaf(*TERM, "conditions", "ipv4", "config", "hop-limit", value=1), "config/hop-limit"),
    "an Ethertype": (_leaf(*TERM, "conditions", "l2", "config", "ethertype", value=2048), "ethertype"),
    "MPLS marks": (_leaf(*TERM, "actions", "remark", "config", "set-mpls-tc", value=3), "set-mpls-tc"),
    "a shaped queue": (_leaf(*STRICT, "one-rate-two-color", "config", "cir", value="64000"), "config/cir"),
    "two rates": (_leaf(*STRICT, "two-rate-three-color", "config", "pir", value="64000"), "config/pir"),
    "a part of a buffer": (
        _leaf(*PROFILE, "wred", "uniform", "config", "min-threshold-percent", value=5),
        "percent",
    ),
    "a fabric": (_leaf("forwarding-groups", "forwarding-group", 0, "config", "fabric-priority", value=1), "fabric"),
    "something new": (_leaf("packet-trim", "config", "symmetric-dscp", value=1), "packet-trim"),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_a_plan_has_no_place_for_is_told(case: str) -> None:
    damage, says = UNREAD[case]
    document = foreign()
    damage(document)
    told = [f.message for f in read(document).findings if f.code == "openconfig-part-not-read"]
    assert len(told) == 1
    assert says in told[0]


def test_operational_state_is_not_read_and_not_told() -> None:
    document = foreign()
    _leaf("queues", "queue", 0, "state", value={"name": "BE1"})(document)
    assert read(document).findings == ()


def test_a_queue_without_an_id_is_counted_and_told() -> None:
    document = foreign()
    del document[QOS]["queues"]["queue"][3]["config"]["queue-id"]
    imported = read(document)
    assert [f.code for f in imported.findings] == ["openconfig-queue-number-chosen"]
    assert imported.plan.interfaces[0].ingress.rules[2].queue == 2  # the lowest that is free


def test_a_probability_that_is_no_fraction_is_told() -> None:
    document = foreign()
    _leaf(*PROFILE, "wred", "uniform", "config", "max-drop-probability-percent", value=80)(document)
    (told,) = read(document).findings
    assert (told.code, told.requested, told.applied) == ("openconfig-value-approximate", "80 %", "1 in 1")


def test_a_strict_scheduler_after_weights_is_told() -> None:
    document = foreign()
    for scheduler_row, sequence in zip(
        document[QOS]["scheduler-policies"]["scheduler-policy"][0]["schedulers"]["scheduler"], (0, 1), strict=True
    ):
        scheduler_row["sequence"] = scheduler_row["config"]["sequence"] = sequence
    assert [f.code for f in read(document).findings] == ["openconfig-value-approximate"]


WRONG: dict[str, tuple[Callable[[Any], None], str]] = {
    "a DSCP of 64": (_leaf(*TERM, "conditions", "ipv4", "config", "dscp-set", value=[64]), "64 is not a number"),
    "a mark of 8": (_leaf(*TERM, "actions", "remark", "config", "set-dot1p", value=8), "from 0 to 7"),
    "a list that is none": (_leaf("queues", "queue", value={}), "is not a list"),
    "a container that is none": (_leaf("queues", value=[1]), "is not a container"),
    "no such protocol": (_leaf(*TERM, "conditions", "ipv4", "config", "protocol", value="IP_X"), "no protocol"),
    "the other family": (
        _leaf(*TERM, "conditions", "ipv4", "config", "source-address", value="::/0"),
        "is not an IPv4 prefix",
    ),
    "a range turned round": (
        _leaf(*TERM, "conditions", "transport", "config", "source-port", value="9..8"),
        "turned round",
    ),
    "no such group": (_leaf(*TERM, "actions", "config", "target-group", value="x"), "no forwarding group 'x'"),
    "no such queue": (
        _leaf("forwarding-groups", "forwarding-group", 0, "config", "output-queue", value="x"),
        "no queue 'x'",
    ),
    "another key": (_leaf("queues", "queue", 0, "config", "name", value="x"), "is not the entry's key"),
    "no key": (_leaf("queues", "queue", 0, "name", value=None), "no key"),
    "a key twice": (_leaf("queues", "queue", 1, "name", value="BE1"), "used twice"),
    "no such policy": (
        _leaf("interfaces", "interface", 0, "output", "scheduler-policy", "config", "name", value="x"),
        "no scheduler policy 'x'",
    ),
    "no such profile": (
        _leaf("interfaces", "interface", 0, "output", "queues", "queue", 0, "config", "queue-management-profile",
              value="x"),
        "no profile 'x'",
    ),
    "no such classifier": (
        _leaf("interfaces", "interface", 0, "input", "classifiers", "classifier", 0, "config", "name", value="x"),
        "no IPV4 classifier 'x'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_refused_with_its_path(case: str) -> None:
    damage, says = WRONG[case]
    document = foreign()
    damage(document)
    with pytest.raises(InputError) as refused:
        read(document)
    assert says in str(refused.value)
    assert "dut.json, /openconfig-qos:qos/" in str(refused.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    document = foreign()
    for case in ("a DSCP of 64", "a mark of 8", "no such queue"):
        WRONG[case][0](document)
    with pytest.raises(InputError) as refused:
        read(document)
    assert len(refused.value.problems()) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "has no openconfig-qos:qos"),
        ('{"openconfig-qos:qos": []}', "has no openconfig-qos:qos"),
        ("[" * 100_000, "is not JSON"),
        ('{"openconfig-qos:qos": {"a": ' + "[" * 60 + "]" * 60 + "}}", "nested more than"),
    ],
)
def test_what_is_no_document_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        import_document(text, device="dut")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["STRICT", "IPV4", "QUEUE"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["config", "name"]), inner),
    max_leaves=4,
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every member of every container and list below a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in members for found in ((value, key), *_places(inner))]


@SETTINGS
@given(st.data())
def test_a_damaged_document_gives_a_plan_or_an_error_of_ours(data: st.DataObject) -> None:
    own = export_plan(compiled()[0].plan, APPLICATIONS).document
    document = copy.deepcopy(data.draw(st.sampled_from([foreign(), own])))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(_places(document[QOS])))
        container[key] = data.draw(JUNK)
        if not _places(document[QOS]):
            break
    try:
        plan = read(document).plan
    except InputError:
        return
    assert Plan.model_validate(plan.model_dump()) == plan


def test_ecn_and_mac_addresses_are_read() -> None:
    document = foreign()
    _leaf(*TERM, "conditions", "l2", "config", "source-mac", value="00:00:5E:00:53:01")(document)
    _leaf(*PROFILE, "wred", "uniform", "config", "enable-ecn", value=True)(document)
    imported = import_document(json.dumps(document), device="r1")
    terms = [t for i in imported.plan.interfaces for r in i.ingress.rules for t in r.any_of]
    assert "0000.5e00.5301" in {t.source_mac for t in terms}
    queues = [q for i in imported.plan.interfaces if i.egress.scheduler for q in i.egress.scheduler.queues]
    assert [q.red.ecn for q in queues if q.red] == [True]


def test_a_mac_address_that_is_none_is_refused() -> None:
    document = foreign()
    _leaf(*TERM, "conditions", "l2", "config", "source-mac", value="0000.5e00.5301")(document)
    with pytest.raises(InputError, match="is not a MAC address"):
        import_document(json.dumps(document), device="r1")
