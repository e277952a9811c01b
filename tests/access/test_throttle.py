from __future__ import annotations

import pytest

from qosforge.access.throttle import (
    PER_ADDRESS,
    PER_NAME,
    PER_NAME_AND_ADDRESS,
    PER_NAME_KNOWN,
    Throttle,
    TooManyAttempts,
)
from tests.access.conftest import HandClock


class WrongPassword(Exception):
    pass


def fail(throttle: Throttle, name: str, address: str, clock: HandClock) -> None:
    with pytest.raises(WrongPassword), throttle.attempt(name, address, clock()):
        raise WrongPassword


def refused(throttle: Throttle, name: str, address: str, clock: HandClock) -> int:
    """Seconds to wait; 0 where an attempt is let through (and succeeds)."""
    try:
        with throttle.attempt(name, address, clock()):
            return 0
    except TooManyAttempts as error:
        return error.seconds


def test_a_name_from_one_address_is_refused_after_some_failures(clock: HandClock) -> None:
    throttle = Throttle()
    for _ in range(PER_NAME_AND_ADDRESS):
        clock.pass_(minutes=1)
        fail(throttle, "ann", "192.0.2.1", clock)
    assert refused(throttle, "ann", "192.0.2.1", clock) == 11 * 60
    assert refused(throttle, "ann", "192.0.2.2", clock) == 0
    assert refused(throttle, "bob", "192.0.2.1", clock) == 0
    clock.pass_(minutes=11)
    assert refused(throttle, "ann", "192.0.2.1", clock) == 0


def test_an_address_is_refused_whatever_names_it_tries(clock: HandClock) -> None:
    throttle = Throttle()
    for number in range(PER_ADDRESS):
        fail(throttle, f"user{number}", "192.0.2.1", clock)
    assert refused(throttle, "another", "192.0.2.1", clock) == 15 * 60
    assert refused(throttle, "another", "192.0.2.2", clock) == 0


def test_a_name_is_refused_from_wherever_it_is_tried(clock: HandClock) -> None:
    throttle = Throttle()
    for number in range(PER_NAME):
        fail(throttle, "ann", f"192.0.2.{number}", clock)
    assert refused(throttle, "ann", "198.51.100.1", clock) == 15 * 60


def test_one_network_of_ipv6_is_one_caller(clock: HandClock) -> None:
    throttle = Throttle()
    for number in range(PER_NAME_AND_ADDRESS):
        fail(throttle, "ann", f"2001:db8:0:1::{number + 1:x}", clock)
    assert refused(throttle, "ann", "2001:db8:0:1:ffff::1", clock)
    assert not refused(throttle, "ann", "2001:db8:0:2::1", clock)


def test_what_succeeds_does_not_count(clock: HandClock) -> None:
    throttle = Throttle()
    for _ in range(PER_ADDRESS + 1):
        assert not refused(throttle, "ann", "192.0.2.1", clock)


def test_attempts_count_while_they_are_at_work(clock: HandClock) -> None:
    throttle = Throttle()
    attempts = [throttle.attempt("ann", "192.0.2.1", clock()) for _ in range(PER_NAME_AND_ADDRESS)]
    for attempt in attempts:
        attempt.__enter__()
    assert refused(throttle, "ann", "192.0.2.1", clock)
    for attempt in attempts:
        attempt.__exit__(None, None, None)
    assert not refused(throttle, "ann", "192.0.2.1", clock)


def test_a_known_browser_is_not_kept_out_by_others_and_is_slowed_for_itself(clock: HandClock) -> None:
    throttle = Throttle()
    for number in range(PER_NAME):
        fail(throttle, "ann", f"192.0.2.{number}", clock)
    assert refused(throttle, "ann", "198.51.100.1", clock)
    for _ in range(PER_NAME_AND_ADDRESS):
        with pytest.raises(WrongPassword), throttle.attempt("ann", "198.51.100.1", clock(), "laptop"):
            raise WrongPassword
    with pytest.raises(TooManyAttempts), throttle.attempt("ann", "203.0.113.1", clock(), "laptop"):
        pass
    with throttle.attempt("ann", "198.51.100.1", clock(), "phone"):
        pass


def test_known_browsers_of_one_name_are_slowed_together_and_apart_from_strangers(clock: HandClock) -> None:
    throttle = Throttle()
    for number in range(PER_NAME_KNOWN):
        with pytest.raises(WrongPassword), throttle.attempt("ann", "192.0.2.1", clock(), f"browser {number}"):
            raise WrongPassword
    with pytest.raises(TooManyAttempts), throttle.attempt("ann", "192.0.2.1", clock(), "another"):
        pass
    with throttle.attempt("bob", "192.0.2.1", clock(), "his"):
        pass
    assert not refused(throttle, "ann", "192.0.2.1", clock)
