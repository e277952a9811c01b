"""Classes of random intents judged by sets of packets and by Batfish: they have to agree."""

from __future__ import annotations

import json
import os
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pybatfish.client.session import Session

from qosforge.batfish.analysis_copy import analysis_copy
from qosforge.batfish.class_filters import PREFIX, ClassFilters, ComparedPolicy, class_filters
from qosforge.batfish.copy_rules import copy_rules
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.errors import QosforgeError
from qosforge.findings import has_errors
from qosforge.intent.loader import parse_intent
from qosforge.packet_sets.space import PacketSet, PacketSpace
from qosforge.packet_sets.terms import of_rule
from qosforge.plan.model import Egress, Plan, Rule
from tests.compiler.goldens import every_platform
from tests.compiler.support import intents as intents_of_routers
from tests.importing.test_random import intents as intents_of_all

from .test_batfish import random_term

pytestmark = pytest.mark.batfish
INTENTS = int(os.environ.get("QOSFORGE_BATFISH_INTENTS", "25"))
"""How many random intents; 200 say more."""
_AT_ONCE = 40
"""Devices in one snapshot."""
_FORMATTED = tuple(d for d in every_platform().devices if copy_rules(d.platform) is not None)
_APPLY = (
    {"interfaces": "lan", "direction": "input"},
    {"interfaces": ["wan", "trunk"], "direction": "output"},
)

Rules = Mapping[str, tuple[Rule, ...]]
"""The rules of a device by policy."""


@dataclass(frozen=True)
class _Case:
    """A device as it is compiled, and a plan that is another one: some classes have other alternatives."""

    intent: str
    made: CompiledDevice
    changed: Plan


def test_both_judge_the_classes_of_random_intents_alike() -> None:
    cases = list(_cases())
    counts: Counter[str] = Counter()
    faults = []
    for at in range(0, len(cases), _AT_ONCE):
        faults += _disagreements(
            {f"r{number}": case for number, case in enumerate(cases[at : at + _AT_ONCE])}, counts
        )
    assert faults == [], counts
    for asked in ("WIDER", "NARROWER", "REACHED"):
        assert counts[f"{asked} found"] > INTENTS // 5, counts
        assert counts[f"{asked} not found"] > INTENTS // 5, counts


def _disagreements(cases: Mapping[str, _Case], counts: Counter[str]) -> Iterator[str]:
    filters = class_filters((name, _copy(case.made), case.changed) for name, case in cases.items())
    found = _asked(filters)
    for policy in filters.policies:
        case = cases[policy.device]
        meant = dict(_policies(case.changed))[policy.policy]
        ours = _judged(policy, dict(_policies(case.made.plan))[policy.policy], meant)
        for (asked, number), verdict in ours.items():
            there = (policy.node, f"{PREFIX}-{asked}-{number}") in found
            counts[f"{asked} {'' if there else 'not '}found"] += 1
            if there is not verdict:
                name = policy.classes[number - 1].name
                yield f"{asked} {name} of {case.made.name}: {verdict} by sets, {there} by Batfish\n  {case.intent}"


def _judged(policy: ComparedPolicy, held: tuple[Rule, ...], meant: tuple[Rule, ...]) -> dict[tuple[str, int], bool]:
    """What sets of packets say of each class that Batfish is asked about: whether there is such a packet."""
    text, plan = ({rule.name: rule for rule in rules} for rules in (held, meant))
    space = PacketSpace()
    domain = _domain(space)
    verdicts: dict[tuple[str, int], bool] = {}
    earlier = space.nothing
    for number, each in enumerate(policy.classes, 1):
        if not each.asked:
            continue
        packets, wanted = (of_rule(space, rules[each.name]) & domain for rules in (text, plan))
        found = {"REACHED": packets - earlier, "WIDER": packets - wanted, "NARROWER": wanted - packets}
        verdicts.update({(asked, number): not found[asked].is_empty for asked in each.asked})
        earlier |= packets
    return verdicts


def _domain(space: PacketSpace) -> PacketSet:
    """The packets that Batfish knows: of IPv4, and none of TCP or UDP with port 0."""
    ports = space.among("source_port", [0]) | space.among("destination_port", [0])
    return space.ipv4 - (ports & space.among("protocol", [6, 17]))


