"""``random-detect`` in a policy class or on an interface: thresholds, and which are defaults that do not print.

Default thresholds in packets: by precedence from a published ``show queueing random-detect``; by DSCP
unconfirmed. They are in the unit of the class's queue-limit (module "Byte-Based Weighted Random Early Detection" of
the congestion avoidance guide). From IOS-XE 16 on thresholds may be given in ms, us or bytes
(Cisco-IOS-XE-policy.yang 17.18.1, random-detect dscp; a router prints ``random-detect dscp 18 400 ms 500 ms 1``).
CoS and discard class share the precedence's numbers (unconfirmed).
"""

from __future__ import annotations

from collections.abc import Callable

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.arguments import DSCP_NAMES
from qoslab.boxes.ios.rows import row
from qoslab.boxes.ios.train import BOTH_FAMILIES, ECN, Train
from qoslab.config import Section
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.shell import Row, Shell

LARGEST = 40
PACKETS = "packets"
DENOMINATOR = 10
WEIGHT = 9
BY_PRECEDENCE = (20, 22, 24, 26, 28, 31, 33, 35)
_CLASS_SELECTORS = (20, 22, 24, 26, 28, 30, 32, 34)
_RESERVED = {"precedence": 37, "dscp": 36}  # what RSVP flows start at
_THRESHOLDS = "<1-4096>:low <1-4096>:high [<1-65536>:mark]"
_UNITS = "{ms|us|bytes}"
_IN_UNITS = f"<1-512000000>:low {_UNITS}:unit <1-512000000>:high {_UNITS}:again [<1-65535>:mark]"
_IOS_XE = "16.0"


