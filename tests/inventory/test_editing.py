"""Networks and devices written into an inventory: what is there stays as it is; what is wrong writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.errors import InputError, InputErrors
from qosforge.inventory.editing import add_device, add_network, remove_device
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from tests.system.command import Command, Ended

BODY = {
    "hostname": "192.0.2.7",
    "port": 2222,
    "platform": "cisco_ios",
    "data": {
        "role": "edge",
        "image": "12.4",
        "driver": "ios_legacy",
        "credentials": "no",
        "interfaces": {"Serial0/0": {"rate": "2 Mb/s"}, "48": {"rate": "1 Gb/s"}},
    },
}
HOSTS = """\
# The library's routers.  Two blanks, and "quotes".

r1:   # upstairs
    hostname: 192.0.2.1
    platform:   cisco_ios
    data: {role: edge, image: "12.2", driver: ios_legacy, interfaces: {Serial0/0: {rate: 2 Mb/s}}}

# The cellar.
r2:
  hostname: 192.0.2.2
  platform: cisco_ios
  data:
    role: edge
    image: '12.2'
    driver: ios_legacy
    # its only line
    interfaces: {Serial0/0: {rate: 2 Mb/s}}
# The end.
"""


def network(folder: Path, hosts: str = HOSTS, links: str = "links: []\nstations: []\n") -> Path:
    folder.mkdir()
    for name, text in (("hosts", hosts), ("groups", "{}\n"), ("defaults", "{}\n"), ("links", links)):
        (folder / f"{name}.yaml").write_text(text)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_network_is_empty_and_read_only_and_takes_devices(tmp_path: Path) -> None:
    made = add_network(tmp_path / "library")
    assert (made.name, made.devices) == ("library", ())
    assert made.changes.read_only(emulated=False)
    head = (tmp_path / "library" / "hosts.yaml").read_text().partition("{}")[0]
    assert [device.name for device in add_device(tmp_path / "library", "r1", BODY).devices] == ["r1"]
    found = add_device(tmp_path / "library", "r2", BODY).device("r2")
    assert (found.reach.hostname, found.reach.port, found.reach.credentials) == ("192.0.2.7", 2222, "no")
    assert [(one.name, one.rate) for one in found.interfaces] == [("Serial0/0", 2_000_000), ("48", 10**9)]
    assert (tmp_path / "library" / "hosts.yaml").read_text().startswith(head + "r1:\n")
    remove_device(tmp_path / "library", "r1")
    assert remove_device(tmp_path / "library", "r2").devices == ()
    assert (tmp_path / "library" / "hosts.yaml").read_text() == head + "{}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["library"]


def test_what_a_person_wrote_stays_byte_by_byte(tmp_path: Path) -> None:
    folder = network(tmp_path / "own")
    before = files(folder)
    add_device(folder, "r3", BODY)
    assert (folder / "hosts.yaml").read_text().startswith(HOSTS + "r3:\n  hostname: ")
    remove_device(folder, "r3")
    assert files(folder) == before
    remove_device(folder, "r1")
    text = (folder / "hosts.yaml").read_text()
    assert text == HOSTS[: HOSTS.index("r1:")] + HOSTS[HOSTS.index("\n# The cellar.") :]
    remove_device(folder, "r2")
    text = (folder / "hosts.yaml").read_text()
    assert "# The cellar.\n{}\n# The end.\n" in text
    assert load_network(folder).devices == ()


def test_lines_without_an_end_and_windows_ends_are_kept(tmp_path: Path) -> None:
    folder = network(tmp_path / "own", HOSTS.rstrip("\n").replace("\n", "\r\n"))
    text = (folder / "hosts.yaml").read_bytes()
    add_device(folder, "r3", BODY)
    assert (folder / "hosts.yaml").read_bytes().startswith(text + b"\n")
    remove_device(folder, "r3")
    assert (folder / "hosts.yaml").read_bytes() == text + b"\n"


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("r1", BODY, "has this device already"),
        ("a b", BODY, "cannot be a device's name"),
        ("r3", {**BODY, "hostname": "two words"}, "is not a host"),
        ("r3", {**BODY, "hostname": "r3.example.net:2022"}, "the port beside it"),
        ("r3", {**BODY, "port": 0}, "0 is not possible here"),
        ("r3", {**BODY, "data": {**BODY["data"], "role": "roof"}}, "edge"),  # type: ignore[dict-item]
        ("r3", {**BODY, "data": {**BODY["data"], "interfaces": {"x\nreload": {"rate": "1 Mb/s"}}}}, "interface"),  # type: ignore[dict-item]
        ("r3", {**BODY, "password": "hunter2"}, "password does not belong in an inventory"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_writes_nothing(
    tmp_path: Path, name: str, body: dict[str, object], told: str
) -> None:
    folder = network(tmp_path / "own")
    before = files(folder)
    with pytest.raises(InputError) as caught:
        add_device(folder, name, body)
    problems = caught.value.problems()
    assert any(told in str(problem) for problem in problems), [str(problem) for problem in problems]
    assert all(problem.hint and problem.where.file == str(folder / "hosts.yaml") for problem in problems)
    assert files(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_a_device_at_which_links_end_stays(tmp_path: Path) -> None:
    link = "links: [{a: [r1, Serial0/0], b: [r2, Serial0/0], rate: 2 Mb/s}]\nstations: []\n"
    folder = network(tmp_path / "own", links=link)
    before = files(folder)
    with pytest.raises(InputErrors) as caught:
        remove_device(folder, "r2")
    assert "there is no device 'r2'" in str(caught.value)
    with pytest.raises(InputError, match="no such device"):
        remove_device(folder, "r9")
    assert files(folder) == before


def test_a_file_that_cannot_be_spliced_is_left_to_a_person(tmp_path: Path) -> None:
    data = "{role: edge, image: '12.2', driver: ios_legacy, interfaces: {}}"
    body = f"{{hostname: 192.0.2.1, platform: cisco_ios, data: {data}}}"
    flow = f"{{r1: {body},\n r2: {body}}}\n"
    folder = network(tmp_path / "own", flow)
    for change in (lambda: add_device(folder, "r3", BODY), lambda: remove_device(folder, "r2")):
        with pytest.raises(InputError) as caught:
            change()
        assert "by hand" in caught.value.hint
    assert (folder / "hosts.yaml").read_text() == flow


def test_nothing_is_overwritten_by_a_new_network(tmp_path: Path) -> None:
    folder = network(tmp_path / "own")
    before = files(folder)
    for wrong in (folder, tmp_path / "no name", tmp_path / "nowhere" / "own"):
        with pytest.raises(InputError) as caught:
            add_network(wrong)
        assert caught.value.hint
    assert files(folder) == before


def test_a_folder_that_cannot_be_written_is_named() -> None:
    with pytest.raises(InputError, match="cannot be written"):
        add_network(Path("/proc/own"))  # where not even root makes a folder


def test_the_commands(tmp_path: Path) -> None:
    runs = iter(range(100))

    def command(*words: object) -> Ended:
        environment = {"QOSFORGE_VAR_DIR": str(tmp_path / "var"), "QOSFORGE_INVENTORIES_DIR": str(tmp_path)}
        return Command([str(word) for word in words], environment, tmp_path / "printed" / str(next(runs))).wait()

    own = tmp_path / "own"
    assert command("network", "add", "own").code == 0
    beside = command("network", "add", "own", "--in", tmp_path / "elsewhere")
    assert beside.code == 2  # the folder above it is not there
    (tmp_path / "elsewhere").mkdir()
    beside = command("network", "add", "own", "--in", tmp_path / "elsewhere")
    assert (beside.code, "is called own too" in beside.stderr) == (0, True)
    assert "is called" not in command("network", "add", "other", "--in", tmp_path / "elsewhere").stderr
    twice = command("network", "add", "own")
    assert (twice.code, "there is something already" in twice.stderr) == (2, True)
    on = ("--network", own)
    what = ("--hostname", "192.0.2.1", "--platform", "cisco_ios", "--image", "12.4(15)T", "--credentials", "tacacs")
    added = command("device", "add", "r1", *on, *what, "--jump", "bastion", "--interface", "Serial0/0=2 Mb/s")
    assert added.code == 0, added.text
    assert command("device", "add", "s1", *on, *what, "--role", "access", "--transport", "telnet").code == 0
    refused = command("device", "add", "r2", *on, *what, "--transport", "carrier-pigeon")
    assert (refused.code, "--transport" in refused.stderr) == (2, True)
    assert command("device", "add", "r2", *what).code == 2, "which network is written is said"
    listed = json.loads(command("device", "list", *on, "--json").stdout)
    assert [one["device"] for one in listed["devices"]] == ["r1", "s1"]
    assert "192.0.2.1" in command("device", "list", *on).stdout
    shown = json.loads(command("device", "show", "r1", *on, "--json").stdout)
    assert shown["route"] == "the devices themselves, by the inventory's addresses"
    keys = ("where", "transport", "jump", "credentials", "role", "driver", "read_only")
    assert [shown[key] for key in keys] == [
        "192.0.2.1", "ssh", "bastion", "tacacs", "edge", "ios_legacy", True,
    ]  # fmt: skip
    assert shown["interfaces"] == [{"name": "Serial0/0", "rate": "2 Mb/s", "role": "edge", "tags": []}]
    assert "tacacs" in command("device", "show", "r1", *on).stdout
    assert command("device", "remove", "s1", *on).code == 0
    assert [device.name for device in load_network(own).devices] == ["r1"]
    campus = command("device", "show", "r1", "--network", root() / "inventories" / "campus", "--json")
    assert json.loads(campus.stdout)["route"] == "the lab's devices"
