"""Facts gathered from one IOS device, with notes on answers that cannot be parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.templates import Row, UnreadableAnswer, rows

_UNANSWERED = re.compile(
    r"^\s*% ?(?:Invalid|Unknown|Incomplete|Ambiguous)|% (?:CDP|LLDP) is not enabled", re.MULTILINE
)


def is_answered(answer: str) -> bool:
    """Whether a device knows a command, and has what it asks about switched on."""
    return _UNANSWERED.search(answer) is None


@dataclass
class CiscoAnswers:
    """What is noted while one device is read."""

    hostname: str
    notes: list[Note] = field(default_factory=list)

    def note(self, topic: Topic, line: str, message: str, hint: str) -> None:
        """Note something about a line."""
        self.notes.append(Note(topic, self.hostname, line, message, hint))


def table(reading: CiscoAnswers, command: str, answer: str, what: str) -> list[Row]:
    """The records of an answer; a note where it cannot be read."""
    try:
        return rows("cisco_ios", command, answer)
    except UnreadableAnswer as error:
        hint = f"describe the {what} by hand; send the answer to '{command}' to whoever maintains the reader"
        reading.note(
            Topic.NOT_UNDERSTOOD, str(error), f"the answer to '{command}' has a line of no known form", hint
        )
        return []
