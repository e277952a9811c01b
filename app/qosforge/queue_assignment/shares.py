"""Errors of shares, their division among the classes of a queue, and the whole numbers that schedulers hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qosforge.memoise import memoise_by_value

Shares = tuple[float, ...]


def share_error(shares: Sequence[float]) -> float:
    """The largest error of a class in a queue that classes with these shares have together.

    Nothing keeps them apart: what a class has of the queue may be wrong by all that the others request.
    """
    return sum(shares) - min(shares)


def divide_queues(
    requested: Mapping[str, float], queue_of: Mapping[str, int], by_queue: Mapping[int, float] | Sequence[float]
) -> dict[str, float]:
    """The share of every class: those of one queue divide it as they request, or evenly if they request nothing."""
    queues = [queue_of[name] for name in requested]
    together = dict.fromkeys(queues, 0.0)
    for number, part in zip(queues, requested.values(), strict=True):
        together[number] += part
    return {
        name: by_queue[number] * (part / together[number] if together[number] else 1 / queues.count(number))
        for number, (name, part) in zip(queues, requested.items(), strict=True)
    }


def normalised(parts: Sequence[float]) -> Shares:
    """Shares of parts of any unit, which sum up to 1; all alike where there are none."""
    total = sum(parts)
    return tuple(part / total for part in parts) if total else (1 / len(parts),) * len(parts)


def whole_numbers(exact: Sequence[float], total: int) -> tuple[int, ...]:
    """Whole numbers of at least 1 with this sum that come nearest to exact ones with the same sum.

    What is left goes where it brings most, of places alike to the first ones. The sum is not smaller than the
    number of places.
    """
    import qosforge_twin  # noqa: PLC0415 (the doctor runs where it cannot be loaded)

    return tuple(qosforge_twin.whole_numbers(list(exact), total))


def whole_percents(parts: Sequence[float]) -> list[int]:
    """Whole per cents of at least 1 that sum up to 100; of places alike the largest is rounded up first."""
    total = sum(parts)
    exact = [100 * part / total if total else 100 / len(parts) for part in parts]
    largest = sorted(range(len(parts)), key=lambda i: -exact[i])
    whole = whole_numbers([exact[i] for i in largest], 100)
    return [value for _, value in sorted(zip(largest, whole, strict=True))]


def whole_weights(targets: Sequence[Sequence[float]], highest: int) -> list[int]:
    """The smallest whole weights up to ``highest`` with the smallest largest error of a share over all targets.

    Every target holds what is requested of each queue on some ports, in any unit. The optimum is exact for one
    target whose parts are all above the ``highest`` part.
    """
    shares = dict.fromkeys(tuple(round(share, 12) for share in normalised(parts)) for parts in targets)
    return list(_whole_weights(tuple(shares), highest))


@memoise_by_value(4096)
def _whole_weights(targets: tuple[Shares, ...], highest: int) -> tuple[int, ...]:
    middle = _middle(targets)
    return nearest_whole(targets, middle, len(middle), highest * len(middle), highest)


def nearest_whole(
    targets: Sequence[Shares], shares: Shares, first: int, last: int, highest: int
) -> tuple[int, ...]:
    """The `whole_numbers` of the shares whose largest error of a share, against all targets, is smallest.

    Their sums are tried from ``first`` to ``last``, upwards or downwards; the first of those alike is taken. It
    ends before a number above ``highest``.
    """
    import qosforge_twin  # noqa: PLC0415 (as above)

    return tuple(qosforge_twin.nearest_whole(list(targets), shares, first, last, highest))


def _middle(parts: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The shares whose largest distance to any of the targets is smallest."""
    if len(parts) == 1:
        return tuple(parts[0])
    columns = list(zip(*parts, strict=True))

    def bounds(distance: float) -> list[tuple[float, float]]:
        return [(max(max(c) - distance, 0.0), min(c) + distance) for c in columns]

    low, high = 0.0, 1.0
    for _ in range(50):
        distance = (low + high) / 2
        limits = bounds(distance)
        fits = all(a <= b for a, b in limits) and sum(a for a, _ in limits) <= 1 <= sum(b for _, b in limits)
        low, high = (low, distance) if fits else (distance, high)
    limits = bounds(high)
    room = sum(b - a for a, b in limits)
    part = (1 - sum(a for a, _ in limits)) / room if room else 0.0
    return tuple(a + part * (b - a) for a, b in limits)
