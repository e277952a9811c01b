"""Every page there is, looked at by axe: on a desktop and on a phone, in the light and in the dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from qosforge.api.backend import open_backend
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.api.served import serving
from tests.parts import need
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import PASSWORD, Site
from tests.web.firefox import FirefoxKeyboard, firefox
from tests.web.furnished import ADMIN, DOWNLOADS, FRAGMENTS, NOT_THERE_YET, SAMPLES, furnish, page_routes
from tests.web.keys import log_in

PAGES = sorted(set(SAMPLES) - FRAGMENTS - DOWNLOADS - NOT_THERE_YET)

NARROWEST = 320
"""Pixels that a page has to do with (WCAG 1.4.10)."""


@pytest.fixture(scope="module")
def places(var_dir: Path) -> dict[str, str]:
    """Something to see on every page, before the service begins: it would carry the run out."""
    with open_backend(Settings(var_dir=var_dir, compute_processes=1)) as backend:
        assert {path for method, path in page_routes(create_site(backend)) if method == "GET"} == set(SAMPLES)
        return furnish(backend)


@pytest.fixture(scope="module")
def site(var_dir: Path, places: dict[str, str]) -> Iterator[Site]:
    """The service with all that."""
    with serving(var_dir, fork=True) as served:
        yield Site(served, Settings(var_dir=var_dir))


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_every_page_is_sound(
    site: Site, chromium_browser: Browser, places: dict[str, str], size: dict[str, int], scheme: str
) -> None:
    root = Tab.of(chromium_browser, site.url, size, color_scheme=scheme)
    root.page.goto("/login")
    root.require_sound()
    root.log_in(ADMIN, PASSWORD)
    wrong, titles = [], {}
    for path in PAGES:
        root.page.goto(SAMPLES[path].format(**places))
        # As tall as the page: a bar that stays in view covers other targets until one scrolls.
        height = root.page.evaluate("document.documentElement.scrollHeight")
        root.page.set_viewport_size({**size, "height": max(height, size["height"])})
        try:
            root.require_sound()
        except AssertionError as error:
            wrong.append(f"{path}: {error}")
        root.complaints.clear()
        root.page.set_viewport_size(size)
        if size is PHONE:
            root.page.set_viewport_size({**size, "width": NARROWEST})
            if root.page.evaluate("document.documentElement.scrollWidth") > NARROWEST:
                wrong.append(f"{path}: wider than {NARROWEST} px")
            root.page.set_viewport_size(size)
        titles[path] = root.page.title()
        assert root.page.locator("h1").count() == 1, path
    root.context.close()
    assert not wrong, "\n".join(wrong)
    assert all(title.endswith(" – qosforge") and len(title) > len(" – qosforge") for title in titles.values())
    assert len(set(titles.values())) == len(titles), titles


def test_every_page_is_as_sound_in_firefox(site: Site, tmp_path: Path, places: dict[str, str]) -> None:
    need("firefox")
    wrong = []
    with firefox(tmp_path) as running:
        root = FirefoxKeyboard(running, site.url, PHONE)
        log_in(root, ADMIN)
        for path in PAGES:
            root.open(SAMPLES[path].format(**places))
            if complaints := root.complaints():
                wrong.append(f"{path}: {complaints}")
            complaints.clear()
            wider = root.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wider > 0:
                wrong.append(f"{path}: {wider} px wider than the screen")
    assert not wrong, "\n".join(wrong)
