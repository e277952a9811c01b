"""Answers read by the TextFSM templates of ntc-templates, which Netmiko brings along."""

from __future__ import annotations

import re
from typing import Any

from ntc_templates.parse import ParsingException, parse_output
from textfsm.parser import TextFSMError

Row = dict[str, Any]
"""Fields of a template by their names in lower case; texts, or lists of texts."""


class UnreadableAnswer(ValueError):
    """An answer that is not what its template knows; the message is the line at which it stops."""


def rows(platform: str, command: str, answer: str) -> list[Row]:
    """The records of an answer; none where a device has nothing to tell.

    Raises:
        UnreadableAnswer: the template does not know a line of it.
    """
    if not answer.strip():
        return []
    try:
        read: list[Row] = parse_output(platform, command, answer)
    except (ParsingException, TextFSMError) as error:
        found = re.search(r"Input Line: (.*)", str(error))
        raise UnreadableAnswer(found[1].rstrip(".").strip() if found else str(error)) from None
    return read
