"""A real browser at a real server: Debian's Chromium, driven by Playwright, each test with a profile of its own.

Most tests use its headless shell: the engine that draws pages and runs their scripts, of the same source and
version, without the windows, services and extensions around it, which take a fifth of a test's processor time. The
keyboard's way through a whole change is gone in the browser as people have it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

SHELL = "chromium-headless-shell"
WHOLE = "chromium"

_FLAGS = (
    "--no-sandbox",  # tests may run as root, whom Chromium gives none
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_PATIENCE_MS = 120_000
_LOOK_MS = 50
expect.set_options(timeout=_PATIENCE_MS)
_SERIOUS = frozenset({"serious", "critical"})


@contextmanager
def chromium(program: str = SHELL) -> Iterator[Browser]:
    """A browser; tests that use it through the fixture are skipped where it is missing."""
    found = shutil.which(program)
    expect.set_options(timeout=_PATIENCE_MS)
    playwright: Playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Tab:
    """One person's browser at the site. Whatever the console says against a page is kept in ``complaints``."""

    url: str
    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, browser: Browser, url: str, size: dict[str, int], **options: Any) -> Self:
        """A new profile with one tab."""
        context = browser.new_context(base_url=url, viewport=size, locale="en-GB", **options)  # type: ignore[arg-type]
        context.set_default_timeout(_PATIENCE_MS)
        return cls(url, context, context.new_page()).watched()

    def watched(self) -> Self:
        """Keep what the console says."""
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return self

    def another(self) -> Tab:
        """Another tab of the same person."""
        return Tab(self.url, self.context, self.context.new_page()).watched()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def log_in(self, name: str, password: str) -> None:
        """As a person does it."""
        self.page.goto("/login")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.get_by_role("button", name="Log out").wait_for()

    def require_sound(self, *expected: str) -> None:
        """Axe finds nothing serious (WCAG 2.2 AA), the console is empty, and nothing is wider than the screen.

        Complaints with one of the words ``expected`` in them are no complaints.
        """
        rules = {
            "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
            "resultTypes": ["violations"],  # of what is well, axe writes a selector for each element otherwise
        }
        found = Axe().run(self.page, options=rules).response["violations"]
        grave = [
            f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}"
            for one in found
            if one["impact"] in _SERIOUS
        ]
        assert not grave, grave
        complaints = [text for text in self.complaints if not any(word in text for word in expected)]
        assert not complaints, complaints
        wider = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, f"{self.page.url} is {wider} px wider than the screen"


def soon(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Look again until something holds that no expectation of Playwright tells; else say ``what``."""
    end = time.monotonic() + _PATIENCE_MS / 1000
    while not holds():
        assert time.monotonic() < end, what
        page.wait_for_timeout(_LOOK_MS)


def await_code_editor(page: Page) -> None:
    """Wait until the editor has taken the place of the text area: what is typed meanwhile may go to either."""
    expect(page.locator(".cm-content")).to_be_visible()


def write_policy(page: Page, text: str) -> None:
    """Write over the whole text of a policy by keys.

    The editor draws but the lines about those in view: to fill it, which marks what is drawn, may leave others.
    """
    await_code_editor(page)
    page.get_by_role("textbox", name="Text of the policy").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def part(page: Page, name: str) -> None:
    """Go to a part of a run's page."""
    page.get_by_role("navigation", name="Parts of this run").get_by_role("link", name=name).click()
    expect(page.locator("#tabs [aria-current=page]")).to_contain_text(name)


def unfold(entry: Locator) -> Locator:
    """An entry of the policy form, such as the card of a class, opened where it is folded."""
    body = entry.locator("> details.body")
    body.wait_for()
    if not body.evaluate("one => one.open"):
        body.locator("> summary").click()
    return entry
