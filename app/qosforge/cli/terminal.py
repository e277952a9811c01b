"""The two streams of the command line: results on standard output, progress on standard error.

On a terminal a spinner under the last line of progress shows how long that step lasts, from its second second on.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from qosforge.visible import visible

UNBOUNDED = 10_000
"""Columns where the output is no terminal: nothing is broken over lines or cut."""
_RULE = 100
_PATIENCE_SECONDS = 1.0
"""How long a step lasts before a spinner says that it is under way."""


class Verbosity(IntEnum):
    """How much is told beside results and errors."""

    QUIET = 0
    """Nothing."""
    USUAL = 1
    """Progress."""
    VERBOSE = 2
    """Progress and the log."""


class _Terminal(Console):
    """A terminal that reads no text as markup or as control characters, wherever it comes from."""

    def __init__(self, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else UNBOUNDED
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`: all that is printed comes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class _Results(_Terminal):
    """Standard output. The spinner is gone before anything is printed there."""

    def print(self, *objects: Any, **options: Any) -> None:
        """See `Console.print`."""
        _step.hide()
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """See `Console.on_broken_pipe`, which ends the process as if findings stood against something."""
        raise BrokenPipeError


class _Step:
    """What is under way: from when on, and the spinner that shows it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._label = ""
        self._since = 0.0
        self._live: Live | None = None
        self._timer: threading.Timer | None = None
        self._spinner = Spinner("dots", style="cyan")

    def begin(self, label: str) -> None:
        """A step begins, and the one before has ended."""
        if not (err.is_interactive and err.file.isatty()) or _verbosity is Verbosity.QUIET:
            return
        with self._lock:
            self._label, self._since = label, time.monotonic()
            if self._live is None and self._timer is None:
                self._timer = threading.Timer(_PATIENCE_SECONDS, self._show)
                self._timer.daemon = True
                self._timer.start()

    def hide(self) -> None:
        """Nothing is shown until another step begins."""
        with self._lock:
            timer, live, self._timer, self._live = self._timer, self._live, None, None
        if timer is not None:
            timer.cancel()
        if live is not None:
            live.stop()

    def _show(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            self._timer = None
            self._live = Live(self, console=err, transient=True, refresh_per_second=8, redirect_stdout=False)
            self._live.start()

    def __rich__(self) -> Text:
        seconds = int(time.monotonic() - self._since)
        elapsed = f"{seconds // 60}:{seconds % 60:02}"
        frame = self._spinner.render(err.get_time())
        return Text.assemble("  ", frame if isinstance(frame, Text) else "", f" {self._label} ", (elapsed, "dim"))


out = _Results()
err = _Terminal(stderr=True)
_step = _Step()
_verbosity = Verbosity.USUAL


def set_verbosity(verbosity: Verbosity) -> None:
    """Tell as much as this from now on."""
    global _verbosity  # noqa: PLW0603 - one command line in a process
    _verbosity = verbosity
    if verbosity is Verbosity.QUIET:
        _step.hide()


def progress(stage: str, text: str) -> None:
    """One line of progress: the step that begins now."""
    if _verbosity is not Verbosity.QUIET:
        print_prose(Text.assemble((f"  {stage:<15} ", "cyan"), text), hanging=18, console=err)
    _step.begin(stage)


@contextmanager
def showing_progress(command: str | None) -> Iterator[None]:
    """Show how long a command lasts while the block does, until it prints or asks something."""
    set_verbosity(Verbosity.USUAL)
    if command is not None:
        _step.begin(command)
    try:
        yield
    finally:
        _step.hide()


def hide_progress() -> None:
    """Take the spinner away: somebody is asked, or something else writes to the terminal."""
    _step.hide()


def print_prose(text: Text, hanging: int = 0, *, console: Console | None = None) -> None:
    """Sentences: a terminal breaks them between words, and indents what follows by ``hanging`` columns.

    Elsewhere each is one line, however long.
    """
    console = console or out
    if not console.file.isatty():
        console.print(text, soft_wrap=True)
        return
    first, *others = text.wrap(console, max(console.width - hanging, 20))
    console.print(first, soft_wrap=True)
    for line in others:
        console.print(Text(" " * hanging).append_text(line), soft_wrap=True)


def print_heading(text: Text) -> None:
    """A heading with a line to its right."""
    rule = Rule(text, align="left", style="dim")
    out.print(rule, width=min(out.width, _RULE))


def keep_foreign_logs_out() -> None:
    """Let no line of a library's log, and no warning of Python, reach the terminal; ours are told as progress."""
    logging.captureWarnings(True)
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(_Told())


class _Told(logging.Handler):
    """Warnings of our own loggers as lines of progress."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler.emit`."""
        ours = record.name.partition(".")[0] == "qosforge"
        # Who gives a logger a handler of its own wants it told to those alone who keep a log.
        if ours and record.levelno >= logging.WARNING and not logging.getLogger(record.name).handlers:
            progress("warning", record.getMessage())
