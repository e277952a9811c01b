"""How plans are told in words."""

from __future__ import annotations

import pytest

from qosforge.plan.description import discipline_words
from qosforge.plan.model import Discipline, Queue, Scheduler


@pytest.mark.parametrize("discipline", [Discipline.WRR, Discipline.SRR, Discipline.WFQ, Discipline.DRR])
def test_a_priority_queue_beside_others_that_take_turns_is_told(discipline: Discipline) -> None:
    others = Scheduler(discipline=discipline, queues=(Queue(number=1), Queue(number=2)))
    expedite = Scheduler(discipline=discipline, queues=(Queue(number=1, priority=True), Queue(number=2)))
    assert discipline_words(expedite) == f"priority first, then {discipline_words(others)}"
    assert "priority" not in discipline_words(others)