def default_minimum(dscp: int) -> int:
    """The minimum threshold (packets) of a DSCP under ``dscp-based``."""
    drop = {2: 32, 4: 28, 6: 24}
    if dscp == 46:
        return 36
    if dscp % 8 == 0:
        return _CLASS_SELECTORS[dscp // 8]
    return drop.get(dscp % 8, 20) if 10 <= dscp <= 38 and dscp % 2 == 0 else 20


class Wred:
    """The rows of one place. ``start`` raises Refused where it cannot begin; ``rank`` is where it prints.

    The first line says what the rows go by: precedence (printed bare), DSCP, CoS or discard class.
    """

    def __init__(self, train: Train, rank: int, start: Callable[[Section], None]) -> None:
        self._rank = rank
        self._start = start
        self._kinds = {"precedence": "{PREC|rsvp}", "dscp": "{DSCP|rsvp}"}
        if train.since(BOTH_FAMILIES):
            self._kinds |= {"cos": "<0-7>", "discard-class": "<0-7>"}
        self._ecn = train.since(ECN)
        self._thresholds = (_THRESHOLDS, _IN_UNITS) if train.since(_IOS_XE) else (_THRESHOLDS,)

    def rows(self) -> list[Row]:
        """``random-detect`` and everything behind it."""
        hows = "|".join(f"{'prec' if kind == 'precedence' else kind}-based" for kind in self._kinds)
        rows = [
            row("random-detect", self._plain, True),
            row(f"random-detect {{{hows}}}:how", self._plain, True),
            row("random-detect exponential-weighting-constant <1-16>:n", self._weight,
                "random-detect exponential-weighting-constant [<1-16>]"),
            *(
                row(f"random-detect {kind} {value}:value {limits}", self._row,
                    f"random-detect {kind} {value}:value [LINE]")
                for kind, value in self._kinds.items()
                for limits in self._thresholds
            ),
        ]  # fmt: skip
        return [*rows, row("random-detect ecn", self._notify, True)] if self._ecn else rows

    def _plain(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            for line in section.starting("random-detect"):
                section.remove(line.key)
            return
        self._start(section)
        how = match.get("how", "prec-based").removesuffix("-based")
        kind = "precedence" if how == "prec" else how
        if any(section.starting(f"random-detect {other} ") for other in self._kinds if other != kind):
            raise Refused(refusals.WRED_MIXED)
        text = "random-detect" if kind == "precedence" else f"random-detect {kind}-based"
        shell.store(Section(text, key="random-detect", rank=self._rank))

    def _weight(self, shell: Shell, match: Match) -> None:
        key = "random-detect weight"
        if match.undone or match.number("n") == WEIGHT:
            shell.section.remove(key)
            return
        _require(shell.section)
        shell.store(Section(match.text, key=key, rank=self._rank + 1))

    def _notify(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("random-detect ecn")
            return
        _require(shell.section)
        shell.store(Section("random-detect ecn", rank=self._rank + 1))

    def _row(self, shell: Shell, match: Match) -> None:
        kind, value = match.words[1], match["value"]
        key = f"random-detect {kind} {value}"
        if match.undone:
            shell.section.remove(key)
            return
        _require(shell.section)
        if based_on(shell.section) != kind:
            raise Refused(refusals.WRED_MIXED)
        unit = match.get("unit", PACKETS)
        held = {unit_of(line.text) for line in shell.section.starting(f"random-detect {kind} ") if line.key != key}
        if "queue-limit" in shell.section:
            held.add(unit_of(shell.section.value("queue-limit")))
        if held - {unit} or match.get("again", unit) != unit:
            raise Refused(refusals.UNITS_DIFFER)
        low, high, mark = match.number("low"), match.number("high"), match.number("mark", DENOMINATOR)
        if high < low:
            raise SyntaxRefused("invalid", match.line.index(f" {high}") + 1, match.line)
        if (low, high, mark, unit) == (minimum(kind, value), LARGEST, DENOMINATOR, PACKETS):
            shell.section.remove(key)
            return
        said = "" if unit == PACKETS else f" {unit}"
        text = f"{key} {low}{said} {high}{said}" + (f" {mark}" if mark != DENOMINATOR else "")
        shell.store(Section(text, key=key, rank=self._rank + 2, order=(_number(value),)))


def based_on(section: Section) -> str:
    """What the rows of a ``random-detect`` go by."""
    words = section.value("random-detect").split()
    return words[1].removesuffix("-based") if len(words) > 1 else "precedence"


def unit_of(line: str) -> str:
    """The unit of a threshold or a limit."""
    return next((word for word in line.split() if word in {"ms", "us", "bytes"}), PACKETS)


def threshold_units(section: Section) -> set[str]:
    """The unit of the thresholds that a place has of its own."""
    kinds = ("precedence", "dscp", "cos", "discard-class")
    return {unit_of(line.text) for kind in kinds for line in section.starting(f"random-detect {kind} ")}


def thresholds(section: Section) -> list[tuple[str, int, int, int]]:
    """Every row in force: (name, minimum, maximum, mark denominator), defaults included, in code point order."""
    kind = based_on(section)
    names = sorted(DSCP_NAMES, key=DSCP_NAMES.__getitem__) if kind == "dscp" else [str(value) for value in range(8)]
    rows = []
    for name in names:
        given = [word for word in section.value(f"random-detect {kind} {name}").split()[3:] if word.isdigit()]
        low = int(given[0]) if given else minimum(kind, name)
        high = int(given[1]) if given else LARGEST
        rows.append((name, low, high, int(given[2]) if len(given) > 2 else DENOMINATOR))
    return rows


def _number(value: str) -> int:
    if value == "rsvp":
        return 64  # printed behind every code point
    return DSCP_NAMES[value] if value in DSCP_NAMES else int(value)


def minimum(kind: str, value: str) -> int:
    """The default minimum threshold (packets) of a row."""
    if value == "rsvp":
        return _RESERVED[kind]
    return default_minimum(_number(value)) if kind == "dscp" else BY_PRECEDENCE[_number(value)]


def _require(section: Section) -> None:
    if "random-detect" not in section:
        raise Refused(refusals.WRED_OFF)
