"""What a plan does to one packet."""

from __future__ import annotations

import pytest

from qosforge.plan.model import (
    Action,
    Discipline,
    Egress,
    Ingress,
    InterfacePolicer,
    Policer,
    PortRange,
    Queue,
    Rule,
    Scheduler,
    System,
    Term,
    Trust,
)
from qosforge.validation.packets import Packet, enter, marked, matches, queue_of, takes

PACKET = Packet(
    source="192.0.2.7", destination="198.51.100.7", dscp=34, cos=3, application="http", protocol=6, port=80
)
DEFAULT_MAP = tuple(8 * cos for cos in range(8))
BY_CLASS = tuple(dscp // 8 for dscp in range(64))
FOUR = Scheduler(discipline=Discipline.WRR, queues=tuple(Queue(number=n) for n in (1, 2, 3, 4)))


@pytest.mark.parametrize(
    ("trust", "tagged", "dscp", "cos"),
    [
        (Trust.KEEP, True, 34, 3),
        (Trust.NONE, True, 0, 0),
        (Trust.COS, True, 24, 3),
        (Trust.COS, False, 0, 0),
        (Trust.PHONE, True, 24, 3),
        (Trust.DSCP, True, 34, 4),
        (Trust.DSCP, False, 34, 4),
    ],
)
def test_trust(trust: Trust, tagged: bool, dscp: int, cos: int) -> None:
    system = System(cos_to_dscp=DEFAULT_MAP, dscp_to_cos=BY_CLASS)
    packet = enter(system, Ingress(trust=trust), PACKET, tagged=tagged)
    assert (packet.dscp, packet.cos) == (dscp, cos)


def test_port_cos_stands_for_a_missing_tag() -> None:
    system = System(cos_to_dscp=DEFAULT_MAP)
    assert enter(system, Ingress(trust=Trust.COS, port_cos=5), PACKET, tagged=False).dscp == 40
    assert enter(system, Ingress(trust=Trust.NONE, port_cos=5), PACKET, tagged=True).dscp == 40


def test_first_rule_wins_over_the_next_and_over_trust() -> None:
    rules = (
        Rule(name="udp", any_of=(Term(protocol=17),), set_dscp=46),
        Rule(name="web", any_of=(Term(dscp=(1,)), Term(application="http")), set_dscp=18, queue=2),
        Rule(name="all", any_of=(Term(),), set_dscp=8),
    )
    packet = enter(System(dscp_to_cos=BY_CLASS), Ingress(trust=Trust.NONE, rules=rules), PACKET, tagged=True)
    assert (packet.dscp, packet.cos, packet.group) == (18, 2, 2)


def test_rule_may_set_the_cos_itself_and_one_without_terms_never_matches() -> None:
    rules = (Rule(name="empty", set_dscp=1), Rule(name="all", any_of=(Term(),), set_cos=6))
    packet = enter(System(), Ingress(rules=rules), PACKET, tagged=True)
    assert (packet.dscp, packet.cos) == (34, 6)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (Term(), True),
        (Term(dscp=(34, 46)), True),
        (Term(dscp=(46,)), False),
        (Term(precedence=(4,)), True),
        (Term(precedence=(5,)), False),
        (Term(cos=(3,)), True),
        (Term(cos=(5,)), False),
        (Term(application="ftp"), False),
        (Term(protocol=17), False),
        (Term(protocol=6, destination_ports=(PortRange(first=80, last=90),)), True),
        (Term(destination_ports=(PortRange(first=81, last=90),)), False),
        (Term(source_ports=(PortRange(first=0, last=65535),)), False),
        (Term(source="192.0.2.0/24"), True),
        (Term(destination="192.0.2.0/24"), False),
    ],
)
def test_matches(term: Term, expected: bool) -> None:
    assert matches(term, PACKET) is expected


def test_output_policy_chooses_before_maps() -> None:
    egress = Egress(rules=(Rule(name="a", any_of=(Term(dscp=(34,)),), queue=4),), default_queue=1)
    system = System(dscp_to_queue=(2,) * 64)
    assert queue_of(system, egress, FOUR, PACKET) == 4
    assert queue_of(system, egress, FOUR, PACKET._replace(dscp=0)) == 1


def test_without_output_policy_input_choice_then_maps_then_default() -> None:
    system = System(dscp_to_queue=(2,) * 64, cos_to_queue=(3,) * 8)
    egress = Egress(default_queue=1)
    assert queue_of(system, egress, FOUR, PACKET._replace(group=4)) == 4
    assert queue_of(system, egress, FOUR, PACKET) == 2
    assert queue_of(System(cos_to_queue=(3,) * 8), egress, FOUR, PACKET) == 3
    assert queue_of(System(), egress, FOUR, PACKET) == 1
    assert queue_of(System(), Egress(), FOUR, PACKET) is None


def test_policers_before_the_policy_mark_until_one_sends() -> None:
    system = System(dscp_to_cos=BY_CLASS)
    web = (Term(protocol=6),)

    def first(**conform: object) -> Ingress:
        action = Action.model_validate(conform)
        policers = (
            InterfacePolicer(any_of=(Term(protocol=17),), police=policer(Action(set_dscp=46))),
            InterfacePolicer(any_of=web, police=policer(action)),
            InterfacePolicer(police=policer(Action(set_dscp=8))),
        )
        return Ingress(policers=policers, rules=(Rule(name="c", any_of=web, set_dscp=10),))

    def policer(conform: Action) -> Policer:
        return Policer(rate=8000, burst=1000, conform=conform)

    assert enter(system, first(set_precedence=7), PACKET, tagged=True).dscp == 7 << 3 | 34 & 7
    assert enter(system, first(set_dscp=18), PACKET, tagged=True).cos == 2
    assert enter(system, first(), PACKET, tagged=True).dscp == 34
    assert enter(system, first(set_precedence=1, proceed=True), PACKET, tagged=True).dscp == 8


def test_a_rule_may_set_the_precedence_alone() -> None:
    rule = Rule(name="c", any_of=(Term(),), set_precedence=5)

    assert enter(System(), Ingress(rules=(rule,)), PACKET, tagged=True).dscp == 5 << 3 | 34 & 7


def test_marked_packet_has_the_marks_of_its_class() -> None:
    assert marked(System(), PACKET, 46, 5) == PACKET._replace(dscp=46, cos=5)
    assert marked(System(dscp_to_cos=BY_CLASS), PACKET, 18, 7).cos == 2


def test_a_rule_leaves_what_it_excepts_and_what_is_never_known() -> None:
    packet = Packet(source="10.1.0.1", destination="10.2.0.1", dscp=46)
    taking = Rule(name="r", any_of=(Term(dscp=(46,)),))

    assert takes(taking, packet)
    assert not takes(taking.model_copy(update={"none_of": (Term(source="10.1.0.0/16"),)}), packet)
    assert takes(taking.model_copy(update={"none_of": (Term(source="10.3.0.0/16"),)}), packet)
    assert not takes(Rule(name="r", any_of=(Term(input_interface="Serial0/0"),)), packet)
