"""What of a plan OpenConfig carries, field by field: kept, said in its own words, or told as left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from qosforge.errors import InputError
from qosforge.findings import Finding, Severity
from qosforge.openconfig.restrict import LAST_QUEUE, restrict
from qosforge.openconfig.scheduling import drop_denominator, drop_percent
from qosforge.openconfig.terms import CARRIED
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import (
    Discipline,
    Efficiency,
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
    System,
    Term,
    Trust,
)

from .plans import APPLICATIONS, SETTINGS, plan

EF = Rule(name="voice", any_of=(Term(dscp=(46,)),), set_dscp=46)
TWO = (
    Queue(number=0, priority=True, capped=True, share=Share(unit=ShareUnit.PERCENT, value=30)),
    Queue(number=1, share=Share(unit=ShareUnit.WEIGHT, value=7)),
    Queue(number=2, share=Share(unit=ShareUnit.WEIGHT, value=3)),
)
WRR = Scheduler(discipline=Discipline.WRR, queues=TWO)


def codes(given: Plan) -> list[str]:
    return [f.code for f in restrict(given, APPLICATIONS).findings]


def found(given: Plan, code: str) -> Finding:
    (finding,) = [f for f in restrict(given, APPLICATIONS).findings if f.code == code]
    return finding


def rules_of(given: Plan) -> tuple[Rule, ...]:
    return restrict(given, APPLICATIONS).plan.interfaces[0].ingress.rules


def terms_of(*terms: Term) -> tuple[Term, ...]:
    return rules_of(plan(rules=(Rule(name="gold", any_of=terms),)))[0].any_of


def scheduler_of(given: Plan) -> Scheduler | None:
    return restrict(given, APPLICATIONS).plan.interfaces[0].egress.scheduler


def test_what_the_model_has_is_kept_without_a_word() -> None:
    given = plan(rules=(EF,), scheduler=WRR)
    assert restrict(given, APPLICATIONS).findings == ()
    assert restrict(given, APPLICATIONS).plan == given


# Where a part stands in a plan, and how to put another there.
PARTS: dict[type[BaseModel], tuple[BaseModel, Callable[[Any], Plan], Callable[[Plan], Any]]] = {
    System: (System(), lambda part: plan(system=part), lambda p: p.system),
    InterfacePlan: (
        InterfacePlan(name="Serial0/0"),
        lambda part: plan(interfaces=(part,)),
        lambda p: p.interfaces[0],
    ),
    Efficiency: (
        Efficiency(),
        lambda part: plan(interfaces=(InterfacePlan(name="Serial0/0", efficiency=part),)),
        lambda p: p.interfaces[0].efficiency,
    ),
    Ingress: (
        Ingress(policy="IN", rules=(EF,)),
        lambda part: plan(interfaces=(InterfacePlan(name="Serial0/0", ingress=part),)),
        lambda p: p.interfaces[0].ingress,
    ),
    Egress: (
        Egress(policy="OUT", scheduler=WRR),
        lambda part: plan(interfaces=(InterfacePlan(name="Serial0/0", egress=part),)),
        lambda p: p.interfaces[0].egress,
    ),
    Rule: (EF, lambda part: plan(rules=(part,)), lambda p: next(iter(p.interfaces[0].ingress.rules), None)),
    Term: (
        Term(dscp=(46,)),
        lambda part: plan(rules=(Rule(name="voice", any_of=(part, Term(dscp=(34,)))),)),
        lambda p: p.interfaces[0].ingress.rules[0].any_of[0],
    ),
    Scheduler: (WRR, lambda part: plan(scheduler=part), lambda p: p.interfaces[0].egress.scheduler),
    Queue: (
        TWO[1],
        lambda part: plan(scheduler=Scheduler(discipline=Discipline.WRR, queues=(TWO[0], part, TWO[2]))),
        lambda p: p.interfaces[0].egress.scheduler.queues[1],
    ),
}
SAID_OTHERWISE = {
    (System, "queue_on_input"): "rules of the input choose the queue",
    (System, "schema_version"): "",
    (Queue, "capped"): "of a strict queue only",
    (Term, "precedence"): "as DSCPs",
    (Egress, "scheduler"): "by the parts below",
    (Egress, "rules"): "by the parts below",
    (Ingress, "rules"): "by the parts below",
    (InterfacePlan, "ingress"): "by the parts below",
    (InterfacePlan, "egress"): "by the parts below",
    (Scheduler, "queues"): "by the parts below",
    (Queue, "number"): "two queues would have one number",
}
VALUES: dict[tuple[type[BaseModel], str], Any] = {
    (System, "cos_to_dscp"): tuple(range(0, 64, 8)),
    (System, "dscp_to_cos"): tuple(d >> 3 for d in range(64)),
    (System, "cos_to_queue"): (1,) * 8,
    (System, "dscp_to_queue"): (1,) * 64,
    (System, "scheduler"): WRR,
    (Rule, "any_of"): (Term(dscp=(34,)),),
    (Rule, "none_of"): (Term(dscp=(34,)),),
    (Rule, "name"): "video",
    (Rule, "set_dscp"): 34,
    (Rule, "set_cos"): 5,
    (Rule, "queue"): 1,
    (Term, "dscp"): (34,),
    (Term, "cos"): (5,),
    (Term, "source"): "10.0.0.0/8",
    (Term, "destination"): "2001:db8::/32",
    (Term, "protocol"): 17,
    (Term, "source_ports"): (PortRange(first=5060, last=5061),),
    (Term, "destination_ports"): (PortRange(first=80, last=80),),
    (Term, "application"): "http",
    (Egress, "default_queue"): 2,
    (Ingress, "trust"): Trust.DSCP,
    (Ingress, "policy"): "OTHER",
    (Egress, "policy"): "OTHER",
    (Ingress, "port_cos"): 3,
    (Scheduler, "discipline"): Discipline.SRR,
    (Queue, "red"): Red(profiles=(RedProfile(minimum=20, maximum=40),)),
    (Queue, "share"): Share(unit=ShareUnit.WEIGHT, value=9),
    (Queue, "name"): "gold",
    (Queue, "priority"): True,
    (InterfacePlan, "name"): "Serial0/1",
    (InterfacePlan, "efficiency"): Efficiency(ip_mtu=256),
}
FIELDS = [(part, name) for part in PARTS for name in part.model_fields if (part, name) not in SAID_OTHERWISE]


@SETTINGS
@given(data=st.data())
@pytest.mark.parametrize(("part", "name"), FIELDS, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_every_field_is_kept_or_told(part: type[BaseModel], name: str, data: st.DataObject) -> None:
    """Fields that come to the plan later are drawn by their type: they too must be told."""
    base, put, get = PARTS[part]
    value = data.draw(_other_values(part, name))
    changed = base.model_copy(update={name: value})
    restricted = restrict(put(changed), APPLICATIONS)
    kept = getattr(get(restricted.plan), name, None) == value
    assert kept or restricted.findings


@cache
def _other_values(part: type[BaseModel], name: str) -> st.SearchStrategy[Any]:
    """Values of a field that its part does not have: made once, as each new strategy is checked."""
    held = getattr(PARTS[part][0], name)
    strategy = (
        st.just(VALUES[part, name]) if (part, name) in VALUES else _values(part.model_fields[name].annotation)
    )
    return strategy.filter(lambda v: v != held)


@cache
def _values(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a type. Tuples are short: models within models would else have thousands of parts."""
    arguments = get_args(annotation)
    if arguments[1:] == (...,):
        return st.lists(_values(arguments[0]), max_size=2).map(tuple)
    if get_origin(annotation) in (Union, UnionType):
        return st.one_of([_values(argument) for argument in arguments])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        return st.deferred(lambda: st.builds(annotation, **{n: _values(f.annotation) for n, f in fields.items()}))
    return st.from_type(annotation)


