"""A person who has nothing but a keyboard, in either browser."""

from __future__ import annotations

import time
from typing import Any, Protocol

from playwright.sync_api import Browser, Error

from tests.web.browser import DESKTOP, Tab
from tests.web.people import PASSWORD

PATIENCE_SECONDS = 120.0
"""For what the service does meanwhile, on a busy machine."""

_MOST_STEPS = 250
_LOOK_SECONDS = 0.1

# What a screen reader says of the element that has the focus, as far as these pages need it.
_SAID = """(() => {
  const one = document.activeElement?.cloneNode(true)
  for (const unsaid of one?.querySelectorAll("[aria-hidden=true]") ?? []) unsaid.remove()
  const label = one?.getAttribute("aria-label") || document.activeElement?.labels?.[0]?.innerText
  return (label || one?.textContent || one?.title || "").replace(/\\s+/g, " ").trim()
})()"""


class Keyboard(Protocol):
    """A tab of one person."""

    def open(self, path: str) -> None:
        """Enter an address of the site."""

    def press(self, *names: str) -> None:
        """Press keys one after another: ``Tab``, ``Shift+Tab``, ``Enter``, ``Space``, ``Escape``."""

    def type(self, text: str) -> None:
        """Type characters."""

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page, as JSON has it."""

    def complaints(self) -> list[str]:
        """What the console said against the pages until now."""


class ChromiumKeyboard:
    """Chromium by Playwright."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.tab = Tab.of(browser, url, DESKTOP)

    def open(self, path: str) -> None:
        """Enter an address of the site."""
        self.tab.page.goto(path)

    def press(self, *names: str) -> None:
        """Press keys one after another."""
        for name in names:
            self.tab.page.keyboard.press(name)

    def type(self, text: str) -> None:
        """Type characters."""
        self.tab.page.keyboard.type(text)

    def ask(self, expression: str) -> Any:
        """The value of an expression, on the next page where this one is just being left."""
        while True:
            try:
                return self.tab.page.evaluate(expression)
            except Error as error:
                if "context was destroyed" not in str(error):
                    raise

    def complaints(self) -> list[str]:
        """What the console said."""
        return self.tab.complaints


def said(keys: Keyboard) -> str:
    """The name of the element that has the focus."""
    return str(keys.ask(_SAID))


def reach(keys: Keyboard, name: str, step: str = "Tab") -> None:
    """Press ``step`` until the focus is on what is called ``name``, or begins with it.

    Raises:
        AssertionError: no key leads there; with what was passed.
    """
    passed = []
    for _ in range(_MOST_STEPS):
        keys.press(step)
        passed.append(said(keys))
        if passed[-1].startswith(name):
            return
    raise AssertionError(f"no key leads to {name!r}: {list(dict.fromkeys(passed))}")


def await_focus(keys: Keyboard, name: str) -> None:
    """Wait until the page puts the focus on what is called ``name``.

    Raises:
        AssertionError: it did not; with where it is instead.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while not (here := said(keys)).startswith(name):
        assert time.monotonic() < end, f"the focus is not on {name!r} but on {here!r}"
        time.sleep(_LOOK_SECONDS)


def choose(keys: Keyboard, name: str) -> None:
    """Come to what is called ``name`` and press Enter."""
    reach(keys, name)
    keys.press("Enter")


def follow(keys: Keyboard, name: str) -> None:
    """Choose a link, and wait for the whole page behind it.

    The page that is being left still takes keys meanwhile, and what they did is gone with it.

    Raises:
        AssertionError: the page stays; with its address.
    """
    keys.ask("(window.isLeft = true)")
    choose(keys, name)
    end = time.monotonic() + PATIENCE_SECONDS
    while not keys.ask("!window.isLeft && document.readyState === 'complete'"):
        assert time.monotonic() < end, f"{name!r} does not lead away from {keys.ask('location.href')}"
        time.sleep(_LOOK_SECONDS)


def fill(keys: Keyboard, name: str, text: str) -> None:
    """Come to a field and type over what it holds."""
    reach(keys, name)
    keys.press("Control+A")
    keys.type(text)


def await_text(keys: Keyboard, text: str, where: str = "main") -> None:
    """Wait until a part of the page tells something.

    Raises:
        AssertionError: it did not; with what the page tells instead.
    """
    shown = f"(document.querySelector({where!r})?.innerText || '').replace(/\\s+/g, ' ')"
    end = time.monotonic() + PATIENCE_SECONDS
    while text not in (told := str(keys.ask(shown))):
        assert time.monotonic() < end, f"{text!r} is not told: {told[:2000]}"
        time.sleep(_LOOK_SECONDS)


def log_in(keys: Keyboard, name: str) -> None:
    """The field for the name has the focus at once."""
    keys.open("/login")
    await_focus(keys, "Name")
    keys.type(name)
    fill(keys, "Password", PASSWORD)
    keys.press("Enter")
    await_text(keys, "Log out", "body")
