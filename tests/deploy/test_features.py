"""Words of ``features`` that a device's platform does not know are told where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.cli.options import load
from qosforge.deploy.driver_capabilities import require_installed
from qosforge.errors import InputError
from qosforge.inventory.loader import load_network
from tests.checkout import ROOT

HOSTS = """\
r1:
  groups: [near]
  platform: linux_tc
  data:
    role: edge
    image: "6.1"
    driver: linux_tc
    interfaces:
      eth0: {rate: 10 Mb/s, tags: [wan]}
r2:
  platform: cisco_ios
  data:
    role: edge
    image: "12.4"
    driver: ios
    interfaces:
      Serial0/0: {rate: 2 Mb/s, tags: [wan], encapsulation: hdlc}
"""
GROUPS = "near: {groups: [all]}\nall: {data: {site: here}}\n"
FILES = {"hosts.yaml": HOSTS, "groups.yaml": GROUPS, "defaults.yaml": "data: {}\n", "links.yaml": "links: []\n"}
IN_HOST = (
    "hosts.yaml",
    '    role: edge\n    image: "6.1"',
    '    features: [ets, WORD]\n    role: edge\n    image: "6.1"',
)
IN_GROUP = ("groups.yaml", "site: here", "features: [ets, WORD]")
IN_DEFAULTS = ("defaults.yaml", "{}", "{features: [WORD]}")


def network(folder: Path, change: tuple[str, str, str], word: str) -> Path:
    for name, text in FILES.items():
        told = text.replace(change[1], change[2].replace("WORD", word)) if name == change[0] else text
        assert told != text or name != change[0]
        (folder / name).write_text(told, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("change", "place"),
    [(IN_HOST, "hosts.yaml:5:21"), (IN_GROUP, "groups.yaml:2:30"), (IN_DEFAULTS, "defaults.yaml:1:19")],
    ids=["host", "group", "defaults"],
)
@pytest.mark.parametrize(
    ("word", "hint"), [("fqcodel", "did you mean 'fq_codel'?"), ("archive", "known: drr, ets, fq_codel, gred, h")]
)
def test_an_unknown_word_is_told_with_its_place_and_near_ones(
    tmp_path: Path, change: tuple[str, str, str], place: str, word: str, hint: str
) -> None:
    folder = network(tmp_path, change, word)
    with pytest.raises(InputError, match=f"unknown feature '{word}' of platform linux_tc") as told:
        load(ROOT / "policies" / "rfc4594-4-basic.yaml", folder, None)
    assert str(told.value.where).startswith(f"{folder}/{place}, ")
    assert str(told.value.where).endswith(" r1")
    assert told.value.hint.startswith(hint)
    with pytest.raises(InputError) as without_files:
        require_installed(load_network(folder))
    assert str(without_files.value.where) == "r1"


@pytest.mark.parametrize("word", ["ets", "gred", "htb"])
@pytest.mark.parametrize("change", [IN_HOST, IN_GROUP, IN_DEFAULTS])
def test_known_words_are_taken(tmp_path: Path, change: tuple[str, str, str], word: str) -> None:
    require_installed(load_network(network(tmp_path, change, word)))
