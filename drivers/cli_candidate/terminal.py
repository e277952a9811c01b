"""Run one command and read its answer, over an open Netmiko connection.

Netmiko's own ``send_config_set`` returns one text for all commands and settles several of its reads
by waiting for silence. Here each command is read up to the prompt that follows it, so that every
answer belongs to one command and sixty commands take well under a second on a fast link.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from napalm.base.exceptions import CommandErrorException, ConnectionClosedException
from netmiko.exceptions import NetmikoBaseException

from cli_candidate.answers import ANNOUNCEMENT, SYSLOG, require_nothing_more
from cli_candidate.connection import GuardedConnection

# IOS shortens the name in long prompts; Netmiko trusts its first 16 characters, and so does this.
_NAME_LENGTH = 16
# A prompt is looked for at the end only; this many characters hold one with log messages after it.
_TAIL = 4000
_POLL_SECONDS = 0.004
# Who was silent for long is looked at less often, in the end this often: hundreds may be.
_LONGEST_POLL_SECONDS = 0.05
_POLL_SHARE = 0.05
_ECHO_SPREAD = 16
# After this silence a prompt with another name is taken for the device's new one: somebody renamed it.
_RENAMED_SECONDS = 1.0
_MAX_QUESTIONS = 5
_LONGEST_QUESTION = 300

_MODE = r"(?P<mode>\([^()\s]*\)?)?(?:<[^<>\n]*>)?[>#]"
_NOISE_TO_END = rf"(?:\s*(?:{ANNOUNCEMENT}|{SYSLOG}|\x07))*\s*\Z"
_ANY_PROMPT = re.compile(rf"\n(?P<name>[^\s()<>#]+){_MODE}{_NOISE_TO_END}")
_RENAMES = re.compile(r"^(?:no\s+|default\s+)?(?:hostname|prompt|snmp-server name)\b")

Replies = Sequence[tuple[re.Pattern[str], str]]

#: Questions a device asks about a command, with the answer that lets it go on. First match wins.
GO_ON: Replies = (
    (re.compile(r"\[confirm\]\s*\Z", re.IGNORECASE), ""),
    (re.compile(r"[\[(](?:confirm )?yes/no[\])]\s*[:?]*\s*\Z", re.IGNORECASE), "yes"),
    (re.compile(r"[\[(]y/n[\])]\s*[:?]*\s*\Z", re.IGNORECASE), "y"),
    (re.compile(r"\[[^\]\n]*\]\?\s*\Z"), ""),
)
#: For commands whose output is data: nothing in it is a question.
NO_QUESTIONS: Replies = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The text between the echo of a command and the next prompt, and the questions answered on the way."""

    text: str
    asked: tuple[str, ...]


class Terminal:
    """The command line of one device; not for use by two threads at once."""

    def __init__(self, connection: GuardedConnection) -> None:
        """Learn the prompt of an open connection."""
        self._connection = connection
        # With a pattern, for without one Netmiko sleeps for longer and longer.
        found = re.match(r"([^\s()<>#]+)(\([^()\s]*\)?)?", connection.find_prompt(pattern=r"[>#]"))
        if found is None:
            raise ConnectionClosedException("the device shows no prompt")
        self.mode = found.group(2) or ""
        self._learn(found.group(1))

    def _learn(self, name: str) -> None:
        self.name = name
        rest = r"[^\s()<>#]*" if len(name) > _NAME_LENGTH else ""
        self._prompt = re.compile(rf"\n{re.escape(name[:_NAME_LENGTH])}{rest}{_MODE}{_NOISE_TO_END}")

    def run(self, command: str, replies: Replies = NO_QUESTIONS) -> Reply:
        """Send one command and read up to the prompt; ``mode`` is then what stands in the prompt's brackets.

        Raises:
            LimitExceededError: the device took longer, or sent more, than the present step allows.
            CommandErrorException: the device asked more questions than any command has.
            ConnectionClosedException: the session ended.
        """
        prompt = _ANY_PROMPT if _RENAMES.match(command) else self._prompt
        echo = re.compile(r"\s*".join(re.escape(char) for char in command if not char.isspace()))
        # An echo may be broken by line ends and blanks, so it is as long as this at most.
        echo_reach = _ECHO_SPREAD * (len(command) + 1)
        seen = ""
        body: int | None = None  # where the part of the answer not yet dealt with begins in ``seen``
        said = ""
        asked: list[str] = []
        replied = ""  # echoed by the device, so not part of what it says
        self._write(command)
        heard = time.monotonic()
        while True:
            chunk = self._read()
            silence = time.monotonic() - heard
            if chunk:
                heard += silence
                seen += chunk
            elif silence > _RENAMED_SECONDS and prompt is not _ANY_PROMPT:
                prompt = _ANY_PROMPT
            else:
                time.sleep(min(max(_POLL_SECONDS, _POLL_SHARE * silence), _LONGEST_POLL_SECONDS))
                continue
            if body is None:
                echoed = echo.search(seen, max(0, len(seen) - len(chunk) - echo_reach))
                if echoed is None:
                    continue
                body = echoed.end()
            found = prompt.search(seen, max(body, len(seen) - _TAIL))
            if found is not None:
                self.mode = found.group("mode") or ""
                if prompt is _ANY_PROMPT:
                    self._learn(found.group("name"))
                said += seen[body : found.start()].removeprefix(replied)
                return Reply(said.strip("\n"), tuple(asked))
            question = _question(seen[max(body, len(seen) - _LONGEST_QUESTION) :], replies)
            if question is not None:
                if len(asked) == _MAX_QUESTIONS:
                    raise CommandErrorException(f"the device keeps asking: {asked[-1]!r}")
                before, _, asking = seen[body:].rstrip().removeprefix(replied).rpartition("\n")
                asked.append(asking.strip())
                said += before + "\n"
                body = len(seen)
                replied = question
                self._write(question)

    def require_quiet(self) -> None:
        """Make sure that the last prompt was the end of an answer, and not a part of it.

        Raises:
            CommandErrorException: the device went on after it.
            LimitExceededError: the device does not come to an end.
        """
        require_nothing_more(self.run("").text)

    def _write(self, text: str) -> None:
        try:
            self._connection.write_channel(text + self._connection.RETURN)
        except (OSError, EOFError, AttributeError, NetmikoBaseException) as error:
            raise ConnectionClosedException(f"the session is closed: {error}") from error

    def _read(self) -> str:
        try:
            return self._connection.read_channel()
        except (OSError, EOFError, AttributeError, NetmikoBaseException) as error:
            raise ConnectionClosedException(f"the session is closed: {error}") from error


def _question(text: str, replies: Replies) -> str | None:
    return next((reply for pattern, reply in replies if pattern.search(text)), None)
