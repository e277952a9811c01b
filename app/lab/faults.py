"""Faults planted into a box by tests: what a broken box does, never what the grammar does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.lab.errors import BoxError

KINDS = ("drop_line", "replace_line", "ignore_priority", "refuse", "disconnect_after", "slow", "drip", "clear")


@dataclass
class Faults:
    """The faults of one box. Patterns are regular expressions searched in the stripped line."""

    dropped: list[re.Pattern[str]] = field(default_factory=list)
    replaced: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    refused: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    ignore_priority: bool = False
    seconds_per_line: float = 0.0
    lines_left: int | None = None
    dripped: list[re.Pattern[str]] = field(default_factory=list)

    def plant(self, kind: str, args: Mapping[str, object]) -> None:
        """Plant one fault; ``clear`` removes all.

        drop_line {pattern}: a matching line is accepted and not stored. replace_line {pattern, text}: other
        text (a regex template) is stored. ignore_priority: priority is shown but not served. refuse
        {pattern, text}: the box answers ``text``. disconnect_after {lines}: the session dies when so many
        configuration lines were taken. slow {seconds}: every line takes that long (wall clock). drip {pattern}: a
        matching line is answered by a dot ten times a second, until the client goes.
        Raises BoxError for an unknown kind or missing arguments.
        """
        try:
            if kind == "drop_line":
                self.dropped.append(re.compile(str(args["pattern"])))
            elif kind == "replace_line":
                self.replaced.append((re.compile(str(args["pattern"])), str(args["text"])))
            elif kind == "refuse":
                self.refused.append((re.compile(str(args["pattern"])), str(args["text"])))
            elif kind == "ignore_priority":
                self.ignore_priority = True
            elif kind == "disconnect_after":
                self.lines_left = int(str(args["lines"]))
            elif kind == "slow":
                self.seconds_per_line = float(str(args["seconds"]))
            elif kind == "drip":
                self.dripped.append(re.compile(str(args["pattern"])))
            elif kind == "clear":
                self.__init__()  # type: ignore[misc]  # back to the dataclass defaults
            else:
                raise BoxError(f"unknown fault {kind!r}: one of {', '.join(KINDS)}")
        except KeyError as missing:
            raise BoxError(f"fault {kind} needs the argument {missing}") from missing
        except (ValueError, re.error) as bad:
            raise BoxError(f"fault {kind}: {bad}") from bad

    def stored(self, line: str) -> str | None:
        """What the box stores for a canonical line; None when it forgets it in silence."""
        text = line.strip()
        if any(pattern.search(text) for pattern in self.dropped):
            return None
        for pattern, other in self.replaced:
            if pattern.search(text):
                return pattern.sub(other, text)
        return line

    def refusal(self, line: str) -> str | None:
        """The error text planted for a typed line."""
        text = line.strip()
        return next((answer for pattern, answer in self.refused if pattern.search(text)), None)

    def drips(self, line: str) -> bool:
        """Whether a typed line is never answered to an end."""
        return any(pattern.search(line.strip()) for pattern in self.dripped)

    def take_line(self) -> bool:
        """Count one configuration line; False when the session must die before it."""
        if self.lines_left is None:
            return True
        if self.lines_left <= 0:
            self.lines_left = None
            return False
        self.lines_left -= 1
        return True