def test_terms_are_split_by_port_ranges_and_precedence_becomes_dscps() -> None:
    one, two = PortRange(first=20, last=21), PortRange(first=80, last=80)
    split = terms_of(Term(protocol=6, source_ports=(one, two), destination_ports=(one,)))
    assert split == (
        Term(protocol=6, source_ports=(one,), destination_ports=(one,)),
        Term(protocol=6, source_ports=(two,), destination_ports=(one,)),
    )
    assert terms_of(Term(precedence=(5,))) == (Term(dscp=tuple(range(40, 48))),)
    assert terms_of(Term(precedence=(5,), dscp=(46, 34))) == (Term(dscp=(46,)),)
    assert terms_of(Term(source="10.1.2.3/16")) == (Term(source="10.1.0.0/16"),)


def test_an_application_becomes_its_ports() -> None:
    port = (PortRange(first=80, last=80),)
    assert terms_of(Term(application="http")) == (
        Term(protocol=6, destination_ports=port),
        Term(protocol=6, source_ports=port),
    )
    told = found(
        plan(rules=(Rule(name="web", any_of=(Term(application="http"),)),)), "openconfig-application-by-ports"
    )
    assert (told.severity, told.traffic_class, told.interface) == (Severity.WARNING, "web", "Serial0/0")


