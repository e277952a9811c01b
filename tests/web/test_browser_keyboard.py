"""The way of a change by the keyboard alone, in Chromium and in Firefox: edit, run, approve, watch, roll back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.parts import need
from tests.web.browser import WHOLE, chromium
from tests.web.conftest import Site
from tests.web.firefox import FirefoxKeyboard, firefox
from tests.web.keys import ChromiumKeyboard, Keyboard, await_focus, await_text, choose, fill, follow, log_in, reach
from tests.web.two_routers import held, two_routers

_HEADLINE = "#state .headline"


@pytest.fixture(scope="module")
def site(var_dir: Path) -> Iterator[Site]:
    """The service with two routers."""
    with two_routers(var_dir) as made:
        yield made


@pytest.fixture(params=["chromium", "firefox"])
def somebody(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> Iterator[Callable[[], Keyboard]]:
    """Makes persons who have a keyboard each, at one of the browsers."""
    if request.param == "chromium":
        need("browser")
        with chromium(WHOLE) as browser:
            yield lambda: ChromiumKeyboard(browser, site.url)
    else:
        need("firefox")
        with firefox(tmp_path) as running:
            yield lambda: FirefoxKeyboard(running, site.url)


def test_a_change_goes_its_whole_way(site: Site, somebody: Callable[[], Keyboard]) -> None:
    delivered = held(site)
    ann, bob = somebody(), somebody()

    log_in(ann, "ann")
    follow(ann, "Policies")
    await_text(ann, "of-fnal")
    follow(ann, "of-fnal")
    await_text(ann, "Start a new policy from it")
    follow(ann, "Edit")
    await_text(ann, "Classes of traffic")
    choose(ann, "robin")
    await_text(ann, "IP precedence", "[data-class=robin]")
    fill(ann, "Rate", "700 kb/s")
    fill(ann, "What you changed, and why", "less for the remote control")
    await_text(ann, "700 kb/s", "[data-class=robin] summary")
    choose(ann, "Save and start a run")

    await_text(ann, "Rules of network infn-fnal")
    fill(ann, "Ticket", "CHG-8")
    await_text(ann, "Compiled for", "#preview")  # no run starts before
    choose(ann, "Start run")
    await_text(ann, "needs approval", _HEADLINE)

    log_in(bob, "bob")
    follow(bob, "of-fnal on infn-fnal")
    await_text(bob, "needs approval", _HEADLINE)
    fill(bob, "Comment", "looked at both routers")
    choose(bob, "Approve")

    for each in (ann, bob):
        await_text(each, "kept", _HEADLINE)
        await_text(each, "1 of 1 met", ".class-tiles")
    assert held(site) != delivered
    follow(ann, "Objectives")
    await_text(ann, "✔ met", "table.verdicts")

    choose(ann, "Roll back")
    await_text(ann, "router1", "dialog[open]")
    await_focus(ann, "Leave it as it is")
    reach(ann, "Roll back", step="Shift+Tab")
    ann.press("Enter")
    await_text(ann, "rolled back to before", _HEADLINE)
    assert held(site) == delivered
    for each in (ann, bob):
        assert not each.complaints()
