"""What the commands of FTOS share: the object a mode edits, and the ways in which the box says no.

Texts of refusals: FTOS starts them with ``% Error:``; only few are published word for word, the
rest keep that form and are the lab's assumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

from qoslab.boxes.force10_e300.rates import Meter, Rate
from qoslab.boxes.force10_e300.state import Chassis
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.patterns import ArgumentType
from qoslab.shell import Shell
from qoslab.typed import Held, TypedBox

Item = TypeVar("Item")


def chassis(shell: Shell) -> Chassis:
    """The configuration that a login edits."""
    return cast("TypedBox[Chassis]", shell.box).state


def item(shell: Shell, kind: type[Item]) -> Item:
    """The object that the current mode edits."""
    held = shell.section
    assert isinstance(held, Held)
    assert isinstance(held.item, kind)
    return held.item


def checked(shell: Shell, name: str) -> str:
    """A name for a new object. Raises Refused when it is too long."""
    longest = chassis(shell).name_length
    if len(name) > longest:
        raise Refused(f"% Error: Name must not exceed {longest} characters.")
    return name


def existing(table: Mapping[str, Item], name: str, what: str) -> Item:
    """The object called ``name``. Raises Refused when there is none."""
    if name not in table:
        raise Refused(f"% Error: {what} {name} does not exist.")
    return table[name]


def unused(users: list[str], what: str) -> None:
    """Raises Refused while anything refers to the object."""
    if users:
        raise Refused(f"% Error: {what} is in use.")


def _numbers(high: int, name: str) -> ArgumentType:
    def parse(token: str) -> str | None:
        parts = token.split(",")
        if not all(part.isascii() and part.isdigit() and len(part) < 5 and int(part) <= high for part in parts):
            return None
        return ",".join(str(int(part)) for part in parts)

    return ArgumentType(name, parse)


TYPES = {"DSCPS": _numbers(63, "DSCPS"), "PRIORITIES": _numbers(7, "PRIORITIES")}
"""Comma-separated lists of values."""


def since(shell: Shell, match: Match, word: str, *release: int) -> None:
    """Raises SyntaxRefused at ``word`` of the line when the box's release is older than ``release``."""
    if chassis(shell).release < release:
        raise SyntaxRefused("invalid", max(match.line.lower().rfind(f" {word[:2]}") + 1, 0), match.line)


def layer2_of(shell: Shell, match: Match) -> bool:
    """Whether the line says ``layer2``. Raises SyntaxRefused where the box's release does not know the word.

    An E-Series knows it since 7.4.1.0: E600i command line reference p. 1133 (``qos-policy-input``) and S4820T
    reference p. 1115 (``service-policy input``), command history: "Expanded to add support for Layer 2".  Class
    maps and policy maps are taken to have come with it.
    """
    if "layer2" not in match:
        return False
    since(shell, match, "layer2", 7, 4, 1)
    return True


# -- rates --------------------------------------------------------------------------------------------

_RATE = "{kbps <512-10000000>|<0-10000>}"
METER = f"{_RATE}:rate [<16-200000>:burst] [peak {_RATE}:peak [<16-200000>:peak_burst]]"
"""Rate in Mb/s, or kb/s (an E-Series wants 512 and more), burst in KB."""

SHAPE = "{kbps <0-10000000>|<0-10000>}:rate [<0-10000>:burst]"
"""Shaping rate in Mb/s, or kb/s after the keyword; burst in KB."""


def _rate(match: Match, rate: str, burst: str) -> Rate:
    words = match.values(rate)
    return Rate(int(words[-1]), len(words) > 1, match.number(burst) if burst in match else None)


def _kbps_of_release(shell: Shell, match: Match, *rates: str) -> None:
    """Raises SyntaxRefused where a rate is in kb/s and the box's release does not know the word.

    S4820T reference p. 1114 (``rate police``, ``rate-police``) and p. 1236, command history: "Version 8.2.1.0 Added
    the kbps option on the C-Series, E-Series, and S-Series".  For ``rate limit`` it is taken to be the same.
    """
    if any(len(match.values(rate)) > 1 for rate in rates if rate in match):
        since(shell, match, "kbps", 8, 2, 1)


def meter(shell: Shell, match: Match) -> Meter:
    """The rates of a line with :data:`METER`. Raises Refused when the peak is below the rate."""
    _kbps_of_release(shell, match, "rate", "peak")
    made = Meter(_rate(match, "rate", "burst"), _rate(match, "peak", "peak_burst") if "peak" in match else None)
    if made.ceiling.bits_per_second < made.committed.bits_per_second:
        raise Refused("% Error: Peak rate must not be less than the committed rate.")
    return made


def shape(shell: Shell, match: Match) -> Rate:
    """The rate of a line with :data:`SHAPE`. Raises Refused unless it is a multiple of 10 Mb/s."""
    _kbps_of_release(shell, match, "rate")
    made = _rate(match, "rate", "burst")
    if made.bits_per_second % 10_000_000:
        raise Refused("% Error: Shape rate must be a multiple of 10 Mbps.")
    return made
