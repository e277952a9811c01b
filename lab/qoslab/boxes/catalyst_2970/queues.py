"""The 2970's queues: two on ingress, four on egress, two sets of buffers. Defaults as published."""

from __future__ import annotations

import re

from qoslab.boxes.catalyst.maps import TableMap
from qoslab.boxes.catalyst_2970.maps import COSES, DSCPS, NUMBER
from qoslab.boxes.ios.rows import row, setting
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Run, Shell

BUFFERS = (25, 25, 25, 25)
# Two sources disagree on the reserved part; this is what a published show output printed.
THRESHOLDS = {1: (100, 100, 50, 400), 2: (200, 200, 100, 400), 3: (100, 100, 50, 400), 4: (100, 100, 100, 400)}
_INPUT = {"bandwidth": "4 4", "threshold 1": "100 100", "threshold 2": "100 100", "buffers": "90 10"}
_INPUT_RANK = 32
_MAP_RANKS = {"input cos": 33, "input dscp": 34, "output cos": 35, "output dscp": 36}
_SETS_RANK = 37
_WRONG_SUM = "%Error: total buffer allocation must be 100%"  # unconfirmed wording


def _queue_map(place: str, default: dict[int, str]) -> TableMap:
    side, kind = place.split()
    head = f"mls qos srr-queue {side} {kind}-map"

    def render(target: str, values: str) -> str:
        queue, threshold = target.split("-")
        return f"{head} queue {queue} threshold {threshold} {values}"

    pattern = re.compile(rf"{head} queue (?P<queue>\d) threshold (?P<threshold>\d) (?P<values>[\d ]+)")
    keys = COSES if kind == "cos" else DSCPS
    return TableMap(keys, lambda value: default[value], render, pattern, _MAP_RANKS[place], split=True)


def _out_dscp(dscp: int) -> str:
    if 40 <= dscp <= 47:
        return "1-1"
    return "2-1" if dscp < 16 else "3-1" if dscp < 32 else "4-1"


_OUT_COS = ("2-1", "2-1", "3-1", "3-1", "4-1", "1-1", "4-1", "4-1")
INPUT_COS = _queue_map("input cos", {cos: "2-1" if cos == 5 else "1-1" for cos in COSES})
INPUT_DSCP = _queue_map("input dscp", {dscp: "2-1" if 40 <= dscp <= 47 else "1-1" for dscp in DSCPS})
OUTPUT_COS = _queue_map("output cos", dict(zip(COSES, _OUT_COS, strict=True)))
OUTPUT_DSCP = _queue_map("output dscp", {dscp: _out_dscp(dscp) for dscp in DSCPS})


def global_rows(highest: int) -> list[Row]:
    """Queues in global configuration; ``highest`` is the highest drop threshold of the image, in percent."""
    level = f"<1-{highest}>:v"
    levels = f"{level} {level} <1-100>:v {level}"
    parts = "<0-100>:a <0-100>:a <0-100>:a <0-100>:a"
    sets = "mls qos queue-set output <1-2>:set"
    pairs = {
        "bandwidth": "<1-100> <1-100>",
        "buffers": "<0-100>:a <0-100>:a",
        "threshold <1-2>:queue": "<1-100> <1-100>",
    }
    priority = "mls qos srr-queue input priority-queue <1-2>:queue"
    return [
        row(f"{sets} buffers {parts}", _buffers, f"{sets} buffers [{parts}]"),
        row(f"{sets} threshold <1-4>:queue {levels}", _threshold, f"{sets} threshold <1-4>:queue [{levels}]"),
        *(
            row(f"mls qos srr-queue input {name} {values}", _input, f"mls qos srr-queue input {name} [{values}]")
            for name, values in pairs.items()
        ),
        row(f"{priority} bandwidth <0-40>:share", _input_priority, f"{priority} [bandwidth <0-40>:share]"),
        *_map_rows("input cos", INPUT_COS),
        *_map_rows("input dscp", INPUT_DSCP),
        *_map_rows("output cos", OUTPUT_COS),
        *_map_rows("output dscp", OUTPUT_DSCP),
    ]


def _map_rows(place: str, table: TableMap) -> list[Row]:
    side, kind = place.split()
    head = f"mls qos srr-queue {side} {kind}-map"
    value = "<0-7>" if kind == "cos" else NUMBER
    queues = "<1-2>" if side == "input" else "<1-4>"
    where = f"queue {queues}:queue [threshold <1-3>:threshold] {value}:v*8"
    return [row(f"{head} {where}", _queued(table), f"{head} [{where}]")]


