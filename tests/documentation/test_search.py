"""The search of the documentation: what is found, where a hit leads, and what is marked there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from qosforge.api.backend import Backend
from qosforge.finding_codes import load_codes
from tests.documentation.conftest import listening
from tests.parts import need
from tests.web.browser import DESKTOP, Tab, chromium


def test_what_is_searched_is_there(documentation_folder: Path) -> None:
    index = json.loads((documentation_folder / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any("lines-unconfirmed" in entry["text"] for entry in index["docs"])


def _look_for(page: Page, words: str) -> None:
    """Type into the search of the documentation, once it has its index: it listens to keys alone."""
    expect(page.locator(".md-search-result__meta")).to_have_text("Type to start searching", timeout=120_000)
    page.get_by_role("textbox", name="Search").press_sequentially(words)


@pytest.mark.usefixtures("with_documentation")
def test_a_browser_finds_what_is_searched(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        asked: list[str] = []
        tab.page.on("request", lambda request: asked.append(request.url))
        tab.page.goto("/docs/")
        _look_for(tab.page, "commit-confirm")
        found = tab.page.locator(".md-search-result__link").first
        found.click()
        tab.page.wait_for_url("**/docs/*/**")
        assert tab.page.locator("h1").first.is_visible()
        assert tab.complaints == []
        assert [address for address in asked if not address.startswith(url)] == []


ANSWERED = {
    "needs approval": "runs/",
    "Approve": "runs/",
    "New run": "web-runs/",
    "voice-video": "library/",
    "import": "import/",
    "token": "access/",
    "QOSFORGE_PUBLIC_URL": "operations/",
    "half-way": "runs/",
}
"""What people look for, and the page that is to be the first answer."""


@pytest.mark.usefixtures("with_documentation")
def test_what_is_looked_for_leads_to_pages_for_people(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        for words, page in ANSWERED.items():
            tab.page.goto("/docs/")
            _look_for(tab.page, words)
            first = tab.page.locator(".md-search-result__link").first
            expect(first, words).to_have_attribute("href", re.compile(rf"/docs/{re.escape(page)}"))
        assert tab.complaints == []


@pytest.mark.usefixtures("with_documentation")
@pytest.mark.parametrize("code", ["priority-cap-not-enforced", "policy-shared", "wrong-input"])
def test_a_code_leads_to_its_row(backend: Backend, code: str) -> None:
    """The code does, and so does the title of the page above it."""
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        for number, words in enumerate(("Findings", code)):
            tab.page.goto("/docs/")
            _look_for(tab.page, code)
            item = tab.page.locator(".md-search-result__item").first
            result = item.locator(".md-search-result__link").nth(number)
            # Answers come while the code is typed: the whole one stands in the address of its own.
            expect(result).to_have_attribute("href", re.compile(rf"\?h={code}#{code}$"))
            expect(result).to_contain_text(words)
            result.click()
            tab.page.wait_for_url(re.compile(rf"/docs/findings/.*#{code}$"))
            row = tab.page.get_by_role("cell", name=code, exact=True)
            expect(row).to_be_in_viewport()
            expect(row.locator("mark")).to_have_text(code)
        assert tab.complaints == []


EXPLAINED = {
    "WRED": "words-wred",
    "dscp": "words-mark-dscp-cos",
    "NHRP": "words-nhrp",
    "ECN": "words-ecn",
    "shaping": "words-policing-shaping",
    "table-map": "words-table-map",
    "quantile": "words-quantile-p95",
}
"""Words that the page of the language explains, and the row that does."""


@pytest.mark.usefixtures("with_documentation")
def test_a_word_leads_to_the_row_that_explains_it(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        for word, anchor in EXPLAINED.items():
            tab.page.goto("/docs/")
            _look_for(tab.page, word)
            links = tab.page.locator(".md-search-result__item").first.locator(".md-search-result__link")
            # Answers come while the word is typed: the whole one stands in the address of its own.
            there = re.compile(rf"/docs/intent/\?h={word.lower()}#{anchor}$")
            for number in (0, 1):
                expect(links.nth(number), word).to_have_attribute("href", there)
            tab.page.keyboard.press("Enter")
            tab.page.wait_for_url(there)
            row = tab.page.get_by_role("row").filter(has=tab.page.locator(f"#{anchor}"))
            expect(row).to_be_in_viewport()
            expect(row.locator("mark").first).to_have_text(re.compile(word, re.IGNORECASE))
        assert tab.complaints == []


@pytest.mark.usefixtures("with_documentation")
def test_an_excerpt_has_a_whole_row_with_its_cells_apart(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        tab.page.goto("/docs/")
        _look_for(tab.page, "voice-video")
        results = tab.page.locator(".md-search-result__list")
        first = results.locator(".md-search-result__link").first
        expect(first).to_contain_text(
            "campus-collaboration · a conference first (class voice-video), web and file transfer (web-and-file) "
            "before the rest, on routers and switches · ITESM campus model"
        )
        expect(results).not_to_contain_text("limits of quantiles")
        assert tab.complaints == []


@pytest.mark.usefixtures("with_documentation")
def test_whole_words_are_marked(backend: Backend) -> None:
    need("browser")
    with listening(backend) as url, chromium() as browser:
        tab = Tab.of(browser, url, DESKTOP)
        tab.page.goto("/docs/findings/?h=not")
        marks = tab.page.locator("article mark")
        expect(marks.first).to_have_text("not")
        within = """() => [...document.querySelectorAll("article mark")].filter((mark) =>
            /\\w$/.test(mark.previousSibling?.textContent ?? "") || /^\\w/.test(mark.nextSibling?.textContent ?? "")
            ).map((mark) => mark.parentElement.textContent)"""
        assert tab.page.evaluate(within) == []
        assert tab.complaints == []


def test_figures_of_tables_are_not_searched(documentation_folder: Path) -> None:
    index = json.loads((documentation_folder / "search" / "search_index.json").read_text(encoding="utf-8"))
    of_figures = [one["text"] for one in index["docs"] if one["location"].startswith(("coverage/", "kernel/"))]
    assert any("closed forms" in text for text in of_figures), "but what the pages say is"
    assert not any("voice-video" in text or "inconclusive, 12,000" in text for text in of_figures)
    for page in ("coverage", "kernel"):
        text = (documentation_folder / page / "index.html").read_text(encoding="utf-8")
        assert "<table" in text
        assert "data-search-exclude" not in text


def test_each_code_of_findings_is_searched_by_itself(documentation_folder: Path) -> None:
    index = json.loads((documentation_folder / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"]: entry for entry in index["docs"]}
    page = (documentation_folder / "findings" / "index.html").read_text(encoding="utf-8")
    for code in load_codes().codes:
        assert found[f"findings/#{code}"]["title"] == code
        assert page.count(f' id="{code}"') == 1