@pytest.mark.parametrize(
    ("term", "says"),
    [
        (Term(cos=(5,)), "does not match cos"),
        (Term(application="unheard-of"), "ports of unheard-of are not known"),
        (Term(application="http", protocol=6), "http together with a protocol or ports"),
        (Term(protocol=255), "no protocol 255"),
        (Term(source="10.0.0.0/8", destination="2001:db8::/32"), "addresses of two families"),
        (Term(precedence=(1,), dscp=(46,)), "its DSCP and its precedence"),
    ],
)
def test_an_alternative_that_cannot_be_said_is_left_out_and_told(term: Term, says: str) -> None:
    given = plan(rules=(Rule(name="gold", any_of=(term, Term(dscp=(46,)))),))
    assert rules_of(given)[0].any_of == (Term(dscp=(46,)),)
    assert says in found(given, "openconfig-match-not-carried").message


def test_a_class_without_alternatives_left_is_an_error_not_a_class_of_everything() -> None:
    given = plan(rules=(Rule(name="tagged", any_of=(Term(cos=(5,)),)), EF))
    assert rules_of(given) == (EF,)
    assert found(given, "openconfig-class-not-carried").severity is Severity.ERROR


def test_a_class_with_exceptions_is_left_out_rather_than_widened() -> None:
    given = plan(rules=(EF.model_copy(update={"none_of": (Term(protocol=6),)}),))
    assert rules_of(given) == ()
    assert "no exceptions" in found(given, "openconfig-class-not-carried").message


def test_trust_and_maps_become_rules() -> None:
    every = Term()
    untrusted = Ingress(trust=Trust.NONE, rules=(EF, Rule(name="keep", any_of=(Term(dscp=(34,)),))))
    given = plan(interfaces=(InterfacePlan(name="Serial0/0", ingress=untrusted),))
    assert [(r.name, r.set_dscp, r.set_cos) for r in rules_of(given)] == [
        ("voice", 46, None),
        ("keep", 0, 0),
        ("untrusted", 0, 0),
    ]
    assert rules_of(given)[-1].any_of == (every,)
    assert "openconfig-trust-as-rules" in codes(given)

    by_cos = System(dscp_to_cos=tuple(d >> 3 for d in range(64)), cos_to_queue=(1, 1, 2, 2, 1, 0, 1, 1))
    output = restrict(plan(system=by_cos, scheduler=WRR), APPLICATIONS).plan.interfaces[0].egress.rules
    assert [(r.queue, r.any_of[0].dscp) for r in output if r.queue != 1] == [
        (0, tuple(range(40, 48))),
        (2, tuple(range(16, 32))),
    ]
    alone = System(cos_to_queue=by_cos.cos_to_queue)
    assert "openconfig-map-not-carried" in codes(plan(system=alone, scheduler=WRR))


def test_a_choice_on_input_by_trusted_dscp_becomes_rules_of_the_input() -> None:
    system = System(queue_on_input=True, dscp_to_queue=(1,) * 46 + (0,) + (1,) * 17)
    trusted = InterfacePlan(
        name="Serial0/0", ingress=Ingress(trust=Trust.DSCP), egress=Egress(policy="OUT", scheduler=WRR)
    )
    restricted = restrict(plan(system=system, interfaces=(trusted,)), APPLICATIONS).plan.interfaces[0]
    assert [(r.queue, len(r.any_of[0].dscp)) for r in restricted.ingress.rules] == [(0, 1), (1, 63)]
    assert restricted.egress.rules == ()


def test_trust_in_the_cos_is_left_out_and_told() -> None:
    given = plan(interfaces=(InterfacePlan(name="Serial0/0", ingress=Ingress(trust=Trust.COS)),))
    assert found(given, "openconfig-trust-not-carried").severity is Severity.WARNING


def test_guarantees_become_weights_and_the_rest_takes_what_they_leave() -> None:
    shares = (Share(unit=ShareUnit.PERCENT, value=50), Share(unit=ShareUnit.PERCENT, value=30), None)
    queues = tuple(
        Queue(number=n, name=f"c{n}", priority=n == 0, capped=n == 0, share=share) for n, share in enumerate(shares)
    )
    given = plan(scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues))
    carried = scheduler_of(given)
    assert carried is not None
    assert carried.discipline is Discipline.WRR
    assert [(q.share.unit.value, q.share.value) for q in carried.queues if q.share] == [
        ("percent", 50),
        ("weight", 30),
        ("weight", 20),
    ]
    assert found(given, "openconfig-share-as-weight").requested == "30 percent"


def test_rates_weigh_in_lowest_terms_and_the_rest_takes_what_the_link_leaves() -> None:
    rates = (Share(unit=ShareUnit.KBPS, value=800), Share(unit=ShareUnit.KBPS, value=700), None)
    queues = tuple(Queue(number=n, priority=n == 0, capped=n == 0, share=share) for n, share in enumerate(rates))
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues)
    entry = InterfacePlan(name="Serial0/0", bandwidth_kbps=2000, egress=Egress(policy="OUT", scheduler=scheduler))
    carried = scheduler_of(plan(interfaces=(entry,)))
    assert carried is not None
    assert [q.share.value for q in carried.queues if q.share] == [800, 7, 5]


