"""The algebra of sets of packets, against going through every packet of a small space."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.packet_sets.classification import NamedSet, class_of, regions
from qosforge.packet_sets.fields import Atom
from qosforge.packet_sets.space import PacketSet, PacketSpace, TooComplexError
from qosforge.packet_sets.terms import of_term, of_terms
from qosforge.plan.model import PortRange, Term

from .packets import TERMS, holds, packets

EVERY = tuple(packets())
SOME = EVERY[:: len(EVERY) // 200 | 1]
ALTERNATIVES = st.lists(TERMS, min_size=1, max_size=3)


@cache
def _space() -> PacketSpace:
    space = PacketSpace()
    for atom in sorted({atom for packet in EVERY for atom in packet.atoms}):
        space.atom(atom)
    return space


@cache
def _single(at: int) -> PacketSet:
    return _space().of(SOME[at])


def _listed(packets: PacketSet) -> set[int]:
    return {at for at in range(len(SOME)) if (_single(at) - packets).is_void}


@settings(max_examples=60)
@given(ALTERNATIVES, ALTERNATIVES)
def test_sets_hold_the_packets_that_terms_ask_for_and_combine_as_sets_do(a: list[Term], b: list[Term]) -> None:
    space = _space()
    one, other = of_terms(space, a, {}), of_terms(space, b, {})
    in_one = {at for at, packet in enumerate(SOME) if any(holds(term, packet) for term in a)}
    in_other = {at for at, packet in enumerate(SOME) if any(holds(term, packet) for term in b)}

    assert _listed(one) == in_one
    assert _listed(other) == in_other
    assert _listed(one | other) == in_one | in_other
    assert _listed(one & other) == in_one & in_other
    assert _listed(one - other) == in_one - in_other
    assert _listed(~one) == set(range(len(SOME))) - in_one


@settings(max_examples=100)
@given(ALTERNATIVES, ALTERNATIVES, ALTERNATIVES)
def test_the_laws_of_sets_hold(a: list[Term], b: list[Term], c: list[Term]) -> None:
    space = _space()
    x, y, z = (of_terms(space, terms, {}) for terms in (a, b, c))

    assert (~(x | y)).same_as(~x & ~y)
    assert (x & (y | z)).same_as((x & y) | (x & z))
    assert (x - (y | z)).same_as((x - y) - z)
    assert (x | ~x).same_as(space.everything)
    assert (x & ~x).is_empty
    assert (~~x).same_as(x)
    assert (x & y).inside(x)
    assert x.inside(x | y)
    assert x.inside(y) == (x - y).is_empty


@settings(max_examples=100)
@given(ALTERNATIVES, ALTERNATIVES)
def test_a_witness_is_a_packet_of_its_set_and_there_is_one_unless_it_is_empty(a: list[Term], b: list[Term]) -> None:
    space = _space()
    difference = of_terms(space, a, {}) - of_terms(space, b, {})

    witness = space.witness(difference)

    assert (witness is None) == difference.is_empty
    if witness is not None:
        assert space.of(witness).inside(difference)
        assert any(holds(term, witness) for term in a)
        assert not any(holds(term, witness) for term in b)
        assert str(witness)


@settings(max_examples=60)
@given(st.lists(ALTERNATIVES, min_size=1, max_size=4))
def test_a_packet_falls_into_the_first_class_that_matches(classes: list[list[Term]]) -> None:
    space = _space()
    ordered = [NamedSet(str(at), of_terms(space, terms, {})) for at, terms in enumerate(classes)]
    parts = {one.name: one.packets for one in regions(ordered)}

    for at in range(0, len(SOME), 7):
        packet, single = SOME[at], _single(at)
        first = next((str(n) for n, terms in enumerate(classes) if any(holds(t, packet) for t in terms)), None)
        assert class_of(ordered, single) == first
        assert [name for name, part in parts.items() if single.inside(part)] == ([] if first is None else [first])


def test_a_prefix_of_one_version_is_no_prefix_of_the_other() -> None:
    space = _space()
    four, six = space.prefix("source", "10.0.0.0/8"), space.prefix("source", "a00::/8")

    assert (four & six).is_empty
    assert not four.same_as(six)


def test_neighbouring_ranges_are_the_range_of_both() -> None:
    space = _space()
    ports = ((0, 5), (6, 1023), (1024, 65535))

    assert space.union(space.ports("source_port", [each]) for each in ports).same_as(
        space.ports("source_port", [(0, 65535)])
    )


def test_packets_have_one_mac_address_and_may_be_of_several_applications() -> None:
    space = _space()
    here, there = (space.atom(Atom("source_mac", value)) for value in ("001b.54aa.bbcc", "001b.54aa.bbcd"))
    rtp, audio = (space.atom(Atom("application", value)) for value in ("rtp", "rtp-audio"))

    assert (here & there).is_empty
    assert not (rtp & audio).is_empty
    assert (rtp & audio & space.possible(one_application=True)).is_void


def test_a_witness_says_what_matters_and_nothing_else() -> None:
    space = _space()
    term = Term(
        protocol=17, source="10.1.0.0/16", destination_ports=(PortRange(first=5060, last=5061),), dscp=(46,)
    )

    assert str(space.witness(of_term(space, term, {}))) == (
        "an IPv4 packet of UDP from 10.1.0.0 to port 5060 with DSCP ef"
    )
    assert str(space.witness(of_term(space, Term(precedence=(3,)), {}))) == "a packet with DSCP cs3"
    assert str(space.witness(of_term(space, Term(application="sip", cos=(5,)), {}))) == (
        "a packet with CoS 5 recognised as sip"
    )
    assert str(space.witness(of_term(space, Term(vlan=(7,)), {}))) == "a packet in VLAN 7"
    assert str(space.witness(~space.ip)) == "a frame without IP"


def test_sets_that_are_too_large_are_told() -> None:
    space = PacketSpace(1 << 10)

    with pytest.raises(TooComplexError):
        space.union(
            space.ports("source_port", [(at, at + 77)]) & space.ports("destination_port", [(7 * at, 8 * at)])
            for at in range(1, 8000, 13)
        )
