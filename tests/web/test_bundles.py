"""Scripts of others: what the lock pins, and what the package that carries them has."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from qosforge.resources import root
from qosforge.web.assets import asset

FOLDER = root() / "browser"


def test_every_package_is_pinned_with_its_hash() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    packages = {place: found for place, found in lock["packages"].items() if place}
    assert {"node_modules/htmx.org", "node_modules/idiomorph", "node_modules/esbuild"} <= packages.keys()
    for place, found in packages.items():
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", found["integrity"]), place
        assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+(-[\w.]+)?", found["version"]), place


def test_each_bundle_is_served() -> None:
    sources = {path.name for path in (FOLDER / "src").iterdir()}
    bundles = {
        path.name: path.read_text() for path in files("qosforge_browser").iterdir() if path.name.endswith(".js")
    }
    assert bundles.keys() == sources
    for name in bundles:
        assert asset(name).startswith(f"/static/{name}?v=")