def test_strict_queues_come_first_and_keep_their_order() -> None:
    queues = (Queue(number=1), Queue(number=3, priority=True), Queue(number=2), Queue(number=4, priority=True))
    carried = scheduler_of(plan(scheduler=Scheduler(discipline=Discipline.SRR, queues=queues)))
    assert carried is not None
    assert [q.number for q in carried.queues] == [3, 4, 1, 2]


def test_several_drop_profiles_become_that_of_unmarked_packets_in_bytes() -> None:
    profiles = (
        RedProfile(precedence=(5,), minimum=31, maximum=40),
        RedProfile(precedence=(0,), minimum=20, maximum=40),
    )
    given = plan(scheduler=WRR.model_copy(update={"queues": (*TWO[:2], _red(Red(profiles=profiles)))}))
    carried = scheduler_of(given)
    assert carried is not None
    assert carried.queues[2].red == Red(unit="bytes", profiles=(RedProfile(minimum=30000, maximum=60000),))
    assert found(given, "openconfig-wred-approximate").applied == "30000 to 60000 bytes, 1 in 10"
    other = Red(unit="ms", profiles=profiles)
    refused = plan(scheduler=WRR.model_copy(update={"queues": (*TWO[:2], _red(other))}))
    assert "openconfig-wred-not-carried" in codes(refused)


def test_the_one_profile_of_a_linux_router_is_carried_as_it_is() -> None:
    profile = RedProfile(minimum=15_000, maximum=45_000, denominator=50)
    held = Red(weight_exponent=5, unit="bytes", profiles=(profile,), ecn=True, even=True, idle_decay=False)
    for red, told in ((held, False), (held.model_copy(update={"by_dscp": True}), True)):
        given = plan(scheduler=WRR.model_copy(update={"queues": (*TWO[:2], _red(red))}))
        carried = scheduler_of(given)
        assert carried is not None
        assert carried.queues[2].red == Red(weight_exponent=5, unit="bytes", profiles=(profile,), ecn=True)
        assert ("openconfig-wred-approximate" in codes(given)) is told


def _red(red: Red) -> Queue:
    return TWO[2].model_copy(update={"red": red})


def test_a_drop_probability_that_was_rounded_is_not_rounded_again() -> None:
    for denominator in range(1, 400):
        once = drop_denominator(drop_percent(denominator))
        assert drop_denominator(drop_percent(once)) == once


def test_queues_of_one_name_are_told_apart() -> None:
    queues = tuple(Queue(number=n, name=name) for n, name in enumerate(["idle", "idle", "queue-7", "queue-3"]))
    carried = scheduler_of(plan(scheduler=Scheduler(discipline=Discipline.WRR, queues=queues)))
    assert carried is not None
    assert [q.name for q in carried.queues] == ["idle", "idle.1", "queue-7.2", None]


def test_policies_of_one_name_and_different_rules_are_told_apart() -> None:
    entries = [
        InterfacePlan(name=f"Serial0/{n}", ingress=Ingress(policy="IN", rules=(EF, other)))
        for n, other in enumerate([EF, EF, Rule(name="video", any_of=(Term(dscp=(34,)),))])
    ]
    restricted = restrict(plan(interfaces=tuple(entries)), APPLICATIONS).plan
    assert [e.ingress.policy for e in restricted.interfaces] == ["IN", "IN", "IN.2"]


def test_a_policy_of_nothing_is_told() -> None:
    entry = InterfacePlan(name="Serial0/0", ingress=Ingress(policy="IN"), egress=Egress(policy="OUT"))
    told = restrict(plan(interfaces=(entry,)), APPLICATIONS).findings
    assert [(f.code, f.direction) for f in told] == [
        ("openconfig-policy-not-carried", "input"),
        ("openconfig-policy-not-carried", "output"),
    ]


def test_a_finding_on_several_interfaces_is_told_once() -> None:
    entries = tuple(
        InterfacePlan(name=f"Serial0/{n}", efficiency=Efficiency(header_compression=True)) for n in range(3)
    )
    told = found(plan(interfaces=entries), "openconfig-link-efficiency-not-carried")
    assert told.message.endswith("(on Serial0/0, Serial0/1, Serial0/2)")
    assert told.interface is None


def test_a_queue_beyond_a_byte_is_refused() -> None:
    with pytest.raises(InputError, match=f"queue {LAST_QUEUE + 1} has no place"):
        restrict(plan(rules=(EF.model_copy(update={"queue": LAST_QUEUE + 1}),)), APPLICATIONS)


def test_every_field_of_a_term_is_known_or_refused() -> None:
    assert set(Term.model_fields) >= CARRIED
