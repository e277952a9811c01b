"""The fluid model of shaped and limited ports."""

from __future__ import annotations

import pytest

from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.shares import expected_shares


def weight(number: int, value: int) -> Queue:
    """A queue with a weight."""
    return Queue(number=number, share=Share(unit=ShareUnit.WEIGHT, value=value))


def test_a_shaped_queue_has_its_part_and_no_share() -> None:
    queues = (Queue(number=1, shape_weight=4), weight(2, 1), weight(3, 2))
    assert expected_shares(Scheduler(discipline=Discipline.SRR, queues=queues), 10**9) == pytest.approx(
        (0.25, 0.25, 0.5)
    )


def test_an_expedite_queue_is_not_shaped() -> None:
    queues = (Queue(number=1, priority=True, shape_weight=4), weight(2, 1))
    shares = expected_shares(Scheduler(discipline=Discipline.SRR, queues=queues), 10**9)
    assert shares == pytest.approx((1.0, 0.0))


def test_a_limited_port_divides_what_it_may_send() -> None:
    queues = (Queue(number=1, shape_weight=10), weight(2, 3), weight(3, 1))
    scheduler = Scheduler(discipline=Discipline.SRR, queues=queues, limit_percent=50)
    assert expected_shares(scheduler, 10**9) == pytest.approx((0.1, 0.3, 0.1))
