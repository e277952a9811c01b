"""The configuration archive: ``configure replace``, revert timers, and the two ``show archive config``."""

from __future__ import annotations

import asyncio
import re

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.files import MISSING, Files
from qoslab.boxes.ios.rows import group, leaving, row, setting
from qoslab.clock import YEAR
from qoslab.grammar import Match
from qoslab.shell import Reply, Row, Shell, apply_lines

OFF = "Archive feature not enabled\n"
_TURN_ON = "%Please turn config archive on first.\n"
_NOTHING = "%No Rollback Confirmed Change pending\n"
_VOLATILE = re.compile(r"(!|version |end$|Building configuration|Current configuration|Using \d)")


class Archive:
    """Archive commands and the pending rollback confirmed change."""

    def __init__(self, box: IosBox, files: Files) -> None:
        self._box = box
        self._files = files
        self._timer: asyncio.TimerHandle | None = None
        self._checkpoint = ""
        self._since = ""
        self._minutes = 0
        self._user = ""

    def exec_rows(self) -> list[Row]:
        """Privileged exec."""
        return [
            row("configure terminal revert timer <1-120>:minutes", self._configure),
            row("configure confirm", self._confirm),
            row("configure revert now", self._revert),
            row("configure revert timer <1-120>:minutes", self._retime),
            row(
                "configure replace FILE:file [list] [force] [ignorecase] [revert trigger error]:trigger"
                " [revert] [timer <1-120>:minutes|time <1-120>:minutes]",
                self._replace,
            ),
            row("show archive", self._show),
            row("show archive config rollback timer", self._show_timer),
            row("show archive config differences [FILE:one [FILE:other]]", self._differences),
            row("show archive config incremental-diffs FILE:file [ignorecase]", self._incremental),
        ]

    @staticmethod
    def global_rows() -> list[Row]:
        """``archive``."""
        return [group("archive", "archive", rank=30)]

    @staticmethod
    def tables() -> dict[str, list[Row]]:
        """The archive modes."""
        return {
            "archive": [
                *leaving(),
                group("log config", "archive-log", rank=1),
                setting("path LINE", rank=2),
                setting("maximum <1-14>", rank=3, defaults=["maximum 10"]),
                setting("time-period <1-525600>", rank=4),
                setting("write-memory", rank=5),
            ],
            "archive-log": [
                *leaving(),
                setting("logging enable", rank=1),
                setting("logging size <1-1000>", rank=2, defaults=["logging size 100"]),
                setting("notify syslog [LINE]", rank=3),
                setting("hidekeys", rank=4),
            ],
        }

    def clear(self) -> None:
        """No change is pending any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def pending(self) -> bool:
        """Whether a change waits to be confirmed."""
        return self._timer is not None

    def run_out(self) -> bool:
        """Take the pending change back now; False where none is pending."""
        if self._timer is None:
            return False
        self._timer.cancel()
        self._fire()
        return True

    def put_off(self) -> bool:
        """Take it back in a year, which the box does not say; False where none is pending."""
        if self._timer is None:
            return False
        self._timer.cancel()
        self._timer = self._box.clock.later(YEAR, self._fire)
        return True

    @property
    def enabled(self) -> bool:
        """The archive works once it has a path."""
        if self._box.faults.stands("no_archive"):
            return False
        held = self._box.running.get("archive")
        return held is not None and "path" in held

    # -- changes that must be confirmed ------------------------------------------------------------------
    def _arm(self, shell: Shell, minutes: int) -> None:
        self._checkpoint = self._box.running_text()
        self._user = shell.user
        self._start(minutes)

    def _start(self, minutes: int) -> None:
        self.clear()
        self._minutes = minutes
        self._since = self._box.clock.stamp()
        self._timer = self._box.clock.later(60 * minutes, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._load(self._checkpoint)

    def _configure(self, shell: Shell, match: Match) -> str:
        if not self.enabled:
            return _TURN_ON
        if self._timer is not None:
            return "%A rollback confirmed change is already pending\n"
        minutes = match.number("minutes")
        self._arm(shell, minutes)
        shell.enter("config", self._box.running)
        return (
            "Rollback Confirmed Change: Backing up current running config to flash:\n"
            f"Rollback Confirmed Change: Rollback will begin in {minutes} minutes.\n"
            'Enter "configure confirm" if you wish to keep what you have configured\n\n'
            "Enter configuration commands, one per line.  End with CNTL/Z."
        )

    def _confirm(self, shell: Shell, match: Match) -> str:
        del shell, match
        if self._timer is None:
            return _NOTHING
        self.clear()
        return ""

    def _revert(self, shell: Shell, match: Match) -> str:
        del shell, match
        if self._timer is None:
            return _NOTHING
        self.clear()
        self._load(self._checkpoint)
        return (
            "Rollback Confirmed Change: rolling to the saved configuration\n"
            "Total number of passes: 1\nRollback Done\n"
        )

    def _retime(self, shell: Shell, match: Match) -> str:
        del shell
        if self._timer is None:
            return _NOTHING
        self._start(match.number("minutes"))
        return ""

    def _show_timer(self, shell: Shell, match: Match) -> str:
        del shell, match
        if self._timer is None:
            return _NOTHING
        return (
            f"Time configured(or reconfigured): {self._since}\nTimer type: absolute timer\n"
            f"Timer value: {self._minutes} min\nUser: {self._user}"
        )

    # -- replacing ---------------------------------------------------------------------------------------
    def _load(self, text: str) -> list[str]:
        """Make the configuration what ``text`` says; returns the commands that failed.

        The new configuration is built beside the old one and swapped in whole.
        """
        before, name = self._box.running, self._box.hostname
        self._box.blank(text)
        said = apply_lines(self._box.console(loading=True), text.splitlines())
        built, self._box.running = self._box.running, before
        failed = [line.strip() for _, line, _ in said]
        if failed:
            self._box.hostname = name
        else:
            before.replace_with(built)
            self._box.attached.look(self._box.attached_policies(), "replaced")
        return failed

    def _replace(self, shell: Shell, match: Match) -> Reply | str:
        name = match["file"].partition(":")[2]
        if not self.enabled and "minutes" in match:
            return _TURN_ON
        text = self._files.text(name)
        if text is None:
            return MISSING.format(name=name)
        if not re.search(r"(?m)^(version |hostname |interface )", text):
            return f"%The input file is not a valid config file.\nflash:{name}\n"
        before = self._box.running_text()
        failed = self._load(text)
        if failed:
            lines = "\n".join(failed)
            return (
                "Rollback aborted after 1 passes\nThe following commands are failed to apply to the IOS image."
                f"\n********\n{lines}\n********\nThe original configuration has been successfully restored."
            )
        if "minutes" in match:
            self._checkpoint, self._user = before, shell.user
            self._start(match.number("minutes"))
        return "Total number of passes: 1\nRollback Done\n"

    # -- looking -----------------------------------------------------------------------------------------
    def _show(self, shell: Shell, match: Match) -> str:
        del shell, match
        held = self._box.running.get("archive")
        if held is None or not self.enabled:
            return OFF
        path = held.value("path").split(None, 1)[1]
        most = held.value("maximum", "maximum 10").split()[1]
        return (
            f"The maximum archive configurations allowed is {most}.\n"
            "There are currently 0 archive configurations saved.\n"
            f"The next archive file will be named {path}-1\n Archive #  Name\n   1         \n"
        )

    def _text(self, file: str) -> str | None:
        if file == "system:running-config":
            return self._box.running_text()
        if file == "nvram:startup-config":
            return self._box.storage.startup()
        return self._files.text(file.partition(":")[2])

    def _differences(self, shell: Shell, match: Match) -> str:
        del shell
        one = match.get("one", "system:running-config")
        other = match.get("other", "nvram:startup-config" if "one" not in match else "system:running-config")
        texts = (self._text(one), self._text(other))
        if texts[0] is None or texts[1] is None:
            missing = one if texts[0] is None else other
            return MISSING.format(name=missing.partition(":")[2])
        old, new = _contexts(texts[0]), _contexts(texts[1])
        lines = ["!Contextual Config Diffs:"]
        contexts: dict[tuple[str, ...], list[str]] = {}
        for sign, paths, others in (("+", new, old), ("-", old, new)):
            for path in paths:
                if path not in others:
                    contexts.setdefault(path[:-1], []).append(f"{sign}{path[-1]}")
        for context, changes in contexts.items():
            lines += [" " * depth + word for depth, word in enumerate(context)]
            lines += [" " * len(context) + change for change in changes]
        return "\n".join([*lines, *([] if contexts else ["!No changes were found"])])

    def _incremental(self, shell: Shell, match: Match) -> str:
        del shell
        name = match["file"].partition(":")[2]
        text = self._files.text(name)
        if text is None:
            return MISSING.format(name=name)
        held = {tuple(word.lower() for word in path) for path in _contexts(self._box.running_text())}
        wanted: list[tuple[str, ...]] = []
        for path in _contexts(text):
            low = tuple(word.lower() for word in path)
            if path[-1].startswith("no "):
                gone = (*low[:-1], low[-1].removeprefix("no ").strip())
                present = any(one[: len(low) - 1] == low[:-1] and _begins(one[-1], gone[-1]) for one in held)
                if low not in held and present:
                    wanted.append(path)
            elif low not in held:
                wanted.append(path)
        needed = {path[:depth] for path in wanted for depth in range(1, len(path) + 1)}
        body = [" " * (len(path) - 1) + path[-1] for path in _contexts(text) if path in needed]
        if not body:
            return "!List of Commands:\nend\n!No changes were found"
        return "\n".join(["!List of Commands:", *body, "end"])


def _begins(line: str, start: str) -> bool:
    """True when a negated line names a line (its first words are enough)."""
    return line == start or line.startswith(f"{start} ")


def _contexts(text: str) -> list[tuple[str, ...]]:
    """Every line with the lines it stands under, by indentation; blanks inside a line are folded."""
    found: list[tuple[str, ...]] = []
    stack: list[tuple[int, str]] = []
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if not line or _VOLATILE.match(line):
            continue
        depth = len(raw) - len(raw.lstrip())
        while stack and stack[-1][0] >= depth:
            stack.pop()
        stack.append((depth, line))
        path = tuple(word for _, word in stack)
        if path not in found:
            found.append(path)
    return found
