"""``reload``: now, or in so many minutes as a dead-man switch. The emulated box really reboots."""

from __future__ import annotations

import asyncio

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.exec import confirm
from qoslab.boxes.ios.rows import row
from qoslab.clock import YEAR
from qoslab.grammar import Match
from qoslab.shell import Question, Reply, Row, Shell


class Reload:
    """The reload commands and their timer."""

    def __init__(self, box: IosBox) -> None:
        self._box = box
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._user = ""

    def rows(self) -> list[Row]:
        """Privileged exec."""
        return [
            row("reload", lambda s, m: self._ask(s, 0)),
            row("reload in <1-34560>:minutes [LINE]", lambda s, m: self._ask(s, m.number("minutes"))),
            row("reload cancel", self._cancel),
            row("show reload", self._show),
        ]

    def clear(self) -> None:
        """Forget a scheduled reload (the box went down)."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def scheduled(self) -> bool:
        """Whether a reload is to come."""
        return self._timer is not None

    def run_out(self) -> bool:
        """Reload now what is to reload later; False where nothing is scheduled."""
        if self._timer is None:
            return False
        self._timer.cancel()
        self._fire()
        return True

    def put_off(self) -> bool:
        """Reload in a year what is scheduled, which ``show reload`` does not say; False where nothing is."""
        if self._timer is None:
            return False
        self._timer.cancel()
        self._timer = self._box.clock.later(YEAR, self._fire)
        return True

    def _ask(self, shell: Shell, minutes: int) -> Reply:
        if not self._box.modified:
            return self._proceed(shell, minutes)

        def answer(text: str) -> Reply:
            word = text.strip().lower()
            if not word or not ("yes".startswith(word) or "no".startswith(word)):
                return Reply("% Please answer 'yes' or 'no'.", ask=question)
            if "yes".startswith(word):
                self._box.save()
                reply = self._proceed(shell, minutes)
                return Reply(f"Building configuration...\n[OK]\n{reply.text}".strip(), ask=reply.ask)
            return self._proceed(shell, minutes)

        question = Question("System configuration has been modified. Save? [yes/no]: ", answer)
        return Reply(ask=question)

    def _proceed(self, shell: Shell, minutes: int) -> Reply:
        def answer(key: str) -> Reply:
            if key not in "\r\nyY":
                return Reply()
            self.clear()
            if minutes == 0:
                self._fire()
                return Reply(abort=True)
            self._due = self._box.clock.seconds() + 60 * minutes
            self._user = shell.user
            self._timer = self._box.clock.later(60 * minutes, self._fire)
            return Reply()

        text = (
            f"Reload scheduled in {minutes} minutes by {shell.user}\nReload reason: Reload Command"
            if minutes
            else ""
        )
        return Reply(text, ask=confirm("Proceed with reload? [confirm]", answer))

    def _fire(self) -> None:
        self._timer = None
        self._box.reboot()

    def _cancel(self, shell: Shell, match: Match) -> str:
        del shell, match
        if self._timer is None:
            return "%No reload is scheduled."
        self.clear()
        return "\n\n***\n*** --- SHUTDOWN ABORTED ---\n***\n"

    def _show(self, shell: Shell, match: Match) -> str:
        del shell, match
        if self._timer is None:
            return "No reload is scheduled."
        left = max(0, int(self._due - self._box.clock.seconds()))
        stamp = self._box.clock.stamp(ahead=left)
        return (
            f"Reload scheduled for {stamp} (in {left // 60} minutes and {left % 60} seconds)"
            f" by {self._user} on vty0\nReload reason: Reload Command"
        )
