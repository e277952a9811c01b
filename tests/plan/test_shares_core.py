"""The fluid model: what is shared is the link, priority goes first, and more weight never means less."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.shares import expected_shares

SETTINGS = settings(max_examples=300, deadline=None, derandomize=True, database=None)
RATE = 2_000_000


def queue(number: int, unit: ShareUnit | None, value: int, *, priority: bool = False) -> Queue:
    share = Share(unit=unit, value=value) if unit else None
    return Queue(number=number, share=share, priority=priority, capped=priority)


@st.composite
def schedulers(draw: st.DrawFn) -> Scheduler:
    """LLQ and CBWFQ as a device takes them: one unit, at most 100 % in sum."""
    unit = draw(st.sampled_from([ShareUnit.PERCENT, ShareUnit.REMAINING_PERCENT, ShareUnit.KBPS]))
    whole = 2000 if unit is ShareUnit.KBPS else 100
    cap = draw(st.integers(0, 60))
    left = whole if unit is ShareUnit.REMAINING_PERCENT else whole * (100 - cap) // 100
    queues = [queue(0, ShareUnit.PERCENT, cap, priority=True)] if cap else []
    for _ in range(draw(st.integers(1, 5))):
        value = draw(st.integers(0, max(left // 2, 0)))
        left -= value
        queues.append(queue(len(queues), unit if value else None, value))
    return Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues))


@SETTINGS
@given(schedulers())
def test_shares_are_parts_of_the_link(scheduler: Scheduler) -> None:
    shares = expected_shares(scheduler, RATE)

    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) <= 1 + 1e-9


@SETTINGS
@given(schedulers())
def test_a_capped_priority_queue_gets_its_cap_whatever_the_others_ask(scheduler: Scheduler) -> None:
    shares = expected_shares(scheduler, RATE)

    for entry, share in zip(scheduler.queues, shares, strict=True):
        if entry.priority and entry.share:
            assert share == pytest.approx(entry.share.value / 100)


@SETTINGS
@given(schedulers(), st.integers(1, 30))
def test_more_weight_is_never_less_share(scheduler: Scheduler, more: int) -> None:
    before = expected_shares(scheduler, RATE)
    for position, entry in enumerate(scheduler.queues):
        if entry.share is None or entry.priority:
            continue
        grown = entry.model_copy(update={"share": Share(unit=entry.share.unit, value=entry.share.value + more)})
        queues = (*scheduler.queues[:position], grown, *scheduler.queues[position + 1 :])

        after = expected_shares(scheduler.model_copy(update={"queues": queues}), RATE)

        assert after[position] >= before[position] - 1e-9


@SETTINGS
@given(schedulers(), st.data())
def test_an_idle_queue_leaves_its_share_to_the_others(scheduler: Scheduler, data: st.DataObject) -> None:
    numbers = [q.number for q in scheduler.queues]
    busy = data.draw(st.lists(st.sampled_from(numbers), min_size=1, unique=True))
    whole, part = expected_shares(scheduler, RATE), expected_shares(scheduler, RATE, backlogged=busy)

    for number, all_busy, some_busy in zip(numbers, whole, part, strict=True):
        assert some_busy == 0 if number not in busy else some_busy >= all_busy - 1e-9


def test_the_papers_shares() -> None:
    scheduler = Scheduler(
        discipline=Discipline.LLQ_CBWFQ,
        queues=(
            queue(0, ShareUnit.PERCENT, 50, priority=True),
            queue(1, ShareUnit.REMAINING_PERCENT, 70),
            queue(2, ShareUnit.REMAINING_PERCENT, 30),
        ),
    )

    assert expected_shares(scheduler, RATE) == pytest.approx((0.5, 0.35, 0.15))


def test_kilobits_are_of_the_rate_and_the_rest_goes_to_who_has_none() -> None:
    queues = (queue(0, ShareUnit.KBPS, 500), queue(1, None, 0))

    shares = expected_shares(Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues), RATE)

    assert shares == pytest.approx((0.25, 0.75))


@pytest.mark.parametrize("discipline", [Discipline.FIFO, Discipline.FLOW_WFQ])
def test_queues_without_weights_share_alike(discipline: Discipline) -> None:
    scheduler = Scheduler(discipline=discipline, queues=tuple(queue(n, None, 0) for n in range(4)))

    assert expected_shares(scheduler, RATE) == pytest.approx((0.25,) * 4)


def test_an_uncapped_priority_queue_takes_what_is_offered() -> None:
    queues = (Queue(number=0, priority=True), queue(1, ShareUnit.WEIGHT, 3), queue(2, ShareUnit.WEIGHT, 1))
    scheduler = Scheduler(discipline=Discipline.WRR, queues=queues)

    assert expected_shares(scheduler, RATE) == pytest.approx((1.0, 0.0, 0.0))
    assert expected_shares(scheduler, RATE, priority_load=0.2) == pytest.approx((0.2, 0.6, 0.2))
