"""The fluid model gives what the papers expect of ideal schedulers, in every row that they print."""

from __future__ import annotations

import math

import pytest

from qosforge.plan.fluid import Division, FluidClass, throughput

SHARES = {"A": 0.3, "1": 0.1, "2": 0.2, "B": 0.7, "3": 0.1, "4": 0.6}


def torino(silent: str, bounded: str, high: str, loads: dict[str, float]) -> FluidClass:
    """The link-sharing tree of the Torino tests on 2 Mb/s; a bounded class borrows nothing. Rates are kb/s."""

    def entry(name: str, *inside: FluidClass) -> FluidClass:
        offered = 0.0 if inside or name in silent else loads.get(name, math.inf)
        ceiling = 2000 * SHARES[name] if name in bounded else math.inf
        level = 1 if name in high else 2
        return FluidClass(name, weight=SHARES[name], offered=offered, ceiling=ceiling, level=level, children=inside)

    return FluidClass("root", children=(entry("A", entry("1"), entry("2")), entry("B", entry("3"), entry("4"))))


# Row 4's on-off source is active a third of the time and averages its share. Priorities (rows 6 to 9) decide on
# delay alone in a scheduler that decouples it from bandwidth.
@pytest.mark.parametrize(
    ("silent", "bounded", "high", "loads", "expected"),
    [
        ("3", "", "", {}, (200, 400, 0, 1400)),
        ("3", "A12", "", {}, (200, 400, 0, 1400)),
        ("34", "A12", "", {}, (200, 400, 0, 0)),
        ("", "", "", {"3": 200}, (200, 400, 200, 1200)),
        ("3", "A", "", {}, (200, 400, 0, 1400)),
        ("3", "", "A12", {}, (200, 400, 0, 1400)),
        ("3", "", "A1B4", {}, (200, 400, 0, 1400)),
        ("3", "A", "A12", {}, (200, 400, 0, 1400)),
        ("3", "A", "A1B4", {}, (200, 400, 0, 1400)),
    ],
    ids=[f"row{number}" for number in range(1, 10)],
)
def test_torino_table_6(
    silent: str, bounded: str, high: str, loads: dict[str, float], expected: tuple[float, ...]
) -> None:
    found = throughput(torino(silent, bounded, high, loads), 2000)

    assert [found[name] for name in "1234"] == pytest.approx(expected)


def test_bounded_classes_beside_silent_ones_leave_the_link_idle() -> None:
    found = throughput(torino("34", "A12", "", {}), 2000)

    assert 2000 - found["root"] == pytest.approx(1400)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ({"A": (0.01, 100), "B": (0.99, 2000)}, {"A": 20, "B": 1980}),
        ({"A": (0.01, 200), "B": (0.99, 2000)}, {"A": 20, "B": 1980}),
        ({"A": (0.1, 2000), "B": (0.2, 0), "C": (0.7, 2000)}, {"A": 250, "B": 0, "C": 1750}),
    ],
    ids=["test1", "test2", "test3"],
)
def test_torino_table_1(classes: dict[str, tuple[float, float]], expected: dict[str, float]) -> None:
    root = FluidClass("root", children=tuple(FluidClass(n, load, weight=w) for n, (w, load) in classes.items()))

    found = throughput(root, 2000)

    assert {name: found[name] for name in classes} == pytest.approx(expected)


def test_torino_table_1_excess_by_level_goes_to_the_high_class_alone() -> None:
    """What the paper saw CBQ do: class A takes its own 200 kb/s and the 400 that B leaves (604, 1396 measured)."""
    classes = (
        FluidClass("A", 2000, weight=0.1, level=1),
        FluidClass("B", 0, weight=0.2, level=2),
        FluidClass("C", 2000, weight=0.7, level=2),
    )

    found = throughput(FluidClass("root", children=classes, division=Division.LEVEL), 2000)

    assert (found["A"], found["B"], found["C"]) == pytest.approx((600, 0, 1400))


