"""``source.yaml``: each mistake with its line and what to write; no secret comes back in a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.errors import InputError
from qosforge.sources.description import read_source
from qosforge.sources.plugins import installed

GOOD = """\
plugin: netbox
options:
  url: https://netbox.example.net
  token: {env: NETBOX_TOKEN}
platforms:
  ios: cisco_ios
roles: {edge: edge}
tags: {qos-lan: lan}
"""


def described(tmp_path: Path, text: str) -> Path:
    (tmp_path / "source.yaml").write_text(text)
    return tmp_path


def test_a_good_one_is_read(tmp_path: Path) -> None:
    source = read_source(described(tmp_path, GOOD))
    assert source.description.platforms["ios"].platform == "cisco_ios"
    assert {"netbox", "nornir"} <= set(installed())


@pytest.mark.parametrize(
    ("old", "new", "line", "told", "hint"),
    [
        ("plugin: netbox", "plugin: netbux", 1, "there is no plug-in 'netbux'", "netbox, nornir"),
        ("plugin: netbox", "plugins: netbox", 1, "unknown key 'plugins'", "did you mean 'plugin'?"),
        ("  url: https://netbox.example.net\n", "", 3, "missing key 'url'", "add it"),
        ("https://netbox", "http://netbox", 3, "the token would be sent in clear", "write https"),
        ("https://netbox", "https://me:pass@netbox", 3, "does not belong in an address", "give a token"),
        ("https://netbox.example.net", "netbox", 3, "not the address of a NetBox", "https://"),
        ("{env: NETBOX_TOKEN}", "0123secret", 4, "a token does not belong here", "{env: NETBOX_TOKEN}"),
        ("{env: NETBOX_TOKEN}", "{env: A, file: b}", 4, "a value has one source", "give {env: VARIABLE}"),
        ("{env: NETBOX_TOKEN}", "{env: 0123secret}", 4, "is not possible here", "pattern"),
        ("{env: NETBOX_TOKEN}", "{env: A}\n  filter: {sites: a}", 5, "unknown key 'sites'", "'site'?"),
        ("{env: NETBOX_TOKEN}", "{env: A}\n  verify: false", 5, "unknown key 'verify'", "known here"),
        ("cisco_ios", "cisco_xr", 6, "unknown platform 'cisco_xr'", "cisco_ios"),
        ("cisco_ios", "{platform: cisco_ios, driver: nxos}", 6, "unknown driver 'nxos'", "ios_legacy"),
        (
            "cisco_ios",
            "{platform: cisco_ios, driver: force10}",
            6,
            "force10 is none of cisco_ios",
            "use ios_legacy or ios",
        ),
        ("cisco_ios", "{platform: cisco_xr, driver: force10}", 6, "unknown platform 'cisco_xr'", "cisco_ios"),
        ("cisco_ios", "{platform: linux_tc, features: [ets, hsfc]}", 6, "unknown feature 'hsfc'", "'hfsc'?"),
        ("{edge: edge}", "{edge: border}", 7, "'border' is not possible here", "'edge', 'middle'"),
        ("tags:", "transport: pigeon\ntags:", 8, "'pigeon' is not possible here", "ssh"),
        ("tags:", "credentials: -x\ntags:", 8, "does not name credentials", "letters"),
    ],
)
def test_each_mistake_has_its_place_and_a_hint(  # noqa: PLR0917  rows of a table
    tmp_path: Path, old: str, new: str, line: int, told: str, hint: str
) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read_source(described(tmp_path, GOOD.replace(old, new, 1)))
    (problem, *_) = [one for one in caught.value.problems() if told in one.message]
    assert problem.where.line == line
    assert hint in problem.hint
    assert "0123secret" not in str(caught.value) + repr(caught.value) + repr(problem)


def test_a_folder_without_one_is_told_how_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the network has no source\.yaml"):
        read_source(tmp_path)
