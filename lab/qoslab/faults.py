"""Faults planted into a box: what a broken box does, never what the grammar does.

The faults of a box together are its fault plan. How each looks on the wire is somebody else's word:

- ``hang``, ``slow``, ``disconnect``: Netmiko's ``ReadTimeout`` ("Pattern not detected") and its "Socket is closed".
- ``page``: Netmiko's issue 1152, a Catalyst 2960 that stops at ``--More--`` despite ``terminal length 0``.
- ``banner``: Netmiko's issue 3361, an ERS whose banner draws a logo of ``#``, the very end of a prompt.
- ``log``: the box's own form, `Box.log_line`.
- ``refuse_login``: SSH_MSG_USERAUTH_FAILURE (RFC 4252, 5.1), of which NAPALM makes ``ConnectAuthError``.
- ``no_archive``: the answer by which NAPALM's driver ``ios`` knows it ("Archive feature not enabled").
- ``full_flash``: the reason in Cisco's field notice 13000, "(Not enough space on device)".
- ``rename``: a host name is part of the prompt; NAPALM's ``ios`` learns it anew after every commit for that.
- ``reboot``, ``early_timer``, ``late_timer``, ``save``: nothing on the wire but sessions that end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from qoslab.errors import BoxError
from qoslab.moments import Moment

STORING = ("drop_line", "replace_line", "ignore_priority")
"""What the box does with a configuration line that it takes."""

AT_A_LINE = (
    "refuse", "disconnect", "hang", "drip", "slow", "log", "page", "save", "reboot", "rename", "early_timer",
    "late_timer",
)  # fmt: skip
"""What happens at a line that is typed: each takes the arguments of a `Moment` besides its own."""

OF_THE_BOX = ("save", "reboot", "rename", "early_timer", "late_timer")
"""Of those, what happens to the whole box: it may happen at any other moment, too (`Box.happen`)."""

STANDING = ("refuse_login", "banner", "full_flash", "no_archive")
"""What is so as long as it is planted, or so many ``times``."""

KINDS = (*STORING, *AT_A_LINE, *STANDING, "clear")

_ENDLESS = frozenset({"refuse", "drip", "slow"})
"""What happens at every such line unless told; the others happen once."""

_NEEDED = {"refuse": ("text",), "drip": ("pattern",), "slow": ("seconds",), "rename": ("name",)}


@dataclass
class Fault:
    """A fault that happens at a moment, with the arguments that are its own."""

    kind: str
    moment: Moment
    text: str = ""
    seconds: float = 0.0
    taken: bool = False


@dataclass
class Faults:
    """The faults of one box. Patterns are regular expressions searched in the stripped line.

    ``met`` counts by kind how often a fault came about.
    """

    dropped: list[re.Pattern[str]] = field(default_factory=list)
    replaced: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    ignore_priority: bool = False
    planned: list[Fault] = field(default_factory=list)
    standing: dict[str, int] = field(default_factory=dict)
    banner: str = ""
    met: Counter[str] = field(default_factory=Counter)

    def plant(self, kind: str, args: Mapping[str, object]) -> None:
        """Plant one fault; ``clear`` removes all.

        Lines that are stored: drop_line {pattern}: a matching line is accepted and not stored. replace_line
        {pattern, text}: other text (a regex template) is stored. ignore_priority: priority is shown but not served.

        At a line that is typed, with the arguments of a `Moment`: refuse {text}: the box answers ``text``
        and does nothing, also to a line of a file that is loaded. disconnect {taken}: the session dies amid the
        line's echo; with ``taken`` once the line was carried out, before its answer. hang {taken}: the box says no
        more. drip: it answers a dot ten times a second, until the client goes. slow {seconds}: the line
        takes that long (wall clock). log: a message of the box's log in the middle of the answer. page: the screen
        is 24 lines long again. save: running is written to startup by the box itself. reboot: running is lost,
        startup loaded. rename {name}: somebody else gives it this host name. early_timer: what is to take a change
        back unless confirmed does so now. late_timer: it does so in a year.

        As long as it is planted, or so many ``times``: refuse_login: no credentials are good. banner {text}: said
        at every login. full_flash: no file and no startup configuration can be written. no_archive: the archive is
        not configured.

        Raises BoxError for an unknown kind, missing arguments, or those that are wrong.
        """
        missing = next((name for name in _NEEDED.get(kind, ()) if name not in args), None)
        if missing is not None:
            raise BoxError(f"fault {kind} needs the argument {missing!r}")
        try:
            if kind in AT_A_LINE:
                self.planned.append(
                    Fault(
                        kind,
                        Moment(args, times=0 if kind in _ENDLESS else 1),
                        text=str(args.get("text", args.get("name", ""))),
                        seconds=float(str(args.get("seconds", 0))),
                        taken=bool(args.get("taken", False)),
                    )
                )
            elif kind in STANDING:
                self.standing[kind] = int(str(args.get("times", -1)))
                self.banner = str(args["text"]) if kind == "banner" else self.banner
            elif kind == "drop_line":
                self.dropped.append(re.compile(str(args["pattern"])))
            elif kind == "replace_line":
                self.replaced.append((re.compile(str(args["pattern"])), str(args["text"])))
            elif kind == "ignore_priority":
                self.ignore_priority = True
            elif kind == "clear":
                self.__init__()  # type: ignore[misc]  # back to the dataclass defaults
            else:
                raise BoxError(f"unknown fault {kind!r}: one of {', '.join(KINDS)}")
        except KeyError as absent:
            raise BoxError(f"fault {kind} needs the argument {absent}") from absent
        except (ValueError, re.error) as bad:
            raise BoxError(f"fault {kind}: {bad}") from bad

    def stored(self, line: str) -> str | None:
        """What the box stores for a canonical line; None when it forgets it in silence."""
        text = line.strip()
        if any(pattern.search(text) for pattern in self.dropped):
            self.met["drop_line"] += 1
            return None
        for pattern, other in self.replaced:
            if pattern.search(text):
                self.met["replace_line"] += 1
                return pattern.sub(other, text)
        return line

    def refusal(self, line: str, *, configuring: bool) -> str | None:
        """The error text planted for a line that is typed, or stands in a file that is loaded."""
        found = next(self._at(line, configuring, lambda kind: kind == "refuse"), None)
        if found is None:
            return None
        self.met["refuse"] += 1
        return found.text

    def at(self, line: str, *, configuring: bool) -> list[Fault]:
        """The faults that happen at a typed line; who lets them happen says so by `came_about`."""
        return list(self._at(line, configuring, lambda kind: kind != "refuse"))

    def came_about(self, kind: str) -> None:
        """Count a fault that happened."""
        self.met[kind] += 1

    def stands(self, kind: str) -> bool:
        """Whether a standing fault is there now, which it is met by asking."""
        left = self.standing.get(kind, 0)
        if left == 0:
            return False
        self.standing[kind] = left - 1 if left > 0 else left
        self.met[kind] += 1
        return True

    def _at(self, line: str, configuring: bool, wanted: Callable[[str], bool]) -> Iterator[Fault]:
        for fault in self.planned:
            if wanted(fault.kind) and fault.moment.at(line, configuring=configuring):
                yield fault
