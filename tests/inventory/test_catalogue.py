"""Networks by name: only what the folder lists, read again when a file changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from qosforge.inventory.catalogue import InventoryBroken, Networks, NetworkUnknown
from qosforge.resources import root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("campus", "itesm"):
        shutil.copytree(root() / "inventories" / name, tmp_path / "networks" / name)
    (tmp_path / "networks" / "notes").mkdir()
    return tmp_path / "networks"


def test_names_are_those_of_folders_with_hosts(folder: Path) -> None:
    assert Networks(folder).names() == ("campus", "itesm")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "notes", "campus/", "./campus", "../networks/campus", "campus/startup", "nowhere"],
)
def test_what_is_not_listed_is_unknown(folder: Path, name: str) -> None:
    with pytest.raises(NetworkUnknown) as caught:
        Networks(folder).network(name)
    assert repr(name) in str(caught.value)


def test_an_absolute_path_is_no_name(folder: Path) -> None:
    with pytest.raises(NetworkUnknown):
        Networks(folder).network(str(folder / "campus"))


def test_a_network_is_read_once_until_a_file_changes(folder: Path) -> None:
    networks = Networks(folder)
    first = networks.network("campus")
    assert networks.network("campus") is first
    links = folder / "campus" / "links.yaml"
    links.write_text(links.read_text(encoding="utf-8").replace("delay: ", "delay:  "), encoding="utf-8")
    again = networks.network("campus")
    assert again is not first
    assert again == first


def test_a_network_is_found_without_a_look_into_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    networks, looked = Networks(folder), set()
    networks.network("campus")
    real = Path.is_file

    def is_file(path: Path) -> bool:
        looked.add(path.parent.name)
        return real(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    networks.network("campus")
    assert looked == {"campus"}


def test_a_file_put_in_its_place_counts_as_changed(folder: Path) -> None:
    networks = Networks(folder)
    assert networks.network("campus").traffic
    before = (folder / "campus" / "traffic.yaml").stat()
    (folder / "campus" / "traffic.yaml").unlink()
    os.utime(folder / "campus" / "hosts.yaml", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not networks.network("campus").traffic


def test_a_broken_inventory_is_told_without_places_of_this_machine(folder: Path) -> None:
    (folder / "itesm" / "links.yaml").write_text("links: 3\n", encoding="utf-8")
    with pytest.raises(InventoryBroken) as caught:
        Networks(folder).network("itesm")
    assert "links.yaml:1" in str(caught.value)
    assert str(folder) not in str(caught.value)


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InventoryBroken, match="QOSFORGE_INVENTORIES_DIR"):
        Networks(tmp_path / "none").names()


def test_a_network_has_the_name_that_it_is_asked_for_by(folder: Path) -> None:
    (folder / "north").symlink_to(folder / "campus")
    networks = Networks(folder)
    for _ in range(2):  # read, and kept
        assert networks.network("north").name == "north"
