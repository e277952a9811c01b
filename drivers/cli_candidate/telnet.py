"""Log in by telnet, within the limits of the step."""

from __future__ import annotations

import re
import time
from typing import Any

from netmiko.exceptions import NetmikoAuthenticationException

_ASKS_NAME = re.compile(r"(?:user|user ?name|login)\s*:\s*\Z", re.IGNORECASE)
_ASKS_PASSWORD = re.compile(r"password[^\n]*:\s*\Z", re.IGNORECASE)
_ASKS_TO_BEGIN = re.compile(r"initial configuration dialog\? \[yes/no\]:\s*\Z")
_NONE_SET = re.compile(r"password required, but none set", re.IGNORECASE)
_PROMPT = re.compile(r"[#>]\s*\Z")
_TAIL = 1000
_POLL_SECONDS = 0.05
# A console server says nothing before a key is pressed; what asked once is not pressed any more.
_PRESS_SECONDS = 2.0
_PRESSES = 3


def log_in(connection: Any) -> str:
    """Answer what a device asks until it shows its prompt; what it said last.

    Netmiko has a clock of its own here, and tells whoever is silent, or hangs up, as one that refuses the password.

    Raises:
        NetmikoAuthenticationException: user name or password are refused, or the device has none to be given.
        LimitExceededError, SessionStoppedError, ConnectionClosedException: the session ended.
    """
    said = ""
    named = given = False
    presses = 0
    heard = time.monotonic()
    while True:
        text = connection.read_channel()
        if not text:
            waited = time.monotonic() - heard
            if not named and not given and presses < _PRESSES and waited > _PRESS_SECONDS:
                connection.write_channel(connection.TELNET_RETURN)
                presses += 1
                heard += waited
            time.sleep(_POLL_SECONDS)
            continue
        heard = time.monotonic()
        said = (said + text)[-_TAIL:]
        if _NONE_SET.search(said):
            raise NetmikoAuthenticationException("the device wants a password, and has none set")
        if _ASKS_NAME.search(said):
            if given:
                raise NetmikoAuthenticationException("the device asks for a user name once more")
            answer, named = str(connection.username), True
        elif _ASKS_PASSWORD.search(said):
            if given:
                raise NetmikoAuthenticationException("the device asks for a password once more")
            answer, given = str(connection.password), True
        elif _ASKS_TO_BEGIN.search(said):
            answer = "no"
        elif _PROMPT.search(said):
            return said
        else:
            continue
        # By "\r" alone: some take "\n" for a line of its own.
        connection.write_channel(answer + "\r")
        said = ""
