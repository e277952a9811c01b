"""Features, platforms and drivers that are not known here, or not of each other, are told with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.cli.derive import stations
from qosforge.cli.options import load
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.errors import InputError, InputErrors
from qosforge.inventory.loader import load_network
from qosforge.platforms.base import installed, platform
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


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("hosts.yaml", "driver: ios", "driver: WORD"), "hosts.yaml:15:13"),
        (("hosts.yaml", "driver: linux_tc", "driver: WORD"), "hosts.yaml:7:13"),
        (("groups.yaml", "site: here", "driver: WORD"), "groups.yaml:2:22"),
    ],
    ids=["cisco_ios", "linux_tc", "group"],
)
def test_a_driver_of_another_platform_is_told_with_its_line(
    tmp_path: Path, change: tuple[str, str, str], place: str
) -> None:
    """It would enter lines that the device refuses, in the middle of a change and of its rollback."""
    folder = network(tmp_path, change, "force10")
    if change[0] == "groups.yaml":
        hosts = HOSTS.replace("    driver: linux_tc\n", "")
        (folder / "hosts.yaml").write_text(hosts, encoding="utf-8")
    with pytest.raises(InputError, match="the driver force10 is none of ") as told:
        load(ROOT / "policies" / "rfc4594-4-basic.yaml", folder, None)
    assert str(told.value.where).startswith(f"{folder}/{place}, ")
    assert told.value.hint.startswith("use ")


def test_platforms_speak_by_drivers_that_are_there() -> None:
    for name in installed():
        for driver in platform(name).family.drivers:
            driver_capabilities(driver, "r1")


def test_every_unknown_platform_and_driver_is_told_with_its_place(tmp_path: Path) -> None:
    folder = network(tmp_path, IN_HOST, "ets")
    hosts, groups = tmp_path / "hosts.yaml", tmp_path / "groups.yaml"
    hosts.write_text(
        HOSTS.replace("driver: linux_tc", "driver: nope").replace("platform: cisco_ios", "platform: juniper")
    )
    with pytest.raises(InputErrors) as told:
        load(ROOT / "policies" / "rfc4594-4-basic.yaml", folder, None)
    driver, juniper = told.value.problems()
    assert driver.message == "unknown driver 'nope'"
    assert str(driver.where).startswith(f"{hosts}:7:13, ")
    assert juniper.message == "unknown platform 'juniper'"
    assert str(juniper.where).startswith(f"{hosts}:11:13, ")
    assert "known: catalyst_2950, " in juniper.hint
    with pytest.raises(InputErrors) as derived:
        stations(folder)
    assert [problem.where for problem in derived.value.problems()] == [driver.where, juniper.where]
    with pytest.raises(InputErrors) as without_files:
        require_installed(load_network(folder))
    assert [str(problem.where) for problem in without_files.value.problems()] == ["r1", "r2"]

    # What devices have from one place is told once.
    hosts.write_text(
        HOSTS.replace("  platform: linux_tc\n", "").replace("  platform: cisco_ios\n", "  groups: [all]\n")
    )
    groups.write_text("near: {groups: [all]}\nall: {platform: juniper}\n")
    with pytest.raises(InputError) as at_once:
        load(ROOT / "policies" / "rfc4594-4-basic.yaml", folder, None)
    (problem,) = at_once.value.problems()
    assert str(problem.where).startswith(f"{groups}:2:17, ")
