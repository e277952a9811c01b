"""The documentation as it is read, in a browser: on a phone, in light and dark, filtered and copied."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from qosforge.api.backend import Backend
from qosforge.finding_codes import load_codes
from tests.documentation.conftest import listening
from tests.parts import need
from tests.web.browser import DESKTOP, PHONE, Tab, chromium


@pytest.mark.usefixtures("with_documentation")
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_tables_are_filtered_where_they_stand(backend: Backend, size: dict[str, int]) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, size)
        tab.page.goto("/docs/findings/")
        tab.page.get_by_label("Show codes with").press_sequentially("priority cap")
        expect(tab.page.get_by_role("cell", name="priority-cap-not-enforced", exact=True)).to_be_visible()
        expect(tab.page.get_by_role("cell", name="parameter-unused", exact=True)).to_be_hidden()
        expect(tab.page.get_by_role("heading", name="Batfish")).to_be_hidden()
        expect(tab.page.locator(".filter").get_by_role("status")).to_have_text(
            re.compile(rf"^[1-9]\d? of {len(load_codes().codes)}$")
        )
        tab.page.get_by_label("Show codes with").fill("")
        expect(tab.page.get_by_role("heading", name="Batfish")).to_be_visible()

        tab.page.goto("/docs/cli/")
        tab.page.get_by_label("Show commands with").press_sequentially("approve")
        expect(tab.page.get_by_role("heading", name="Policies")).to_be_hidden()
        expect(tab.page.get_by_role("heading", name="Exit codes")).to_be_visible()
        if size is PHONE:  # beside it the theme's menu is scrolled to the page: what it cuts is too small for Axe
            tab.require_sound()
        assert tab.complaints == []


@pytest.mark.usefixtures("with_documentation")
def test_without_scripts_every_row_is_there(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, PHONE, java_script_enabled=False)
        tab.page.goto("/docs/findings/")
        expect(tab.page.locator("td[id]")).to_have_count(len(load_codes().codes))
        expect(tab.page.locator("article input")).to_have_count(0)


@pytest.mark.usefixtures("with_documentation")
def test_a_line_that_goes_on_is_moved_in_and_copied_whole(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, PHONE, permissions=["clipboard-read", "clipboard-write"])
        tab.page.goto("/docs/rest/")
        block = tab.page.locator(".highlight", has_text="curl -X POST").first
        starts = (
            block.locator("code > span")
            .nth(1)
            .evaluate(
                """(line) => {
                const range = document.createRange();
                range.selectNodeContents(line);
                return [...new Set([...range.getClientRects()].map((one) => Math.round(one.top)))].map((top) =>
                    Math.min(...[...range.getClientRects()].filter((one) => Math.round(one.top) === top).map(
                        (one) => one.left)));
            }"""
            )
        )
        assert len(starts) > 1, "it is longer than the screen"
        assert all(start > starts[0] + 10 for start in starts[1:])
        block.hover()
        block.get_by_role("button").first.click()
        expect(tab.page.locator(".md-dialog")).to_be_visible()
        lines = tab.page.evaluate("navigator.clipboard.readText()").split("\n")
        assert lines[0].startswith("export QOSFORGE_SERVER")
        assert lines[1].startswith("curl -X POST")
        assert lines[2].startswith("  -H")


BROKEN = """() => [...document.querySelectorAll("td code")].filter(
    (code) => /^\\w+$/.test(code.textContent) && code.getClientRects().length > 1
    ).map((code) => code.textContent)"""
"""The single words in tables that stand in more than one line."""

WIDE = """() => [...document.querySelectorAll(".md-typeset__scrollwrap")].filter(
    (frame) => frame.scrollWidth > frame.clientWidth).map((frame) => frame.textContent.slice(0, 80))"""
"""The tables that are wider than the screen."""

CUT = """() => [...document.querySelectorAll(".md-typeset pre code")].filter(
    (code) => code.scrollWidth > code.clientWidth + 1).map((code) => code.textContent.slice(0, 80))"""
"""The blocks of code whose lines leave the screen, those of a terminal too."""

READ = (
    "",
    "first-hour/",
    "runs/",
    "web-runs/",
    "intent/",
    "findings/",
    "cli/",
    "operations/",
    "commands/",
    "devices/",
    "architecture/",
    "rest/",
)
CONTRAST = {"include": [[".md-banner"], ["h1"]]}


@pytest.mark.usefixtures("with_documentation")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_read_first_can_be_read(backend: Backend, scheme: str) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, PHONE, color_scheme=scheme)
        for address in (f"/docs/{page}" for page in READ):
            tab.page.goto(address)
            rules = {"runOnly": ["color-contrast"]}
            found = Axe().run(tab.page, context=CONTRAST, options=rules).response
            assert [node["html"] for one in found["violations"] for node in one["nodes"]] == [], address
            assert found["passes"], "there was something to look at"
            assert tab.page.evaluate(BROKEN) == [], address
            assert tab.page.evaluate(WIDE) == [], address
            assert tab.page.evaluate(CUT) == [], address
        assert tab.complaints == []
