"""Several priority classes of one policy on routers: one queue serves them, or priority levels."""

from __future__ import annotations

import pytest

from qosforge.configtree import merge, transition
from qosforge.plan.request import ClassRequest
from qosforge.platforms.cisco_ios import PLATFORM

from .ios_support import a_class, booted, lowered, of, pushed, queues, requested, rest, text_of

LEVELS, ONE_QUEUE = "15.1(4)S", "15.1(4)M"


def strict(name: str, precedence: int, percent: int | None = None) -> ClassRequest:
    priority = True if percent is None else {"percent": percent}
    return a_class(name, precedence, treatment={"priority": priority})


FIRST, SECOND, THIRD = strict("first", 7), strict("second", 6), strict("third", 5)
CAPPED = strict("capped", 4, 10)


@pytest.mark.parametrize(
    ("image", "classes", "told"),
    [
        (ONE_QUEUE, (FIRST,), []),
        (ONE_QUEUE, (FIRST, CAPPED), []),
        (ONE_QUEUE, (CAPPED, strict("other", 3, 10)), []),
        (ONE_QUEUE, (FIRST, SECOND, THIRD), [("second", "shared"), ("third", "shared")]),
        (LEVELS, (FIRST, SECOND), []),
        (LEVELS, (FIRST, SECOND, THIRD), [("second", "levels"), ("third", "levels")]),
        (LEVELS, (FIRST, CAPPED, SECOND), [("second", "levels")]),
    ],
    ids=["one", "one and a capped one", "capped ones", "three", "two levels", "three of two", "capped beside two"],
)
def test_priority_without_a_cap_has_an_order_or_is_refused(
    image: str, classes: tuple[ClassRequest, ...], told: list[tuple[str, str]]
) -> None:
    result = lowered(requested(*classes, image=image))

    assert [(f.traffic_class, f.variant) for f in of(result, "priority-queues-exceeded")] == told
    assert all(f.severity.value == "error" for f in of(result, "priority-queues-exceeded"))
    assert all(f.interface == "Serial0/0" for f in of(result, "priority-queues-exceeded"))


def test_levels_are_given_in_the_order_of_the_classes() -> None:
    shared = (FIRST, SECOND, rest(bandwidth={"remaining_percent": 50}))

    result, box = pushed(requested(*shared, image=LEVELS))

    assert [queue.level for queue in queues(result)] == [1, 2, None]
    assert " class first\n  priority level 1\n class second\n  priority level 2\n" in box.running_text()


def test_a_policy_changes_between_one_queue_and_levels() -> None:
    grammar = PLATFORM.grammar
    plain, levels = (requested(*classes, image=LEVELS) for classes in ((FIRST, CAPPED), (SECOND, FIRST)))
    box = booted(LEVELS)

    for request in (plain, levels, requested(FIRST, SECOND, image=LEVELS), plain):
        current = grammar.parse(box.running_text())
        wanted = merge(current, grammar.parse(text_of(request)), grammar)
        assert box.configure(transition(current, wanted, grammar)) == []
        held = PLATFORM.parse(box.running_text(), "r9", LEVELS).interface("Serial0/0")
        assert held is not None
        assert held.egress == lowered(request).plan.interfaces[0].egress
