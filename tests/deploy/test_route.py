"""Which way a command goes to a network's devices, what logs in, and what is never done on that way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from qosforge.deploy.route import lab_of, route_of_run, route_to
from qosforge.errors import InputError, InputErrors, QosforgeError
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root
from qosforge.settings import Settings

HOST = """\
{name}:
  hostname: {hostname}
  platform: cisco_ios
{more}
  data:
    role: edge
    image: '12.4'
    driver: ios_legacy
{data}
    interfaces: {{Serial0/0: {{rate: 2 Mb/s}}}}
"""


def inventory(folder: Path, hosts: str, groups: str = "{}\n", defaults: str = "{}\n") -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in (("hosts", hosts), ("groups", groups), ("defaults", defaults)):
        (folder / f"{name}.yaml").write_text(text)
    (folder / "links.yaml").write_text("links: []\nstations: []\n")
    return folder


def host(name: str = "r1", hostname: str = "192.0.2.1", more: str = "", data: str = "") -> str:
    def indented(text: str, by: int) -> str:
        return "\n".join(" " * by + line for line in text.splitlines())

    return HOST.format(name=name, hostname=hostname, more=indented(more, 2), data=indented(data, 4))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        var_dir=tmp_path / "var",
        ssh_config_file=tmp_path / "ssh_config",
        credentials_file=tmp_path / "credentials.yaml",
    )


@pytest.fixture(autouse=True)
def _no_credentials_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("QOSFORGE_USERNAME", "QOSFORGE_PASSWORD"))]:
        monkeypatch.delenv(name)


def credentials_file(settings: Settings, text: str) -> None:
    settings.credentials_file.write_text(text)
    settings.credentials_file.chmod(0o600)


def target(settings: Settings, network: Network, name: str = "r1") -> Any:
    return route_to(settings, network).target(network.device(name))


def problem(network: Network, settings: Settings, name: str = "r1") -> QosforgeError:
    with pytest.raises(QosforgeError) as caught:
        target(settings, network, name)
    return caught.value


def test_nornirs_words_hold_with_what_groups_and_defaults_give(tmp_path: Path, settings: Settings) -> None:
    hosts = (
        host("r1", more="groups: [old]\nport: 2222\nusername: own")
        + host("r2", "r2.example.net", more="groups: [old]", data="credentials: other")
        + host("r3", "r3.example.net")
    )
    groups = (
        "old:\n  connection_options:\n    netmiko: {port: 24, extras: {global_delay_factor: 2}}\n"
        "    napalm: {extras: {timeout: 90, optional_args: {conn_timeout: 7, keepalive: 5}}}\n"
        "  data: {transport: telnet}\n"
    )
    network = load_network(
        inventory(tmp_path / "net", hosts, groups, "username: all\ndata: {credentials: tacacs}\n")
    )
    credentials_file(
        settings, "tacacs: {username: t, password: secret-t}\nother: {username: o, password: secret-o}\n"
    )
    found = {name: target(settings, network, name) for name in ("r1", "r2", "r3")}
    assert [(t.hostname, t.login.username, t.login.password, t.timeout) for t in found.values()] == [
        ("192.0.2.1", "own", "secret-t", 90),
        ("r2.example.net", "all", "secret-o", 90),
        ("r3.example.net", "all", "secret-t", 60),
    ]
    options = found["r1"].optional_args()
    assert {
        key: options[key] for key in ("port", "transport", "conn_timeout", "keepalive", "global_delay_factor")
    } == {
        "port": 24,
        "transport": "telnet",
        "conn_timeout": 7,
        "keepalive": 5,
        "global_delay_factor": 2,
    }
    assert (found["r3"].optional_args()["port"], found["r3"].optional_args()["transport"]) == (22, "ssh")
    assert found["r3"].optional_args()["ssh_strict"] is True


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("password: hunter2", "password does not belong in an inventory"),
        ("connection_options: {napalm: {password: hunter2}}", "password does not belong"),
        ("connection_options: {napalm: {extras: {optional_args: {secret: hunter2}}}}", "secret does not belong"),
        ("connection_options: {netmiko: {extras: {key_file: /root/id}}}", "key_file does not belong"),
        ("connection_options: {netmiko: {extras: {ssh_strict: false}}}", "'ssh_strict' is not taken"),
        ("connection_options: {napalm: {extras: {optional_args: {session_log: x}}}}", "'session_log' is not taken"),
        ("connection_options: {scrapli: {port: 1}}", "'scrapli' is not used here"),
        ("connection_options: {netmiko: {extras: {conn_timeout: soon}}}", "conn_timeout is not 'soon'"),
        ("connection_options: {netmiko: {extras: {fast_cli: [1]}}}", "fast_cli is not"),
        ("port: 70000", "70000"),
    ],
)
def test_what_an_inventory_must_not_say_is_named_where_it_stands(tmp_path: Path, more: str, told: str) -> None:
    with pytest.raises(InputErrors) as caught:
        load_network(inventory(tmp_path / "net", host(more=more)))
    (first, *_) = caught.value.problems()
    assert told in first.message
    assert "hunter2" not in str(caught.value)
    assert first.where.line == 4
    assert first.hint


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("transport: carrier-pigeon", "'ssh', 'ssh-legacy' or 'telnet'"),
        ("jump: -oProxyCommand=touch /tmp/x", "is not a jump host"),
        ("jump: a,,b", "is not a jump host"),
        ("credentials: a b", "does not name credentials"),
        ("reach: {hostname: a}", "unknown key 'reach'"),
    ],
)
def test_wrong_words_about_the_way_are_named(tmp_path: Path, data: str, told: str) -> None:
    with pytest.raises(InputErrors) as caught:
        load_network(inventory(tmp_path / "net", host(data=data)))
    assert told in str(caught.value)


@pytest.mark.parametrize("hostname", ["-oProxyCommand=x", "a b", "a;b", "'$(x)'"])
def test_a_hostname_is_never_an_option_of_a_command(tmp_path: Path, hostname: str) -> None:
    with pytest.raises(InputErrors, match="is not a host"):
        load_network(inventory(tmp_path / "net", host(hostname=hostname)))


def test_a_lab_and_the_devices_are_never_mixed(tmp_path: Path, settings: Settings) -> None:
    network = load_network(inventory(tmp_path / "net", host("r1") + host("r2", "192.0.2.2")))
    credentials_file(settings, "default: {username: a, password: b}\n")
    assert lab_of(settings, network) is None
    assert "the devices themselves" in route_to(settings, network).told
    lab = settings.var_dir / "lab" / "net"
    lab.mkdir(parents=True)
    (lab / "overlay.yaml").write_text("boxes:\n  r1: {hostname: 127.0.0.1, port: 2001}\n")
    (lab / "credentials.json").write_text('{"username": "lab", "password": "lab", "secret": "lab"}')
    route = route_to(settings, network)
    assert "lab" in route.told
    assert (route.target(network.device("r1")).hostname, route.login(network.device("r1")).username) == (
        "127.0.0.1",
        "lab",
    )
    assert "the lab that is up has no such device" in problem(network, settings, "r2").message
    # A run keeps to the way that it began with.
    (lab / "overlay.yaml").unlink()
    with pytest.raises(QosforgeError, match="no address is known"):
        route_of_run(settings, lab).target(network.device("r1"))
    assert route_of_run(settings, None).target(network.device("r1")).hostname == "192.0.2.1"


def test_a_network_without_hostnames_has_a_lab_alone(settings: Settings) -> None:
    campus = load_network(root() / "inventories" / "campus")
    assert lab_of(settings, campus) is not None
    assert "qosforge lab up" in problem(campus, settings).hint


def test_openssh_says_where_a_host_is_and_what_is_before_it(tmp_path: Path, settings: Settings) -> None:
    key = tmp_path / "id"
    key.write_text("a key")
    settings.ssh_config_file.write_text(
        f"Host r1\n  HostName 198.51.100.7\n  Port 2022\n  User netops\n  IdentityFile {key}\n  ProxyJump bastion\n"
        "Host r2\n  ProxyCommand nc -X 5 %h %p\n"
    )
    hosts = host("r1", "r1") + host("r2", "r2", more="port: 99") + host("r3", "r3", data="jump: me@a:2201,b")
    network = load_network(inventory(tmp_path / "net", hosts))
    credentials_file(settings, "default: {agent: true}\n")
    first = target(settings, network)
    assert (first.hostname, first.login.username, first.login.key_file, first.login.agent) == (
        "198.51.100.7",
        "netops",
        key,
        True,
    )
    assert first.optional_args()["port"] == 2022
    file, checked = (
        ("-F", str(settings.ssh_config_file)),
        ("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"),
    )
    assert first.optional_args()["jump"] == ("ssh", *file, *checked, "-W", "198.51.100.7:2022", "bastion")
    credentials_file(settings, "default: {username: u, password: p}\n")
    assert target(settings, network, "r2").optional_args()["jump"] == ("/bin/sh", "-c", "exec nc -X 5 r2 99")
    assert target(settings, network, "r3").optional_args()["jump"] == (
        *("ssh", *file, *checked),
        *("-J", "me@a:2201", "-W", "r3:22", "b"),
    )


def test_credentials_by_name_come_from_where_they_are_kept(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("of-a-file\nand more\n")
    kept.chmod(0o600)
    monkeypatch.setenv("THE_SECRET", "of-a-variable")
    credentials_file(settings, f"core: {{username: c, password: {{file: {kept}}}, secret: {{env: THE_SECRET}}}}\n")
    network = load_network(inventory(tmp_path / "net", host(data="credentials: core")))
    login = target(settings, network).login
    assert (login.password, login.secret) == ("of-a-file", "of-a-variable")
    assert "of-a" not in repr(login)
    monkeypatch.setenv("QOSFORGE_CREDENTIALS_CORE_USERNAME", "e")
    monkeypatch.setenv("QOSFORGE_CREDENTIALS_CORE_PASSWORD", "of-the-environment")
    assert target(settings, network).login.password == "of-the-environment"


def test_no_device_gets_what_was_not_meant_for_it(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QOSFORGE_USERNAME", "all")
    monkeypatch.setenv("QOSFORGE_PASSWORD", "all")
    credentials_file(settings, "default: {username: d, password: d}\n")
    network = load_network(inventory(tmp_path / "net", host(data="credentials: vault")))
    found = problem(network, settings)
    assert "there are no credentials 'vault'" in found.message
    assert "QOSFORGE_CREDENTIALS_VAULT_USERNAME" in found.hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("core: {username: c, password: hunter2, secrets: hunter2}\n", "unknown key 'secrets'"),
        ("core: {username: c}\n", "nothing logs in"),
        ("core: {username: c, password: {env: A, file: hunter2}}\n", ""),
        ("core: hunter2\n", "core must be a mapping"),
        ("- hunter2\n", "must be a mapping of names"),
        ("core: {username: [hunter2], password: x}\n", ""),
    ],
)
def test_a_wrong_file_is_told_without_what_is_in_it(
    tmp_path: Path, settings: Settings, text: str, told: str
) -> None:
    credentials_file(settings, text)
    network = load_network(inventory(tmp_path / "net", host(data="credentials: core")))
    found = problem(network, settings)
    assert told in str(found)
    assert "hunter2" not in str(found)
    assert found.problems()[0].hint


def test_a_file_that_others_may_read_is_not_used(tmp_path: Path, settings: Settings) -> None:
    credentials_file(settings, "default: {username: d, password: d}\n")
    settings.credentials_file.chmod(0o640)
    network = load_network(inventory(tmp_path / "net", host()))
    found = problem(network, settings)
    assert "others than its owner may read it" in found.message
    assert "chmod 600" in found.hint


def test_nothing_that_logs_in_is_an_error_of_its_own(tmp_path: Path, settings: Settings) -> None:
    network = load_network(inventory(tmp_path / "net", host()))
    assert isinstance(problem(network, settings), InputError)
    assert "QOSFORGE_USERNAME" in problem(network, settings).hint
