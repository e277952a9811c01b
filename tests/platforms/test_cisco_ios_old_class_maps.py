"""Class-maps of routers before 12.1(5)T: one line, and no word for how lines are joined."""

from __future__ import annotations

import pytest

from qosforge.plan.request import ClassRequest
from qosforge.plan.request import TermRequest as Alternative

from .ios_support import a_class, errors, line, lowered, of, pushed, requested

OLD, NEW = "12.0(7)T", "12.1(5)T"
SHARE = {"bandwidth": {"rate": 100_000}}
MARK = Alternative(precedence=(5,))
PAIRS = Alternative(
    protocol=(6,), source=tuple(f"10.{n}.0.0/16" for n in range(4)),
    destination=tuple(f"10.{n}.0.0/16" for n in range(4, 8)),
)  # fmt: skip


def gold(*terms: Alternative, **more: tuple[Alternative, ...]) -> ClassRequest:
    return a_class("gold", terms=terms, treatment=SHARE, **more)


@pytest.mark.parametrize(("image", "heading"), [(OLD, "class-map gold"), (NEW, "class-map match-any gold")])
def test_a_class_map_of_one_line_says_its_mode_where_the_image_has_modes(image: str, heading: str) -> None:
    result, box = pushed(requested(gold(MARK), image=image, interfaces=(line(),)))

    assert errors(result) == []
    assert f"\n{heading}\n" in box.running_text()


def test_what_would_be_two_lists_is_one_where_a_class_map_holds_one_line() -> None:
    _, old = pushed(requested(gold(PAIRS), image=OLD, interfaces=(line(),)))
    _, new = pushed(requested(gold(PAIRS), image=NEW, interfaces=(line(),)))

    assert old.running_text().count(" permit tcp ") == 16
    assert "class-map gold\n match access-group name QOSFORGE-gold\n" in old.running_text()
    assert new.running_text().count(" permit tcp ") == 8


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (gold(MARK, none_of=(PAIRS,)), "match-line-unsupported"),
        (gold(Alternative(source_mac=("001b.54aa.bbcc",))), "match-line-unsupported"),
        (gold(Alternative(cos=(5,))), "match-line-unsupported"),
        (gold(MARK, Alternative(input_interface=("FastEthernet0/1",))), "match-combination-unsupported"),
    ],
    ids=["not", "mac", "cos", "two lines"],
)
def test_what_one_line_does_not_hold_is_refused(wanted: ClassRequest, code: str) -> None:
    old, new = (lowered(requested(wanted, image=image, interfaces=(line(),))) for image in (OLD, NEW))

    assert [f.severity.value for f in of(old, code)] == ["error"]
    assert of(new, code) == []
