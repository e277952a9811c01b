"""Pieces that the Catalysts share: access list entries, lines that stand for absence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.compiler.candidate import find_plan_differences
from qosforge.configtree import merge, transition
from qosforge.plan.model import PortRange, Term
from qosforge.platforms.catalyst_2950 import PLATFORM as C2950
from qosforge.platforms.mqc.access_lists import AccessLists, entries

from .catalyst_support import BOXES, as_config, delta, intent, lowered, rendered, startup

_PORTS = st.tuples(st.integers(0, 65535), st.integers(0, 65535)).map(
    lambda pair: PortRange(first=min(pair), last=max(pair))
)
_ADDRESS = st.one_of(st.none(), st.sampled_from(["10.0.0.0/8", "192.168.3.0/24", "192.168.3.15/32"]))


def read_entry(line: str) -> tuple[Term, ...]:
    """What a list of this one entry permits."""
    return AccessLists(C2950.commands.read(f"ip access-list extended L\n {line}\n")).terms("L")


@given(
    protocol=st.sampled_from([6, 17]),
    source=_ADDRESS,
    destination=_ADDRESS,
    source_ports=st.lists(_PORTS, max_size=1),
    destination_ports=st.lists(_PORTS, max_size=1),
    dscp=st.lists(st.integers(0, 63), max_size=1),
)
@settings(max_examples=60, deadline=None)
def test_entries_read_back(
    *,
    protocol: int,
    source: str | None,
    destination: str | None,
    source_ports: list[PortRange],
    destination_ports: list[PortRange],
    dscp: list[int],
) -> None:
    term = Term(
        protocol=protocol,
        source=source,
        destination=destination,
        source_ports=tuple(source_ports),
        destination_ports=tuple(destination_ports),
        dscp=tuple(dscp),
    )
    (line,) = entries((term,))
    assert read_entry(line) == (term,)


def test_well_known_ports_are_printed_by_name() -> None:
    term = Term(protocol=6, destination_ports=(PortRange(first=20, last=21), PortRange(first=80, last=80)))
    assert entries((term,)) == ("permit tcp any any range ftp-data ftp", "permit tcp any any eq www")


@pytest.mark.parametrize(
    "line", ["deny ip any any", "permit tcp any", "permit tcp any any established", "permit x any any"]
)
def test_entries_that_terms_do_not_hold(line: str) -> None:
    assert read_entry(line) == ()


def test_a_negated_line_stands_for_absence() -> None:
    grammar = C2950.grammar
    current = grammar.parse(
        "mls qos map dscp-cos 10 to 0\nmls qos map cos-dscp 0 8 16 26 32 46 48 56\n"
        "interface FastEthernet0/1\n mls qos trust cos\n speed 100\n"
    )
    wanted = grammar.parse(
        "no mls qos map dscp-cos\nno mls qos map cos-dscp\ninterface FastEthernet0/1\n no mls qos trust\n"
    )
    target = merge(current, wanted, grammar)
    assert as_config(target) == "interface FastEthernet0/1\n speed 100\n"
    assert set(transition(current, target, grammar)) == {
        "no mls qos map dscp-cos",
        "no mls qos map cos-dscp",
        "interface FastEthernet0/1",
        " no mls qos trust",
    }
    assert transition(target, merge(target, wanted, grammar), grammar) == []


_DSCPS = ("cs1", "af11", "cs2", "af21", "cs3", "af31", "cs4", "af41", "ef")


@given(
    device=st.sampled_from(["s2950", "s2970"]),
    marks=st.lists(st.sampled_from(_DSCPS), min_size=1, max_size=3, unique=True),
    priority=st.booleans(),
    shares=st.lists(st.integers(1, 25), min_size=4, max_size=4),
)
@settings(max_examples=25, deadline=None)
def test_any_intent_reads_back_and_can_be_taken_back(
    device: str, marks: list[str], priority: bool, shares: list[int]
) -> None:
    classes = [
        {
            "name": f"c{number}",
            "match": {"any": [{"application": ["http"]}, {"dscp": [mark]}]},
            "mark": {"dscp": mark},
            "treatment": {"priority": {"percent": share}}
            if priority and number == 0
            else {"bandwidth": {"percent": share}},
        }
        for number, (mark, share) in enumerate(zip(marks, shares, strict=False))
    ]
    running = startup(device)
    grammar = BOXES[device].grammar
    request, result = lowered(device, intent(*classes), running)
    _, target = delta(grammar, running, rendered(device, request, result))
    held = BOXES[device].parse(as_config(target), device, request.image)
    assert find_plan_differences(result.plan, held) == ()
    undone = transition(target, grammar.parse(running), grammar)
    assert all(line.strip().startswith(("no ", "interface ")) for line in undone)
