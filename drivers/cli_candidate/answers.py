"""Parse the answer to a command: refusal, warning or noise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from napalm.base.exceptions import CommandErrorException

# Log messages (%FACILITY-SEVERITY-MNEMONIC, with a time stamp or a card before it) and the
# announcements of a scheduled reload come at any moment and belong to no command. Both are possessive
# (``*+``): where several follow each other, a line that could also be parts of several would be tried in
# every way there is.
SYSLOG = r"(?:[*.\w][^\n%]*: ?)?%(?:[\w-]+:\w+ %)?[A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)*-[0-7]-[A-Z0-9_]+ ?:[^\n]*+"
ANNOUNCEMENT = r"\*\*\*[^\n]*+"
_NOISE = re.compile(rf"^(?:{SYSLOG}|{ANNOUNCEMENT})$")

#: For ``Dialect.refusal``: the words in which devices refuse without the "%" that usually marks it.
SAYS_NO = (
    r"^(?!%|warning).*(?:\bnot (?:allowed|supported|permitted|configured|possible)\b|\bcannot\b|\bunable to\b"
    r"|\bexceeds?\b|\binsufficient\b|\bnot enough\b|\brejected\b|\bfailed\b|\bin use\b|\bbeing used\b"
    r"|\balready (?:attached|exists|configured|used)\b|\bdoes not exist\b|\bmust (?:be|configure|deconfigure)\b)"
)

# A policy that did not fit the hardware is reported in the log only, yet it is a refusal.
_REFUSED_IN_LOG = re.compile(r"CAM_INSTALL_FAILED")

_NO_CONFIGURATION = re.compile(rf"^%|{SAYS_NO}", re.IGNORECASE)
_REFUSAL_LINES = 3
"""A longer answer is a configuration, whatever stands in it."""

_CARET = re.compile(r"^\s*\^\s*$")

# No remark of a device is longer; patterns are not searched through what a broken one prints without a line end.
_LONGEST_REMARK = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a device said to one command.

    Attributes:
        refusal: the device's words if it did not take the command, else None.
        warnings: lines the platform prints for a command it took with a reservation.
        notices: any other line, such as an explanation.
    """

    refusal: str | None
    warnings: tuple[str, ...]
    notices: tuple[str, ...]


def require_nothing_more(text: str) -> None:
    """Make sure that what a device printed after its prompt is nothing but log messages.

    Raises:
        CommandErrorException: it went on with something else, so the answer before was cut at what looked like the
            prompt.
    """
    lines = (raw[:_LONGEST_REMARK].strip("\r\x07 \t") for raw in text.split("\n"))
    if any(line and not _NOISE.match(line) for line in lines):
        raise CommandErrorException("the answer holds the prompt itself, so where it ends cannot be told")


def require_configuration(command: str, text: str) -> None:
    """Make sure that a device printed its configuration, and not in a few lines that it shows none.

    Raises:
        CommandErrorException: it refused.
    """
    if text.strip().count("\n") < _REFUSAL_LINES:
        answer = read_answer(text, _NO_CONFIGURATION, re.compile(r"(?!)"))
        if answer.refusal is not None:
            raise CommandErrorException(f"{command}: {answer.refusal}")


def read_answer(text: str, refusal: re.Pattern[str], warning: re.Pattern[str]) -> Answer:
    """Classify the lines between the echo of a command and the next prompt."""
    words: list[str] = []
    warnings: list[str] = []
    notices: list[str] = []
    refused = False
    for raw in text.split("\n"):
        line = raw[:_LONGEST_REMARK].strip("\r\x07 \t")
        if not line:
            continue
        if _REFUSED_IN_LOG.search(line):
            refused = True
        elif _NOISE.match(line):
            continue
        elif warning.search(line) and not refusal.search(line):
            warnings.append(line)
        elif _CARET.match(line) or refusal.search(line):
            refused = True
        else:
            notices.append(line)
        if not _CARET.match(line):
            words.append(line)
    return Answer("; ".join(words) if refused else None, tuple(warnings), tuple(notices))
