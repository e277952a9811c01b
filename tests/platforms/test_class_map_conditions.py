"""Conditions of class-maps: several lines, exceptions, lists that deny, classes inside classes.

What a configuration is read as takes the packets that the emulated router, the second opinion, puts into the class.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.plan.model import Rule, Term
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.validation.packets import Packet, takes
from qoslab.boxes.ios.classes import in_class
from qoslab.packets import Packets

from .ios_support import MODERN, booted

PROPERTY = settings(max_examples=150, deadline=None, derandomize=True, database=None)
POLICY = """\
policy-map OUT
 class X
  bandwidth percent 10
interface Serial0/0
 service-policy output OUT
"""
LISTS = """\
ip access-list extended WEB
 deny   tcp any any eq 8080
 permit tcp any any
ip access-list extended MEDIA
 permit udp any any range 16384 32767
ip access-list extended HOST
 permit ip host 10.0.0.5 any
ip access-list extended NESTED
 permit tcp any any eq www
 deny   tcp any any
 permit ip any any
"""


INNER = "match-any I\n match ip dscp ef\n"


def rule(class_maps: str) -> tuple[Rule, list[str]]:
    """The rule of class X, and the lines that are not understood."""
    plan = PLATFORM.parse(f"{LISTS}{class_maps}{POLICY}", "r9", MODERN)
    held = plan.interface("Serial0/0")
    assert held is not None
    return held.egress.rules[0], [line.text for line in plan.unknown]


def web(**more: object) -> Term:
    return Term.model_validate({"protocol": 6, **more})


def ports(*ranges: tuple[int, int]) -> list[dict[str, int]]:
    return [{"first": first, "last": last} for first, last in ranges]


@pytest.mark.parametrize(
    ("class_map", "any_of", "none_of"),
    [
        # A list that denies takes less, and with a DSCP beside it less again.
        (
            "match-all X\n match access-group name WEB\n match ip dscp af31",
            (web(dscp=(26,)),),
            (web(destination_ports=ports((8080, 8080))),),
        ),
        # What stands before a deny is permitted all the same.
        (
            "match-all X\n match access-group name NESTED",
            (web(destination_ports=ports((80, 80))), Term()),
            (web(destination_ports=ports((0, 79), (81, 65535))),),
        ),
        ("match-all X\n match ip dscp af31 cs3\n match ip dscp cs3 ef", (Term(dscp=(24,)),), ()),
        ("match-all X\n match ip dscp cs1\n match ip dscp cs2", (), ()),
        ("match-all X\n match not access-group name MEDIA\n match ip precedence 5", None, None),
        (
            "match-all X\n match access-group name HOST\n match access-group name MEDIA",
            (Term(source="10.0.0.5/32", protocol=17, destination_ports=ports((16384, 32767))),),  # type: ignore[arg-type]
            (),
        ),
        ("match-any X\n match not ip dscp ef", (Term(),), (Term(dscp=(46,)),)),
        ("match-any X\n match ip dscp af11\n match not ip dscp ef cs5", (Term(dscp=(10,)), Term()), None),
        (f"{INNER}class-map match-all X\n match class-map I\n match access-group name HOST", None, None),
        (f"{INNER}class-map match-all X\n match not class-map I", (Term(),), (Term(dscp=(46,)),)),
        (f"{INNER}class-map match-any X\n match class-map I\n match ip dscp cs5", None, None),
    ],
)  # fmt: skip
def test_what_class_maps_ask_for_together(
    class_map: str, any_of: tuple[Term, ...] | None, none_of: tuple[Term, ...] | None
) -> None:
    held, unknown = rule(f"class-map {class_map}\n")

    assert unknown == []
    assert any_of is None or held.any_of == any_of
    assert none_of is None or held.none_of == none_of
    _agrees(f"class-map {class_map}\n", held)


@pytest.mark.parametrize(
    ("class_map", "lost"),
    [
        # All that is no EF, and some of what is: no alternatives with exceptions say it.
        ("match-any X\n match access-group name WEB\n match not ip dscp ef", "match not ip dscp ef"),
        ("match-all X\n match not access-group name WEB", "match not access-group name WEB"),
        ("match-all X\n match class-map NOWHERE", "match class-map NOWHERE"),
        ("match-all X\n match class-map X", "match class-map X"),
    ],
)
def test_conditions_that_no_plan_holds_are_named(class_map: str, lost: str) -> None:
    assert rule(f"class-map {class_map}\n")[1] == [lost]


def _agrees(class_maps: str, held: Rule) -> None:
    """The rule takes just the packets that the emulated router puts into its class."""
    box = booted(MODERN, f"hostname R9\nip cef\n{LISTS}{class_maps}")
    for source in ("10.0.0.5", "10.0.0.6"):
        for protocol, port in ((6, 80), (6, 8080), (6, 22), (17, 16384), (17, 53)):
            for dscp in (0, 8, 10, 16, 24, 26, 40, 44, 46):
                seen = Packets(
                    1, 100, dscp=dscp, protocol=protocol, src=source, dst="10.9.9.9", src_port=999, dst_port=port
                )
                packet = Packet(source, "10.9.9.9", dscp=dscp, protocol=protocol, port=port, source_port=999)
                assert takes(held, packet) == in_class(box, "X", seen, ""), packet


ATOMS = st.sampled_from(
    ["ip dscp ef", "ip dscp af31 cs3", "ip precedence 5", "access-group name WEB", "access-group name MEDIA",
     "access-group name HOST", "access-group name NESTED", "any", "class-map I"]
)  # fmt: skip
LINES = st.lists(st.tuples(st.sampled_from(["match", "match", "match not"]), ATOMS), min_size=1, max_size=3)
MODES = st.sampled_from(["match-any", "match-all"])


@PROPERTY
@given(MODES, LINES, MODES, st.lists(ATOMS.filter(lambda atom: atom != "class-map I"), min_size=1, max_size=2))
def test_any_class_map_is_read_as_it_is_meant_or_named(
    mode: str, lines: list[tuple[str, str]], inner_mode: str, inner: list[str]
) -> None:
    inside = "".join(f" match {atom}\n" for atom in inner)
    outside = "".join(f" {match} {atom}\n" for match, atom in dict.fromkeys(lines))
    class_maps = f"class-map {inner_mode} I\n{inside}class-map {mode} X\n{outside}"

    held, unknown = rule(class_maps)

    if not unknown:
        _agrees(class_maps, held)
