"""Fair queueing among the flows of a class: the default class before HQF, any class with it."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.plan.request import ClassRequest
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.tester.scenario.queues import twin_queue

from .ios_support import MODERN, OLD, TRAINS, a_class, errors, lowered, of, pushed, queues, requested, rest


def gold(**treatment: Any) -> ClassRequest:
    return a_class("gold", 3, treatment=treatment)


@pytest.mark.parametrize("image", TRAINS)
@pytest.mark.parametrize(("fair", "line"), [(True, "fair-queue\n"), ({"flows": 64}, "fair-queue 64\n")])
def test_the_default_class_serves_its_flows_in_turn(image: str, fair: Any, line: str) -> None:
    request = requested(gold(bandwidth={"rate": "400 kb/s"}), rest(fair_queue=fair), image=image)

    result, box = pushed(request)

    assert queues(result)[-1].fair
    assert f" class class-default\n  {line}" in box.running_text()


def test_any_class_does_with_hqf_and_needs_no_bandwidth_for_early_detection() -> None:
    result, box = pushed(requested(gold(fair_queue=True, wred=True), image=MODERN))

    assert queues(result)[0].fair
    assert queues(result)[0].red is not None
    assert "  fair-queue\n  random-detect\n" in box.running_text()


@pytest.mark.parametrize(
    ("classes", "why"),
    [
        ((gold(bandwidth={"percent": 20}, fair_queue=True),), "default class alone"),
        ((gold(bandwidth={"percent": 20}), rest(bandwidth={"percent": 20}, fair_queue=True)), "not both"),
    ],
)
def test_before_hqf_no_other_class_does_and_the_default_one_not_beside_a_bandwidth(
    classes: tuple[ClassRequest, ...], why: str
) -> None:
    result = lowered(requested(*classes, image=OLD))

    assert errors(result) == ["fair-queue-unsupported"]
    (found,) = of(result, "fair-queue-unsupported")
    assert why in found.message
    assert found.hint is not None
    assert "12.4(20)T" in found.hint
    assert not any(queue.fair for queue in queues(result))


def test_the_twin_tells_so_many_flows_apart() -> None:
    text = "policy-map P\n class class-default\n  fair-queue 32\ninterface Serial0/0\n service-policy output P\n"
    held = PLATFORM.parse(text, "r9").interface("Serial0/0")
    assert held is not None
    assert held.egress.scheduler is not None

    spec = twin_queue(held.egress.scheduler.queues[0], "q", conversations=256)

    assert spec.fair_queue is not None
    assert spec.fair_queue.dynamic_queues == 32
