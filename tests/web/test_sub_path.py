"""The whole site below a path of its host, behind a proxy that has another site everywhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from qosforge.api.backend import open_backend
from qosforge.errors import InputError
from qosforge.settings import Settings
from qosforge.web import assets, pages
from qosforge.web.site import create_site
from tests.api.served import serving
from tests.web.browser import DESKTOP, Tab, unfold
from tests.web.furnished import ADMIN, DOWNLOADS, NETWORK, NOT_THERE_YET, POLICY, SAMPLES, furnish
from tests.web.people import PASSWORD
from tests.web.sub_path_proxy import PREFIX, Proxy, proxying

WEB = Path(pages.__file__).parent

LINKS = re.compile(
    r"href|src|action|formaction|hx-(get|post|put|delete|push-url|replace-url)|data-(graph|events|schema)"
)
"""Attributes that have an address."""

ROOT_RELATIVE = {
    "*.j2": re.compile(rf"""(?:{LINKS.pattern})=["'](?:/|\{{\{{ ?["']/)"""),
    "*.js": re.compile(r"""["'`]/[a-z]"""),
    "*.css": re.compile(r"""url\(["']?/"""),
}
"""What would lead out of the prefix, by kind of file."""


class Addresses(HTMLParser):
    """The addresses that a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.fetched: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and LINKS.fullmatch(name):
                self.found[f"<{tag} {name}>"] = value
                if name in ("href", "src", "hx-get"):
                    self.fetched.add(value)


@pytest.fixture(scope="module")
def proxy(var_dir: Path) -> Iterator[tuple[Proxy, dict[str, str]]]:
    """The proxy, with a furnished service behind it, and what stands for the parts of sample addresses."""
    with open_backend(Settings(var_dir=var_dir, compute_processes=1)) as backend:
        places = furnish(backend)
    with proxying() as made, serving(var_dir, fork=True, public_url=made.url + "/") as served:
        made.service = served.url.removesuffix("/api/v1")
        yield made, places


@pytest.fixture
def client(proxy: tuple[Proxy, dict[str, str]]) -> Iterator[httpx2.Client]:
    """An administrator who is logged in there."""
    with httpx2.Client(base_url=proxy[0].host, timeout=60) as made:
        answer = made.post(f"{PREFIX}/login", data={"name": ADMIN, "password": PASSWORD, "to": "/networks"})
        assert (answer.status_code, answer.headers["location"]) == (303, f"{PREFIX}/networks")
        assert f"Path={PREFIX};" in answer.headers["set-cookie"] + ";"
        yield made


def leads_out(address: str, page: str) -> bool:
    """Whether an address on a page leads to the other site of the host."""
    target = urlsplit(urljoin(page, address))
    within = target.path == PREFIX or target.path.startswith(PREFIX + "/")
    return target.netloc == urlsplit(page).netloc and target.scheme.startswith("http") and not within


def test_no_page_leads_out_of_the_prefix(proxy: tuple[Proxy, dict[str, str]], client: httpx2.Client) -> None:
    wrong: list[str] = []
    linked: set[str] = set()
    walked = sorted(set(SAMPLES) - DOWNLOADS | {"/networks/{network}/graph"})
    for number, route in enumerate(walked):
        proxy[0].strips = number % 2 == 0
        answer = client.get(PREFIX + SAMPLES[route].format(**proxy[1]))
        assert answer.status_code < 400 or route in NOT_THERE_YET, (route, answer.text)
        if answer.headers["content-type"].startswith("application/json"):
            found = {f"{n}": text for n, text in enumerate(re.findall(r'"(/[^"]*)"', answer.text))}
        else:
            read = Addresses(answer.text)
            found = read.found
            linked |= {urlsplit(urljoin(str(answer.url), one)).path for one in read.fetched if one.startswith("/")}
        wrong += [f"{route}: {at} {it}" for at, it in found.items() if leads_out(it, str(answer.url))]
    assert not wrong, "\n".join(wrong)
    assert f"{PREFIX}/networks" in linked
    parts = {path for path in linked if "/static/" in path or path.startswith(f"{PREFIX}/api/")}
    assert parts
    for path in sorted(parts):
        assert client.head(path).status_code in (200, 405), path
    assert not proxy[0].strays


def test_answers_lead_on_within_the_prefix(proxy: tuple[Proxy, dict[str, str]], client: httpx2.Client) -> None:
    with httpx2.Client(base_url=proxy[0].host, timeout=60) as nobody:
        sent = nobody.get(f"{PREFIX}/policies?from=x")
        assert sent.headers["location"] == f"{PREFIX}/login?to=%2Fpolicies%3Ffrom%3Dx"
    assert client.get(f"{PREFIX}/runs/").headers["location"] == f"{PREFIX}/runs"
    assert client.get(f"{PREFIX}/api/v1/openapi.json").json()["servers"] == [{"url": PREFIX}]
    me = client.get(f"{PREFIX}/api/v1/me").json()
    headers = {"X-CSRF-Token": me["csrf"], "HX-Request": "true"}
    language = client.post(f"{PREFIX}/account/language", data={"language": "en"}, headers=headers)
    assert f"Path={PREFIX};" in language.headers["set-cookie"]
    out = client.post(f"{PREFIX}/logout", headers=headers)
    assert out.headers["hx-redirect"] == f"{PREFIX}/login?because=logged-out"
    assert f"Path={PREFIX};" in out.headers["set-cookie"]
    assert client.get(f"{PREFIX}/account").status_code == 303


def test_a_policy_is_edited_and_previewed_below_the_prefix(
    proxy: tuple[Proxy, dict[str, str]], chromium_browser: Browser
) -> None:
    proxy[0].strips = True
    tab = Tab.of(chromium_browser, proxy[0].url, DESKTOP)
    page = tab.page
    page.goto(f"{PREFIX}/policies/{POLICY}/edit?network={NETWORK}")
    page.get_by_label("Name").fill(ADMIN)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#preview")).to_contain_text("Compiled for")
    unfold(page.locator("article.class").first).get_by_label("Name").first.fill("telephony")
    expect(page.locator("#preview")).to_contain_text("This cannot be compiled")
    expect(page.locator("#problems")).to_contain_text("telephony")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile(rf"{PREFIX}/login\?because=logged-out$"))
    tab.require_sound()
    tab.context.close()
    assert not proxy[0].strays


def test_no_template_and_no_script_links_to_the_root_of_the_host() -> None:
    files = [*(WEB / "templates").rglob("*.j2"), *(WEB / assets.FOLDER).iterdir()]
    assert len(files) > 50
    found = [
        f"{file.name}:{number}: {match[0]} (write {{{{ prefix }}}} before it)"
        for file in files
        for kind, wrong in ROOT_RELATIVE.items()
        if file.match(kind)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        for match in wrong.finditer(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", ["/runs", "/static/x", "/api"])
def test_a_prefix_that_is_a_page_of_the_service_is_refused(path: str, tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, public_url=f"https://qos.example{path}")
    with open_backend(settings) as backend, pytest.raises(InputError, match="has pages at"):
        create_site(backend)