def interface_rows() -> list[Row]:
    """Egress scheduling of a port."""
    return [
        setting("srr-queue bandwidth share <1-255> <1-255> <1-255> <1-255>", rank=60,
                defaults=["srr-queue bandwidth share 25 25 25 25"]),
        setting("srr-queue bandwidth shape <0-65535> <0-65535> <0-65535> <0-65535>", rank=61,
                defaults=["srr-queue bandwidth shape 25 0 0 0"]),
        setting("srr-queue bandwidth limit <10-90>", rank=62),
        setting("queue-set <1-2>", rank=63, defaults=["queue-set 1"]),
        setting("priority-queue out", rank=64),
    ]  # fmt: skip


def share(port: Section) -> list[int]:
    """The shared weights of a port."""
    return [int(word) for word in port.value("srr-queue bandwidth share", "x x x 25 25 25 25").split()[3:]]


def shape(port: Section) -> list[int]:
    """The shaped weights of a port; 0 is unshaped, W limits the queue to 1/W of the port."""
    return [int(word) for word in port.value("srr-queue bandwidth shape", "x x x 25 0 0 0").split()[3:]]


def queue_set(port: Section) -> str:
    """The number of the queue set a port uses."""
    return port.value("queue-set", "queue-set 1").split()[1]


def buffers(running: Section, number: int) -> list[int]:
    """The buffer shares of a queue set, percent."""
    words = running.value(f"mls qos queue-set output {number} buffers").split()[6:]
    return [int(word) for word in words] or list(BUFFERS)


def thresholds(running: Section, number: int, queue: int) -> list[int]:
    """Threshold 1, threshold 2, reserved and maximum of a queue, percent."""
    words = running.value(f"mls qos queue-set output {number} threshold {queue}").split()[7:]
    return [int(word) for word in words] or list(THRESHOLDS[queue])


def input_pair(running: Section, name: str) -> list[int]:
    """Two values of the ingress queues: ``bandwidth``, ``buffers``, or a queue's ``threshold 1``."""
    return [int(word) for word in running.value(f"mls qos srr-queue input {name}", _INPUT[name]).split()[-2:]]


def input_priority(running: Section) -> list[int]:
    """The bandwidth (percent) that each ingress queue has as a priority queue."""
    words = running.value("mls qos srr-queue input priority-queue", "2 bandwidth 10").split()
    return [int(words[-1]) if words[-3] == str(queue) else 0 for queue in (1, 2)]


def _queued(table: TableMap) -> Run:
    def run(shell: Shell, match: Match) -> None:
        if match.undone:
            table.reset(shell)
            return
        target = f"{match['queue']}-{match.get('threshold', '1')}"
        table.assign(shell, [int(value) for value in match.values("v")], target)

    return run


def _buffers(shell: Shell, match: Match) -> None:
    key = f"mls qos queue-set output {match['set']} buffers"
    values = tuple(map(int, match.values("a")))
    if match.undone or values == BUFFERS:
        shell.section.remove(key)
        return
    if sum(values) != 100:
        raise Refused(_WRONG_SUM)
    # The buffers of both sets print after the thresholds of both.
    shell.store(Section(match.text, key=key, rank=_SETS_RANK, order=(1, match["set"])))


def _threshold(shell: Shell, match: Match) -> None:
    queue = match.number("queue")
    key = f"mls qos queue-set output {match['set']} threshold {queue}"
    if match.undone or tuple(map(int, match.values("v"))) == THRESHOLDS[queue]:
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=_SETS_RANK, order=(0, match["set"], queue)))


def _input(shell: Shell, match: Match) -> None:
    name = next(word for word in match.words if word in {"bandwidth", "buffers", "threshold"})
    if name == "threshold":
        name = f"threshold {match['queue']}"
    key = f"mls qos srr-queue input {name}"
    if match.undone or match.text == f"{key} {_INPUT[name]}":
        shell.section.remove(key)
        return
    if name == "buffers" and sum(map(int, match.values("a"))) != 100:
        raise Refused(_WRONG_SUM)
    shell.store(Section(match.text, key=key, rank=_INPUT_RANK, order=(list(_INPUT).index(name),)))


def _input_priority(shell: Shell, match: Match) -> None:
    key = "mls qos srr-queue input priority-queue"
    if match.undone:
        if shell.section.value(key).startswith(f"{key} {match['queue']} "):
            shell.section.remove(key)
    elif (match["queue"], match["share"]) == ("2", "10"):
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=_INPUT_RANK, order=(len(_INPUT),)))
