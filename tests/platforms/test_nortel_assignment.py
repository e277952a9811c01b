"""The queue sets of a 5510: which one serves the classes best, and how."""

from __future__ import annotations

from qosforge.platforms.nortel_5510.queues import best, choose

from .switch_support import REST, VOICE, campus, intent, marked, request_for

DEVICE = "ers5510"


def test_the_best_set_of_all() -> None:
    classes = request_for(DEVICE, campus()).classes
    found = best(classes, 10**8, 0.05)
    assert found is not None
    assert found.error == min(choose(classes, n, 10**8).error for n in range(3, 9))
    # Within the tolerance a set that keeps classes apart is better than one with a smaller error.
    many = [marked(f"c{n}", 8 * n, n, bandwidth={"percent": 10}) for n in (1, 2, 3)]
    classes = request_for(DEVICE, intent(VOICE, *many, {"name": "default"})).classes
    found = best(classes, 10**8, 0.05)
    assert found is not None
    assert (found.queue_set >= 5, found.merged) == (True, ())


def test_classes_of_one_priority_share_a_queue() -> None:
    twins = [marked("one", 10, 1, bandwidth={"percent": 15}), marked("two", 12, 1, bandwidth={"percent": 5})]
    classes = request_for(DEVICE, intent(VOICE, *twins, {"name": "default"})).classes
    chosen = choose(classes, 4, 10**8)
    assert chosen.queue_of["one"] == chosen.queue_of["two"] != chosen.queue_of["default"]
    assert chosen.merged == (("one", "two"),)
    assert chosen.error >= 0.15  # the other's share


def test_two_strict_queues_serve_priority_and_the_rest() -> None:
    calls = {**VOICE, "treatment": {"priority": True}}
    chosen = choose(request_for(DEVICE, intent(calls, {"name": "default"})).classes, 2, 10**8)
    assert (chosen.queue_of, chosen.fits, chosen.error) == ({"voice-video": 1, "default": 2}, True, 0.0)
    third = marked("bulk", 10, 1, bandwidth={"remaining_percent": 70})
    assert not choose(request_for(DEVICE, intent(calls, third, REST)).classes, 2, 10**8).fits
