"""The 2970's tables: CoS and DSCP maps, queue sets, ingress and egress queues. Defaults as published."""

from __future__ import annotations

import re

from app.lab.boxes.catalyst_maps import TableMap
from app.lab.boxes.ios_rows import row, setting
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.shell import Row, Run, Shell

COS_DSCP = (0, 8, 16, 24, 32, 40, 48, 56)
BUFFERS = (25, 25, 25, 25)
# Two sources disagree on the reserved part; this is what a published show output printed.
THRESHOLDS = {1: (100, 100, 50, 400), 2: (200, 200, 100, 400), 3: (100, 100, 50, 400), 4: (100, 100, 100, 400)}
_ORDER = {"bandwidth": "4 4", "buffers": "90 10", "threshold 1": "100 100", "threshold 2": "100 100"}
_DSCPS = tuple(range(64))
_COSES = tuple(range(8))


def _queue_map(side: str, kind: str, default: dict[int, str], rank: int) -> TableMap:
    keys = _COSES if kind == "cos" else _DSCPS
    head = f"mls qos srr-queue {side} {kind}-map"

    def render(target: str, values: str) -> str:
        queue, threshold = target.split("-")
        return f"{head} queue {queue} threshold {threshold} {values}"

    pattern = re.compile(rf"{head} queue (?P<queue>\d) threshold (?P<threshold>\d) (?P<values>[\d ]+)")
    return TableMap(keys, lambda value: default[value], render, pattern, rank, split=True)


def _out_dscp(dscp: int) -> str:
    if 40 <= dscp <= 47:
        return "1-1"
    return "2-1" if dscp < 16 else "3-1" if dscp < 32 else "4-1"


OUTPUT_DSCP = _queue_map("output", "dscp", {dscp: _out_dscp(dscp) for dscp in _DSCPS}, 36)
OUTPUT_COS = _queue_map(
    "output", "cos", dict(zip(_COSES, ("2-1", "2-1", "3-1", "3-1", "4-1", "1-1", "4-1", "4-1"), strict=True)), 35
)
INPUT_DSCP = _queue_map("input", "dscp", {dscp: "2-1" if 40 <= dscp <= 47 else "1-1" for dscp in _DSCPS}, 34)
INPUT_COS = _queue_map("input", "cos", {cos: "2-1" if cos == 5 else "1-1" for cos in _COSES}, 33)
DSCP_COS = TableMap(
    _DSCPS,
    lambda dscp: str(dscp // 8),
    lambda cos, values: f"mls qos map dscp-cos {values} to {cos}",
    re.compile(r"mls qos map dscp-cos (?P<values>[\d ]+) to (?P<target>\d)"),
    31,
)
POLICED = TableMap(
    _DSCPS,
    str,
    # Real boxes print two blanks here.
    lambda dscp, values: f"mls qos map policed-dscp  {values} to {dscp}",
    re.compile(r"mls qos map policed-dscp  (?P<values>[\d ]+) to (?P<target>\d+)"),
    30,
)


def mutation(name: str) -> TableMap:
    """The DSCP mutation map of a name."""
    return TableMap(
        _DSCPS,
        str,
        lambda dscp, values: f"mls qos map dscp-mutation {name} {values} to {dscp}",
        re.compile(rf"mls qos map dscp-mutation {re.escape(name)} (?P<values>[\d ]+) to (?P<target>\d+)"),
        31,
    )


_WEIGHT = "<1-3200>:v"
_SHARE = "<0-100>:a"


def global_rows() -> list[Row]:
    """``mls qos`` in global configuration."""
    level = f"<1-4>:queue {_WEIGHT} {_WEIGHT} <1-100>:v {_WEIGHT}"
    rows = [
        setting("mls qos", rank=40),
        setting("mls qos rewrite ip dscp", rank=39, on=True),
        row("mls qos map cos-dscp " + " ".join(["NUM64:v"] * 8), _eight, "mls qos map cos-dscp [LINE]"),
        row("mls qos map ip-prec-dscp " + " ".join(["NUM64:v"] * 8), _eight, "mls qos map ip-prec-dscp [LINE]"),
        row("mls qos map dscp-cos NUM64:v*8 to <0-7>:to", _table(DSCP_COS), "mls qos map dscp-cos [LINE]"),
        row("mls qos map policed-dscp NUM64:v*8 to NUM64:to", _table(POLICED),
            "mls qos map policed-dscp [LINE]"),
        row("mls qos map dscp-mutation WORD:name NUM64:v*8 to NUM64:to", _mutation,
            "mls qos map dscp-mutation WORD:name [LINE]"),
        row(f"mls qos queue-set output <1-2>:set buffers {_SHARE} {_SHARE} {_SHARE} {_SHARE}", _buffers,
            "mls qos queue-set output <1-2>:set buffers [LINE]"),
        row(f"mls qos queue-set output <1-2>:set threshold {level}",
            _threshold, "mls qos queue-set output <1-2>:set threshold <1-4>:queue [LINE]"),
        row("mls qos srr-queue input bandwidth <1-100> <1-100>", _input,
            "mls qos srr-queue input bandwidth [LINE]"),
        row("mls qos srr-queue input buffers <0-100>:a <0-100>:a", _input,
            "mls qos srr-queue input buffers [LINE]"),
        row("mls qos srr-queue input threshold <1-2>:queue <1-100> <1-100>", _input,
            "mls qos srr-queue input threshold <1-2>:queue [LINE]"),
        row("mls qos srr-queue input priority-queue <1-2>:queue bandwidth <0-40>:share", _input_priority,
            "mls qos srr-queue input priority-queue <1-2>:queue [LINE]"),
        setting("mls qos aggregate-policer WORD <8000-1000000000> <8000-1000000> exceed-action"
                " {drop|policed-dscp-transmit}", rank=38, many=True),
    ]  # fmt: skip
    maps = {"input cos": INPUT_COS, "input dscp": INPUT_DSCP, "output cos": OUTPUT_COS, "output dscp": OUTPUT_DSCP}
    for words, table in maps.items():
        side, kind = words.split()
        value = "<0-7>" if kind == "cos" else "NUM64"
        queues = "<1-2>" if side == "input" else "<1-4>"
        head = f"mls qos srr-queue {side} {kind}-map"
        pattern = f"{head} [queue {queues}:queue] [threshold <1-3>:threshold] {value}:v*8"
        rows.append(row(pattern, _queued(table), f"{head} [LINE]"))
    return rows


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


def buffers(running: Section, number: int) -> list[int]:
    """The buffer shares of a queue set, percent."""
    words = running.value(f"mls qos queue-set output {number} buffers").split()[6:]
    return [int(word) for word in words] or list(BUFFERS)


def thresholds(running: Section, number: int, queue: int) -> list[int]:
    """Threshold 1, threshold 2, reserved and maximum of a queue, percent."""
    words = running.value(f"mls qos queue-set output {number} threshold {queue}").split()[7:]
    return [int(word) for word in words] or list(THRESHOLDS[queue])


def _eight(shell: Shell, match: Match) -> None:
    key = " ".join(match.words[:4])
    if match.undone or tuple(map(int, match.values("v"))) == COS_DSCP:
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=32))


