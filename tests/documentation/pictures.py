"""The pictures of the documentation, made from the running product: `make docs-pictures`.

The demo's campus as emulated devices, a service that asks for four eyes, and two people in a browser: one asks for
a run, the other approves it. Each picture is taken in light and in dark.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect

from qosforge.access.roles import Role
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.served import serving
from tests.system.campus import Campus
from tests.web.browser import Tab, chromium
from tests.web.conftest import Site
from tests.web.people import PASSWORD

FOLDER = root() / "docs" / "pictures"
PAGES = {
    "home": "/",
    "policies": "/policies",
    "editor": "/policies/campus-collaboration/edit?network=campus",
    "approval": "/runs/{run}?tab=changes",
    "verdict": "/runs/{run}?tab=objectives",
    "network": "/networks/campus",
    "audit": "/networks/campus/audit",
}
"""What there is a picture of, by its name, and where it is seen."""
_SHOWN_LATER = {"home": "text=healthy", "editor": "#preview-good", "audit": "#audit .tiles"}
"""What a page shows when it has been computed."""
SCHEMES = ("light", "dark")
MOST_KB = 100

_SIZE = {"width": 1200, "height": 800}
_QUALITY = 82
"""Of WebP: lower, and small letters have shadows."""
_LONG_MS = 180_000
"""What the devices and the twin take, on a busy machine."""


def file_name(name: str, scheme: str) -> str:
    """The file of a picture."""
    return f"{name}-{scheme}.webp"


def take(page: Page, name: str) -> None:
    """What the page shows now, in both schemes."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.activeElement?.blur()")
        shown = Image.open(BytesIO(page.screenshot(animations="disabled")))
        shown.convert("RGB").save(FOLDER / file_name(name, scheme), "WEBP", quality=_QUALITY, method=6)


@contextmanager
def _site(scratch: Path) -> Iterator[Site]:
    """The service with the lab, and its two people."""
    campus = Campus(scratch / "var")
    campus.start()
    try:
        with serving(campus.var, four_eyes="true", request_seconds=str(_LONG_MS / 1000)) as served:
            made = Site(served, Settings(var_dir=campus.var))
            for name in ("ann", "bob"):
                made.person(name, Role.APPROVER, campus.network.name)
            yield made
    finally:
        campus.stop()


def _person(browser: Browser, site: Site, name: str) -> Page:
    tab = Tab.of(browser, site.url, _SIZE)
    tab.log_in(name, PASSWORD)
    return tab.page


def _wait_for(page: Page, status: str) -> None:
    expect(page.locator("#state .headline")).to_contain_text(status, timeout=_LONG_MS)


def main() -> None:
    """Make every picture."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, _site(Path(scratch)) as site, chromium() as browser:
        ann, bob = _person(browser, site, "ann"), _person(browser, site, "bob")
        ann.goto("/runs/new?policy=campus-collaboration&network=campus")
        ann.get_by_role("button", name="Start run").click()
        ann.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))
        run = ann.url.rpartition("/")[2]
        _wait_for(ann, "needs approval")
        bob.goto(PAGES["approval"].format(run=run))
        bob.locator("#tabs").evaluate("part => part.scrollIntoView()")
        take(bob, "approval")
        bob.get_by_role("button", name="Approve", exact=True).click()
        _wait_for(ann, "kept")
        for name in (name for name in PAGES if name != "approval"):
            ann.goto(PAGES[name].format(run=run))
            ann.wait_for_load_state("networkidle")
            if name in _SHOWN_LATER:
                expect(ann.locator(_SHOWN_LATER[name])).to_be_visible(timeout=_LONG_MS)
            take(ann, name)
    heavy = [path.name for path in FOLDER.iterdir() if path.stat().st_size > MOST_KB * 1000]
    if heavy:
        sys.exit(f"larger than {MOST_KB} kB: {', '.join(sorted(heavy))}")


if __name__ == "__main__":
    main()
