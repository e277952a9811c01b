"""The passive tester: a device's own counters by class, read twice, against what its configuration must count.

A configuration that reads back as it was meant says nothing of a device that prints a line and does not act on it;
its counters do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.errors import DeviceError, Place
from qosforge.plan.model import Plan
from qosforge.platforms.base import Direction, QueueCount, platform
from qosforge.tester.counters.offered_load import CLASS_DEFAULT, CounterKey, ExpectedCounts


@dataclass(frozen=True)
class CounterNote:
    """What two readings say of one class or queue; of the device as a whole where ``queue`` is empty.

    ``grew`` and ``expected`` are packets; ``None`` where nothing was counted or nothing is known to compare with.
    A ``contradiction`` is a device that does not do what its configuration says.
    """

    device: str
    interface: str
    direction: str
    queue: str
    grew: int | None
    expected: int | None
    message: str
    contradiction: bool = False

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def read_counters(driver: DeviceDriver, plan: Plan) -> tuple[QueueCount, ...]:
    """The counters of the device that holds ``plan``; none where its platform counts nothing by class.

    Raises:
        DeviceError: the device refuses a show command, or prints something else than its platform is known to.
    """
    adapter = platform(plan.platform, plan.device)
    commands = adapter.counter_commands(plan)
    if not commands:
        return ()
    answers = driver.cli(commands)
    for command, answer in answers.items():
        if answer.unmasked.lstrip().startswith("%"):
            raise DeviceError(f"refuses {command!r}: {answer.in_message().strip()}", Place(device=plan.device))
    try:
        return adapter.read_counters({command: answer.unmasked for command, answer in answers.items()}, plan)
    except ValueError as error:
        raise DeviceError(
            f"its counters cannot be read: {error}",
            Place(device=plan.device),
            "is it the platform and image that the inventory names?",
        ) from None


def compare_counters(
    plan: Plan, first: Sequence[QueueCount], second: Sequence[QueueCount], expected: ExpectedCounts | None
) -> tuple[CounterNote, ...]:
    """What the counters of one device say between two readings.

    Without an expectation (nobody knows what passed the device) growth is reported and nothing is judged.
    """
    counts = platform(plan.platform, plan.device).counts
    if not counts:
        return (CounterNote(plan.device, "", "", "", None, None, "the device has no counters by class"),)
    before = {_key(count): count for count in first}
    notes = [_note(plan.device, _growth(before.get(_key(count)), count), expected) for count in second]
    return (
        *(note for note in notes if note is not None),
        *_missing_counters(plan.device, counts, second, expected),
    )


@dataclass(frozen=True)
class _Growth:
    """How one counter moved between the readings, in packets; ``queued`` is ``None`` where the device has none."""

    key: CounterKey
    after: QueueCount
    packets: int
    queued: int | None
    dropped: int


def _key(count: QueueCount) -> CounterKey:
    return CounterKey(count.interface, count.direction, count.queue)


def _growth(before: QueueCount | None, after: QueueCount) -> _Growth:
    """A class that was not there at first began at zero."""
    packets, queued, drops = (before.packets, before.queued, before.drops) if before else (0, None, None)
    return _Growth(
        key=_key(after),
        after=after,
        packets=after.packets - packets,
        queued=None if after.queued is None else after.queued - (queued or 0),
        dropped=(after.drops or 0) - (drops or 0),
    )


def _note(device: str, growth: _Growth, expected: ExpectedCounts | None) -> CounterNote | None:
    """A note on one counter; none when it stood still and was to."""
    key, due, problem = growth.key, None, ""
    if expected:
        due = _due(expected.packets, key)
        problem = _problem(growth, due, key in expected.priority)
    if not (growth.packets or due or problem):
        return None
    first = ", served first" if growth.after.priority else ""
    message = problem or f"{key} counted {growth.packets} packets{first}"
    return CounterNote(
        device, key.interface, key.direction, key.queue, growth.packets, due, message, contradiction=bool(problem)
    )


def _due(packets: Mapping[CounterKey, int], key: CounterKey) -> int:
    """Growth that is due; a counter of no interface counts for all of them."""
    if key.interface:
        return packets.get(key, 0)
    return sum(n for k, n in packets.items() if (k.direction, k.queue) == (key.direction, key.queue))


def _problem(growth: _Growth, due: int, priority: bool) -> str:
    """How a counter contradicts the configuration; empty where it does not."""
    key, packets = growth.key, growth.packets
    if packets < 0:
        return f"{key} lost {-packets} packets from its counter: it was cleared, or the device restarted"
    if packets < due or (packets > due and not growth.after.overlapping):
        return f"{key} counted {packets} packets, and the configuration says {due}"
    if priority and growth.after.priority is False:
        return f"{key} is not served first, and the configuration says it is"
    if growth.queued is not None and growth.queued + growth.dropped < packets:
        kind = "priority queue" if priority else "queue"
        return f"{key} counted {packets} packets, and its {kind} took {growth.queued} of them"
    return ""


def _missing_counters(
    device: str, counts: frozenset[Direction], second: Sequence[QueueCount], expected: ExpectedCounts | None
) -> Iterator[CounterNote]:
    """Classes that must have counted and have no counter, on the sides that the device counts.

    What no class takes need not have one.
    """
    counted = {_key(count) for count in second}
    everywhere = {(key.direction, key.queue) for key in counted if not key.interface}
    for key, due in expected.packets.items() if expected else ():
        if key.direction not in counts or key.queue == CLASS_DEFAULT:
            continue
        if key not in counted and (key.direction, key.queue) not in everywhere:
            message = f"{key} has no counter, and the configuration says {due} packets"
            yield CounterNote(
                device, key.interface, key.direction, key.queue, None, due, message, contradiction=True
            )
