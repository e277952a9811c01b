"""A recorded NetBox, and folders of networks that take their inventory from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sources.netbox_server import TOKEN, NetBoxServer, recorded, serving

DESCRIPTION = """\
plugin: netbox
options:
  url: {url}
  token: {{env: NETBOX_TOKEN}}
  filter: {{role: [wan-edge, wan-transit, access-switch, core-switch]}}
  custom_fields: {{image: software_release, encapsulation: framing}}
platforms:
  cisco-ios: {{platform: cisco_ios, image: "12.4"}}
  catalyst-2950: {{platform: catalyst_2950, image: 12.1EA-EI}}
  catalyst-2970: {{platform: catalyst_2970, image: "12.2"}}
  baystack: nortel_5510
  ftos: {{platform: force10_e300}}
roles: {{wan-edge: edge, wan-transit: middle, access-switch: access, core-switch: core}}
tags: {{qos-lan: lan, qos-wan: wan, qos-trunk: trunk, pilot: pilot, asset-checked: null}}
"""
Networks = Callable[..., Path]


@pytest.fixture
def netbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[NetBoxServer]:
    """The recorded NetBox; its token is in the environment."""
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    with serving(recorded()) as server:
        yield server


@pytest.fixture
def network(netbox: NetBoxServer, tmp_path: Path) -> Networks:
    """Makes the folder of a network that names the recorded NetBox, with parts of its description replaced."""

    def make(name: str = "library", **replaced: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        text = DESCRIPTION.format(url=netbox.url)
        for old, new in replaced.items():
            line = next(line for line in text.splitlines() if line.strip().startswith(f"{old}:"))
            text = text.replace(line, new)
        (folder / "source.yaml").write_text(text)
        return folder

    return make
