"""When a planted fault happens: at which of the lines that are typed into a box."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qoslab.errors import BoxError

MODES = ("any", "exec", "configuration")


class Moment:
    """Counts the lines typed into a box, in whatever session, until it is there.

    ``pattern`` is a regular expression searched in the stripped line, or a list of them, to be met in turn: the
    moment is at a line that the last one is found in, once those before it were. ``mode`` looks at lines of that
    mode alone. ``lines`` such lines pass first; after ``times`` it is over (0: never).
    """

    def __init__(self, args: Mapping[str, object], *, times: int = 1) -> None:
        """Read the arguments of a fault; ``times`` where they do not say.

        Raises BoxError for what is no moment.
        """
        given = args.get("pattern", "")
        patterns = given if isinstance(given, list) else [given]
        self._patterns = [re.compile(str(pattern)) for pattern in patterns or [""]]
        self._mode = str(args.get("mode", "any"))
        if self._mode not in MODES:
            raise BoxError(f"no mode {self._mode!r}: one of {', '.join(MODES)}")
        self._pass = int(str(args.get("lines", 0)))
        self._times = int(str(args.get("times", times)))
        self._endless = self._times == 0
        self._met = 0

    @property
    def over(self) -> bool:
        """Whether it never comes again."""
        return not self._endless and self._times <= 0

    def at(self, line: str, *, configuring: bool) -> bool:
        """Take one typed line; True when this is the moment."""
        text = line.strip()
        if not text or self.over or self._mode == ("exec" if configuring else "configuration"):
            return False
        if not self._patterns[self._met].search(text):
            return False
        if self._met < len(self._patterns) - 1:
            self._met += 1
            return False
        if self._pass > 0:
            self._pass -= 1
            return False
        self._times -= 1
        return True
