"""Shares that classes ask for, and what a scheduler gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qosforge.intent.models import Treatment
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.request import ClassRequest
from qosforge.plan.requested import requested_shares
from qosforge.plan.shares import expected_shares


def requested(**treatments: dict[str, Any]) -> dict[str, float]:
    classes = [
        ClassRequest(name=name, treatment=Treatment.model_validate_json(json.dumps(t)))
        for name, t in treatments.items()
    ]
    return requested_shares(classes, 100_000_000)


def test_remaining_percents_are_taken_of_what_priority_leaves() -> None:
    shares = requested(
        voice={"priority": {"percent": 50}},
        web={"bandwidth": {"remaining_percent": 70}},
        default={"bandwidth": {"remaining_percent": 30}},
    )
    assert shares == {"voice": pytest.approx(0.5), "web": pytest.approx(0.35), "default": pytest.approx(0.15)}


def test_a_default_class_without_bandwidth_takes_the_rest() -> None:
    shares = requested(voice={"priority": {"rate": "10 Mb/s"}}, web={"bandwidth": {"percent": 30}}, default={})
    assert shares == {"voice": pytest.approx(0.1), "web": pytest.approx(0.3), "default": pytest.approx(0.6)}


WRR = Scheduler(
    discipline=Discipline.WRR,
    queues=(
        Queue(number=1, priority=True),
        *(Queue(number=n, share=Share(unit=ShareUnit.WEIGHT, value=w)) for n, w in ((2, 65), (3, 26), (4, 9))),
    ),
)


def test_an_uncapped_priority_queue_takes_what_is_offered() -> None:
    assert expected_shares(WRR, 10**8) == (1.0, 0.0, 0.0, 0.0)
    assert expected_shares(WRR, 10**8, priority_load=0.5) == pytest.approx((0.5, 0.325, 0.13, 0.045))


def test_idle_queues_leave_their_share() -> None:
    shares = expected_shares(WRR, 10**8, priority_load=0.5, backlogged={1, 2, 3})
    assert shares == pytest.approx((0.5, 0.5 * 65 / 91, 0.5 * 26 / 91, 0.0))