def cern(per_sender: float, *, weights: dict[str, float] | None = None, rate: float = 1000) -> dict[str, float]:
    """Four queues of two senders each on a gigabit; strict, q3 first, unless there are weights. Mb/s."""
    queues = tuple(
        FluidClass(
            f"q{number}",
            children=(FluidClass(f"{number}a", per_sender), FluidClass(f"{number}b", per_sender)),
            division=Division.OFFERED,
            weight=weights[f"q{number}"] if weights else 1.0,
            priority=None if weights else 4 - number,
        )
        for number in range(4)
    )
    return throughput(FluidClass("link", children=queues), rate)


STRICT_KNEES = {"q0": 125, "q1": 1000 / 6, "q2": 250, "q3": 500}
WRR_A = {"q0": 0.1, "q1": 0.2, "q2": 0.3, "q3": 0.4}
WRR_B = {"q0": 0.1, "q1": 0.1, "q2": 0.3, "q3": 0.5}
WRR_KNEES = {"q0": 125, "q1": 142.857, "q2": 166.667, "q3": 200}


@pytest.mark.parametrize(("queue", "knee"), STRICT_KNEES.items())
def test_cern_strict_priority_knees(queue: str, knee: float) -> None:
    assert cern(knee * 0.999)[queue] == pytest.approx(2 * knee * 0.999)
    assert cern(knee * 1.001)[queue] < 2 * knee * 1.001 * (1 - 1e-4)


@pytest.mark.parametrize(("queue", "knee"), WRR_KNEES.items())
def test_cern_wrr_knees(queue: str, knee: float) -> None:
    assert cern(knee * 0.999, weights=WRR_A)[queue] == pytest.approx(2 * knee * 0.999)
    assert cern(knee * 1.001, weights=WRR_A)[queue] < 2 * knee * 1.001 * (1 - 1e-6)


@pytest.mark.parametrize("per_sender", [505, 600])
def test_cern_from_point_d_strict_priority_serves_one_queue(per_sender: float) -> None:
    found = cern(per_sender)

    assert [found[f"q{n}"] for n in range(4)] == pytest.approx([0, 0, 0, 1000])
    assert (found["3a"], found["3b"]) == pytest.approx((500, 500))


@pytest.mark.parametrize("per_sender", [201, 600])
@pytest.mark.parametrize("weights", [WRR_A, WRR_B], ids=["a", "b"])
def test_cern_tables_4_and_5_weights(weights: dict[str, float], per_sender: float) -> None:
    found = cern(600 if weights is WRR_B else per_sender, weights=weights)

    assert {q: found[q] for q in weights} == pytest.approx({q: 1000 * w for q, w in weights.items()})
    assert found["link"] == pytest.approx(1000)


@pytest.mark.parametrize("per_sender", [126, 140, 160, 190, 250])
def test_cern_wrr_gives_every_queue_its_minimum(per_sender: float) -> None:
    found = cern(per_sender, weights=WRR_A)

    assert all(found[q] >= min(2 * per_sender, 1000 * w) - 1e-6 for q, w in WRR_A.items())
    assert found["link"] == pytest.approx(1000)


@pytest.mark.parametrize(
    ("quantum", "expected"),
    [
        (lambda size: size, (0.248, 0.334, 0.251, 0.167)),
        (lambda size: 1.0, (0.1, 0.2, 0.3, 0.4)),
        (lambda size: size / math.ceil((size + 4) / 256), (0.15, 0.243, 0.304, 0.304)),
    ],
    ids=["per-packet", "exact-quanta", "rounded-quanta"],
)
def test_cern_mixed_sizes(quantum: object, expected: tuple[float, ...]) -> None:
    """Weights per packet are weights of bytes times the frame's size, or what is charged for it."""
    assert callable(quantum)
    sizes = {"q0": 1518, "q1": 1024, "q2": 512, "q3": 256}
    weights = {q: w * quantum(sizes[q]) for q, w in WRR_A.items()}

    found = cern(600, weights=weights)

    assert [found[q] / 1000 for q in WRR_A] == pytest.approx(expected, abs=5e-4)


def test_total_throughput_does_not_depend_on_the_discipline() -> None:
    for load in (100, 125, 300, 600):
        fifo = FluidClass(
            "fifo", children=tuple(FluidClass(f"s{n}", load) for n in range(8)), division=Division.OFFERED
        )
        total = throughput(fifo, 1000)["fifo"]
        assert cern(load)["link"] == pytest.approx(total)
        assert cern(load, weights=WRR_A)["link"] == pytest.approx(total)
