"""Many cases at once: results, errors, signals."""

import json
import signal

import pytest
import qosforge_twin

from tests.stopwatch import Stopwatch

from .scenarios import egress, flow, one_port


def case(load: int, seconds: float = 1) -> str:
    """Two classes at so many percent of 10 Mb/s."""
    sent = [
        flow("a", 0, kind="poisson", rate_bps=50_000 * load, ip_bytes=500),
        flow("b", 1, kind="poisson", rate_bps=50_000 * load, ip_bytes=200),
    ]
    return json.dumps(one_port(egress(2, {"kind": "strict", "order": [1, 0]}), sent, seconds=seconds))


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_many_give_what_each_gives(threads):
    texts = [case(load) for load in range(10, 130, 10)]
    seeds = list(range(len(texts)))
    each = [qosforge_twin.run(text, seed) for text, seed in zip(texts, seeds, strict=True)]
    assert qosforge_twin.run_many(texts, seeds, threads) == each
    assert len(set(each)) == len(each)


def test_no_case_gives_no_result():
    assert qosforge_twin.run_many([], []) == []


def test_the_first_wrong_case_is_named():
    good, bad = case(50), json.loads(case(50))
    bad["links"][0]["rate_bps"] = 0
    texts = [good, good, json.dumps(bad), "{}", good]
    with pytest.raises(qosforge_twin.ScenarioError, match=r"case 2: links\[0\]\.rate_bps") as caught:
        qosforge_twin.run_many(texts, [1] * 5)
    assert (caught.value.case, caught.value.path) == (2, "links[0].rate_bps")
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        qosforge_twin.run(texts[2], 1)
    assert caught.value.case is None


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((["{}"], [1, 2]), ValueError, "1 scenarios and 2 seeds"),
        ((["{}"], [1], 0), ValueError, "threads is 0"),
        ((["{}"], [-1]), OverflowError, "convert"),
        ((["{}"], [2**64]), OverflowError, "too (big|large)|convert"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        qosforge_twin.run_many(*arguments)


class AlarmError(Exception):
    """Raised by the test's own signal handler."""


def test_a_signal_ends_all():
    def ring(_number, _frame):
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    watch = Stopwatch()
    try:
        with pytest.raises(AlarmError):
            qosforge_twin.run_many([case(90, seconds=100_000)] * 3, [1, 2, 3])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert watch.seconds < 5