def _asked(filters: ClassFilters) -> set[tuple[str, str]]:
    """The filters of Batfish that let a packet through, each with its file."""
    session = Session(host=os.environ["QOSFORGE_BATFISH_HOST"])
    network = f"qosforge-classes-{uuid.uuid4()}"
    session.set_network(network)
    try:
        with TemporaryDirectory() as snapshot:
            configs = Path(snapshot) / "configs"
            configs.mkdir()
            for name, text in filters.files.items():
                (configs / name).write_text(text, encoding="utf-8")
            session.init_snapshot(snapshot, name="classes")
        issues = session.q.initIssues().answer().frame()
        assert issues.empty, issues.to_string()
        rows = session.q.searchFilters(filters=f"/{PREFIX}-/", action="permit").answer().frame()
        return {(row.Node, row.Filter_Name.strip("~").rpartition("~")[2]) for row in rows.itertuples()}
    finally:
        session.delete_network(network)


def _cases() -> Iterator[_Case]:
    """Devices of random intents, each with a changed plan."""
    found: list[_Case] = []

    @settings(
        max_examples=INTENTS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        document=st.one_of(_flow_intents(), intents_of_all(), intents_of_routers().map(json.loads)),
        seed=st.integers(),
    )
    def draw(document: dict[str, Any], seed: int) -> None:
        choose = random.Random(seed)
        text = json.dumps({**document, "apply": list(_APPLY)})
        made = list(_compiled(text))
        assume(made)
        some = choose.sample(made, min(2, len(made)))
        found.extend(_Case(text, device, _changed_plan(device.plan, choose)) for device in some)

    draw()
    yield from found


@st.composite
def _flow_intents(draw: st.DrawFn) -> dict[str, Any]:
    """An intent of classes that are told by headers of IPv4 alone."""
    choose = random.Random(draw(st.integers()))
    classes = [
        {
            "name": f"c{at}",
            "match": {"any": [_words(choose) for _ in range(choose.randint(1, 3))]},
            "mark": {"dscp": at},
        }
        for at in range(1, choose.randint(3, 10))
    ]
    return {"version": 1, "intent": "random", "classes": classes}


def _words(choose: random.Random) -> dict[str, Any]:
    """A term as an intent writes it."""
    term = random_term(choose)
    found: dict[str, Any] = {"protocol": 17 if term.protocol is None else term.protocol}
    for side in ("source", "destination"):
        if (prefix := getattr(term, side)) is not None:
            found[side] = prefix
        for ports in getattr(term, f"{side}_ports"):
            found[f"{side}_port"] = f"{ports.first}-{ports.last}"
    return found | ({"dscp": list(term.dscp)} if term.dscp else {})


def _compiled(text: str) -> Iterator[CompiledDevice]:
    """The devices that can have an intent."""
    for device in _FORMATTED:
        with suppress(QosforgeError):
            alone = every_platform().model_copy(update={"devices": (device,)})
            whole = compile_intent(parse_intent(text, "random.yaml"), alone)
            if not has_errors(whole.findings):
                yield from (made for made in whole.devices if dict(_policies(made.plan)))


def _policies(plan: Plan) -> Iterator[tuple[str, tuple[Rule, ...]]]:
    for interface in plan.interfaces:
        for side in (interface.ingress, interface.egress, interface.egress.dividing):
            if side.policy is not None and side.rules:
                yield side.policy, side.rules


def _changed_plan(plan: Plan, choose: random.Random) -> Plan:
    """A plan whose policies have other rules, alike wherever they are attached."""
    changed = {
        policy: tuple(_changed(rule, choose) for rule in rules) for policy, rules in dict(_policies(plan)).items()
    }

    def of(side: Any) -> Any:
        return side.model_copy(update={"rules": changed.get(side.policy, side.rules)} if side.rules else {})

    def out(egress: Egress) -> Egress:
        inside = egress.dividing
        if inside is egress or egress.scheduler is None:
            return of(egress)
        queues = (egress.scheduler.queues[0].model_copy(update={"child": of(inside)}),)
        return of(egress).model_copy(update={"scheduler": egress.scheduler.model_copy(update={"queues": queues})})

    interfaces = tuple(
        i.model_copy(update={"ingress": of(i.ingress), "egress": out(i.egress)}) for i in plan.interfaces
    )
    return plan.model_copy(update={"interfaces": interfaces})


def _changed(rule: Rule, choose: random.Random) -> Rule:
    """A rule with an alternative more, or one less, or as it is."""
    match choose.randrange(3):
        case 0:
            term = random_term(choose).model_copy(update={"precedence": ()})
            return rule.model_copy(update={"any_of": (*rule.any_of, term)})
        case 1 if len(rule.any_of) > 1:
            return rule.model_copy(update={"any_of": rule.any_of[1:]})
    return rule


def _copy(made: CompiledDevice) -> Any:
    lines = made.text.splitlines()
    rules = copy_rules(made.request.platform)
    assert rules is not None
    return analysis_copy(lines, lines, rules, made.name)
