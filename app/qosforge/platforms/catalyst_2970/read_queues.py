"""Read a 2970's switch-wide queueing: output maps, queue sets and ingress queues."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.configtree import ConfigLine
from qosforge.dscp import parse_dscp
from qosforge.plan.model import InputQueues
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.catalyst_2970.input_queues import default_input_queues
from qosforge.platforms.catalyst_2970.levels import OutputMaps, QueueSet, default_maps, default_queue_set

_HIGHEST_THRESHOLD = 3200
"""Per cent of a queue's buffers, from 12.2(25)SEE1 (Catalyst 3750 command reference)."""


class SwitchQueues:
    """What the switch-wide lines say so far; everything else is as delivered."""

    def __init__(self) -> None:
        default = default_input_queues()
        self._output = {"cos": list(default_maps().cos), "dscp": list(default_maps().dscp)}
        self._input = {"cos": list(default.cos_to_queue), "dscp": list(default.dscp_to_queue)}
        self._input_levels: list[tuple[int, int, ConfigLine]] = []
        self._ingress = default
        self._sets = {1: default_queue_set(), 2: default_queue_set()}

    @property
    def maps(self) -> OutputMaps:
        """The output maps."""
        return OutputMaps(tuple(self._output["cos"]), tuple(self._output["dscp"]))

    @property
    def input_queues(self) -> InputQueues:
        """The ingress queues."""
        tables = {f"{kind}_to_queue": tuple(table) for kind, table in self._input.items()}
        return self._ingress.model_copy(update=tables)

    def queue_set(self, number: int) -> QueueSet:
        """A queue set."""
        return self._sets[number]

    def unheld(self) -> Iterator[ConfigLine]:
        """Lines that put marks on an ingress threshold where packets are dropped before the queue is full: plans
        hold the thresholds of ingress queues, not the marks on them."""
        for queue, threshold, line in self._input_levels:
            if threshold <= 2 and self._ingress.thresholds[queue - 1][threshold - 1] != 100:
                yield line

    def read(self, line: ConfigLine) -> bool:
        """Take a line; false when it is none of these, or out of range."""
        match line.text.split():
            case ["no", "mls", "qos", "srr-queue" | "queue-set", *_]:
                return True  # as delivered
            case ["mls", "qos", "srr-queue", "output", "cos-map" | "dscp-map" as table, *rest]:
                return self._take_output(table.removesuffix("-map"), rest)
            case ["mls", "qos", "srr-queue", "input", "cos-map" | "dscp-map" as table, *rest]:
                return self._take_input(table.removesuffix("-map"), rest, line)
            case ["mls", "qos", "srr-queue", "input", *rest]:
                return self._take_ingress(rest)
            case ["mls", "qos", "queue-set", "output", number, *rest] | [
                "mls",
                "qos",
                "queue-set",
                number,
                *rest,
            ] if is_number(number, 1, 2):
                return self._take_set(int(number), rest)
        return False

    def _take_output(self, kind: str, words: list[str]) -> bool:
        place, values = _placed(words, 4)
        marks = _marks(values, len(self._output[kind]))
        if place is None or not marks:
            return False
        for mark in marks:
            self._output[kind][mark] = place
        return True

    def _take_input(self, kind: str, words: list[str], line: ConfigLine) -> bool:
        place, values = _placed(words, 2)
        marks = _marks(values, len(self._input[kind]))
        if place is None or not marks:
            return False
        for mark in marks:
            self._input[kind][mark] = place[0]
        self._input_levels.append((*place, line))
        return True

    def _take_ingress(self, words: list[str]) -> bool:
        change: dict[str, object] = {}
        match words:
            case ["bandwidth", one, two] if is_number(one, 1, 100) and is_number(two, 1, 100):
                change["weights"] = (int(one), int(two))
            case ["buffers", one, two] if is_number(one) and is_number(two) and int(one) + int(two) == 100:
                change["buffer_percent"] = (int(one), int(two))
            case ["threshold", queue, one, two] if (
                is_number(queue, 1, 2) and is_number(one, 1, 100) and is_number(two, 1, 100)
            ):
                rows = list(self._ingress.thresholds)
                rows[int(queue) - 1] = (int(one), int(two))
                change["thresholds"] = tuple(rows)
            case ["priority-queue", queue, "bandwidth", part] if is_number(queue, 1, 2) and is_number(part, 0, 40):
                change["priority_queue"], change["priority_percent"] = int(queue), int(part)
            case _:
                return False
        self._ingress = self._ingress.model_copy(update=change)
        return True

    def _take_set(self, number: int, words: list[str]) -> bool:
        held = self._sets[number]
        match words:
            case ["buffers", *parts] if len(parts) == len(held.buffers) and all(
                is_number(p, 0, 100) for p in parts
            ):
                buffers = tuple(int(p) for p in parts)
                if sum(buffers) != 100:
                    return False
                self._sets[number] = QueueSet(buffers, held.thresholds)
                return True
            case ["threshold", queue, one, two, reserved, most] if (
                is_number(queue, 1, len(held.buffers))
                and all(is_number(p, 1, _HIGHEST_THRESHOLD) for p in (one, two, most))
                and is_number(reserved, 1, 100)
            ):
                rows = list(held.thresholds)
                rows[int(queue) - 1] = (int(one), int(two), int(reserved), int(most))
                self._sets[number] = QueueSet(held.buffers, tuple(rows))
                return True
        return False


def _placed(words: list[str], queues: int) -> tuple[tuple[int, int] | None, list[str]]:
    """Queue and threshold of ``queue Q threshold T values`` (1 in the old form without), and the values."""
    match words:
        case ["queue", queue, "threshold", threshold, *values] if is_number(queue, 1, queues) and is_number(
            threshold, 1, 3
        ):
            return (int(queue), int(threshold)), values
        case ["queue", queue, *values] if is_number(queue, 1, queues):
            return (int(queue), 1), values
    return None, []


def _marks(values: list[str], size: int) -> list[int]:
    """Marks below ``size``; none where a value is no such mark."""
    try:
        marks = [parse_dscp(v) for v in values]
    except ValueError:
        return []
    return marks if all(m < size for m in marks) else []
