"""The model that other simulators agree on, packet by packet."""

import pytest

from benchmarks import processes, vector


def test_the_counts_of_a_plain_event_loop():
    text = vector.scenario()
    ours, plain = vector.by_twin(text), vector.by_heap()
    assert (ours.offered, ours.sent, ours.dropped) == (395_257, 82_345, 16_370)
    assert (plain.offered, plain.sent, plain.dropped) == (395_257, 82_345, 16_370)
    # The loop stops at one second; the twin's mean counts the hundred packets that still wait.
    assert ours.delay == pytest.approx(plain.delay, abs=0.01)
    assert ours.delay == pytest.approx(1_217, abs=1.5)


def test_processes_agree():
    assert processes.by_simpy() == vector.by_heap()
