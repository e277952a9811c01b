"""Debian's Firefox, by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/).

Playwright calls for its BiDi a command that the extended support release has not
(``emulation.setMediaFeaturesOverride``), so the few commands that a keyboard needs are spoken here.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.web.browser import DESKTOP

_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_SECONDS = 120.0
_KEYS = {  # https://www.w3.org/TR/webdriver2/#keyboard-actions
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "Space": " ",
    "ArrowUp": "\ue013",
    "ArrowDown": "\ue015",
}


class Firefox:
    """One Firefox process and the connection that drives it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self.said: dict[str, list[str]] = {}
        """Errors and warnings of the console, by tab."""
        self.in_front = ""
        """The tab that has the focus."""
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Do a command.

        Raises:
            AssertionError: the browser refuses it; with its own words.
        """
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._connection.recv(_SECONDS))
            if answer["type"] == "event":
                self._heard(answer["params"])
            elif answer["id"] == self._number:
                assert answer["type"] == "success", f"{method}: {answer}"
                result: dict[str, Any] = answer["result"]
                return result

    def _heard(self, entry: dict[str, Any]) -> None:
        if entry["level"] in ("error", "warn") and "context" in entry["source"]:
            self.said.setdefault(entry["source"]["context"], []).append(entry["text"])


class FirefoxKeyboard:
    """A tab of a person with a profile of one's own."""

    def __init__(self, firefox: Firefox, url: str, size: dict[str, int] = DESKTOP) -> None:
        self._firefox, self._url = firefox, url
        person = firefox.call("browser.createUserContext")["userContext"]
        self._tab = firefox.call("browsingContext.create", type="tab", userContext=person)["context"]
        firefox.call("browsingContext.setViewport", context=self._tab, viewport=size)

    def open(self, path: str) -> None:
        """Enter an address of the site."""
        self._bring_to_front()
        self._firefox.call("browsingContext.navigate", context=self._tab, url=self._url + path, wait="complete")

    def press(self, *names: str) -> None:
        """Press keys one after another."""
        for name in names:
            keys = [_KEYS.get(part, part.lower()) for part in name.split("+")]
            downs = [{"type": "keyDown", "value": key} for key in keys]
            ups = [{"type": "keyUp", "value": key} for key in reversed(keys)]
            self._act([*downs, *ups])

    def type(self, text: str) -> None:
        """Type characters."""
        self._act([{"type": kind, "value": character} for character in text for kind in ("keyDown", "keyUp")])

    def _act(self, actions: list[dict[str, str]]) -> None:
        self._bring_to_front()
        keyboard = {"type": "key", "id": "keyboard", "actions": actions}
        self._firefox.call("input.performActions", context=self._tab, actions=[keyboard])

    def _bring_to_front(self) -> None:
        """Behind another tab, some keys do nothing, and the page rests."""
        if self._firefox.in_front != self._tab:
            self._firefox.call("browsingContext.activate", context=self._tab)
            self._firefox.in_front = self._tab

    def ask(self, expression: str) -> Any:
        """The value of an expression."""
        self._bring_to_front()
        spelt = f"(async () => JSON.stringify(await ({expression})) ?? 'null')()"
        told = self._firefox.call(
            "script.evaluate", expression=spelt, target={"context": self._tab}, awaitPromise=True
        )
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def complaints(self) -> list[str]:
        """What the console said."""
        return self._firefox.said.get(self._tab, [])


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A browser with a profile in an empty folder; tests that use it are skipped where it is missing."""
    program = shutil.which("firefox-esr")
    assert program is not None
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = next(found for line in process.stderr if (found := _LISTENS.search(line)))
            with connect(f"{found[1]}/session", max_size=None, proxy=None) as connection:
                yield Firefox(connection)
        finally:
            process.kill()
