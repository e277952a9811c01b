"""The streams of the process, before anything is imported that prints to them."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qosforge.errors import InputError, Interrupted, QosforgeError, ServiceError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_OUTPUT = 1
_ERRORS = 2


@contextmanager
def writable_streams() -> Iterator[None]:
    """Have streams that take any character, and end the process in words where standard output takes none at all.

    What an encoding lacks is written as its escape. Where standard output is closed, nothing is begun:
    the first file that is opened would take its number, and what is printed would go there.
    """
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), _ERRORS)
        os.set_inheritable(_ERRORS, True)  # where it was opened as that number, the line above changes nothing
        sys.stderr = open(_ERRORS, "w", closefd=False)  # noqa: SIM115 - as long as the process
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        sys.exit(_tell(InputError("standard output is closed", hint="send it to a file, or to /dev/null")))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _checked(sys.stdout)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except ServiceError as error:
        sys.exit(_tell(error))
    except BrokenPipeError:  # whoever reads what is printed went away
        _let_go()
        sys.exit(ServiceError.exit_code)


def interrupted() -> Interrupted:
    """What an interrupt is told as."""
    goes_on = "a run that was begun goes on with `qosforge recover`, or the next run or push"
    return Interrupted("interrupted", hint=f"{goes_on}; `qosforge cancel RUN` ends it")


def tell_interrupt() -> int:
    """Tell an interrupt, as the one document too where JSON was asked for; returns the exit code."""
    error = interrupted()
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps({"errors": [error.document()]}, indent=2) + "\n")
    return _tell(error)


class _Output(io.FileIO):
    """Standard output: that it takes no more is told in words, once, and whatever follows goes nowhere."""

    def write(self, data: object) -> int:
        """See `io.FileIO.write`.

        Raises:
            ServiceError: it takes no more; a full disk, say.
            BrokenPipeError: whoever reads it went away.
        """
        try:
            return super().write(data)  # type: ignore[arg-type]
        except BrokenPipeError:
            raise BrokenPipeError from None  # with its number, typer ends the process as if findings stood
        except OSError as error:
            _let_go()
            raise ServiceError(
                f"standard output cannot be written: {error.strerror}",
                hint="what was printed is not complete; what the command did is done",
            ) from None


class _AtOnce(io.BufferedWriter):
    """What an unbuffered Python prints through: nothing waits, and nothing is lost where a part alone was taken."""

    def write(self, data: Buffer, /) -> int:
        """See `io.BufferedWriter.write`."""
        count = super().write(data)
        self.flush()
        return count


def _checked(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    buffered = _AtOnce if stream.write_through else io.BufferedWriter
    return io.TextIOWrapper(
        buffered(_Output(_OUTPUT, "wb", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _let_go() -> None:
    """Whatever is printed from now on, and what waits to be, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _OUTPUT)


def _tell(error: QosforgeError) -> int:
    sys.stderr.write(f"error: {error.message}\n       {error.hint}\n")
    return error.exit_code
