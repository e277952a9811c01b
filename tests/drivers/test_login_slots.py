"""Turns to log in to a jump host: how many at once, when they end, and who may stop waiting."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from threading import Thread

import pytest
from cli_candidate.errors import SessionStoppedError
from cli_candidate.guard import SessionGuard
from cli_candidate.limits import SessionLimits, StepLimit
from cli_candidate.login_slots import LoginSlots


def _goes_on() -> None:
    """Nobody has stopped it."""


def test_no_more_are_at_a_place_than_it_bears() -> None:
    slots, at_once, most = LoginSlots(most=3), 0, 0
    counting = threading.Lock()

    def visit() -> None:
        nonlocal at_once, most
        end = slots.acquire("bastion", _goes_on)
        with counting:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.02)
        with counting:
            at_once -= 1
        end()
        end()

    visitors = [Thread(target=visit) for _ in range(12)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert most == 3


def test_another_place_has_turns_of_its_own() -> None:
    slots = LoginSlots(most=1)
    slots.acquire("bastion", _goes_on)
    slots.acquire("other", _goes_on)()


def test_a_turn_that_nobody_ends_is_over_in_the_end() -> None:
    slots = LoginSlots(most=1, seconds=0.2)
    late = slots.acquire("bastion", _goes_on)
    begun = time.monotonic()
    end = slots.acquire("bastion", _goes_on)
    assert time.monotonic() - begun >= 0.1
    late()
    with pytest.raises(SessionStoppedError):
        slots.acquire("bastion", _stopped)  # the late one's end is not that of the other
    end()


def _stopped() -> None:
    raise SessionStoppedError("the run was cancelled")


def test_who_waits_for_a_turn_spends_none_of_its_own_time() -> None:
    guard = SessionGuard(replace(SessionLimits(), login=StepLimit(0.3, 0.3, 1000)))
    with guard.step("login"):
        with guard.apart():
            time.sleep(0.5)
        guard.check()
    with guard.step("login"), guard.apart():
        guard.stop("the run was cancelled")
        with pytest.raises(SessionStoppedError):
            LoginSlots(most=0).acquire("bastion", guard.check_cut)