def _table(table: TableMap) -> Run:
    def run(shell: Shell, match: Match) -> None:
        if match.undone:
            table.reset(shell)
        else:
            table.assign(shell, [int(value) for value in match.values("v")], match["to"])

    return run


def _mutation(shell: Shell, match: Match) -> None:
    _table(mutation(match["name"]))(shell, match)


def _queued(table: TableMap) -> Run:
    def run(shell: Shell, match: Match) -> None:
        if match.undone:
            table.reset(shell)
            return
        target = f"{match.get('queue', '1')}-{match.get('threshold', '1')}"
        table.assign(shell, [int(value) for value in match.values("v")], target)

    return run


def _buffers(shell: Shell, match: Match) -> None:
    key = f"mls qos queue-set output {match['set']} buffers"
    if match.undone:
        shell.section.remove(key)
        return
    values = tuple(map(int, match.values("a")))
    if sum(values) != 100:
        raise Refused("%Error: total buffer allocation must be 100%")  # unconfirmed wording
    if values == BUFFERS:
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=37, order=(match["set"], 9)))


def _threshold(shell: Shell, match: Match) -> None:
    queue = match.number("queue")
    key = f"mls qos queue-set output {match['set']} threshold {queue}"
    if match.undone or tuple(map(int, match.values("v"))) == THRESHOLDS[queue]:
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=37, order=(match["set"], queue)))


def _input(shell: Shell, match: Match) -> None:
    name = next(word for word in match.words if word in {"bandwidth", "buffers", "threshold"})
    if name == "threshold":
        name = f"threshold {match['queue']}"
    key = f"mls qos srr-queue input {name}"
    if match.undone or match.text == f"{key} {_ORDER[name]}":
        shell.section.remove(key)
        return
    if name == "buffers" and sum(map(int, match.values("a"))) != 100:
        raise Refused("%Error: total buffer allocation must be 100%")  # unconfirmed wording
    shell.store(Section(match.text, key=key, rank=29))


def _input_priority(shell: Shell, match: Match) -> None:
    key = "mls qos srr-queue input priority-queue"
    if match.undone or (match["queue"], match.get("share")) == ("2", "10"):
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=29))
