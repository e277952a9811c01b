"""A device of no lab whose credentials are in a Vault: pushed to, and nobody else learns them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests import doors
from tests.doors import PASSWORD, SECRET, USERNAME
from tests.vault_servers import InterfaceVault, interface_vault

from .command import Command
from .test_own_network import HOSTS, LINKS, POLICY, STARTUP, TRAFFIC

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(300)]

CREDENTIALS = """\
site:
  username: {vault: campus/site, field: username}
  password: {vault: campus/site, field: password}
  secret: {vault: campus/site, field: enable}
"""


@pytest.fixture
def vault() -> Iterator[InterfaceVault]:
    """A Vault that holds what logs in."""
    with interface_vault() as made:
        made.write("campus/site", {"username": USERNAME, "password": PASSWORD, "enable": SECRET})
        yield made


def command_lines() -> set[bytes]:
    """The process list as everybody on the machine may see it."""
    lines = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended
            lines.add((process / "cmdline").read_bytes())
    return lines


def test_a_push_with_credentials_of_a_vault_leaves_them_nowhere(tmp_path: Path, vault: InterfaceVault) -> None:
    role_id, secret_id = vault.new_role("secret/data/campus/site")
    (tmp_path / "secret-id").write_text(secret_id)
    (tmp_path / "secret-id").chmod(0o600)
    (tmp_path / "credentials.yaml").write_text(CREDENTIALS)
    (tmp_path / "credentials.yaml").chmod(0o600)
    folder = tmp_path / "inventories" / "own"
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        router = stack.enter_context(doors.device(tmp_path / "router", "cisco_ios", "12.2", STARTUP))
        router.box.save()
        port, public = router.ssh()
        (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
        hosts = HOSTS.format(port=port) + "    credentials: site\n"
        files = {"hosts": hosts, "groups": "{}\n", "defaults": "{}\n", "links": LINKS, "traffic": TRAFFIC}
        for name, text in (files | {"changes": "writable: true\n"}).items():
            (folder / f"{name}.yaml").write_text(text)
        (tmp_path / "policy.yaml").write_text(POLICY)
        environment = {
            "QOSFORGE_VAR_DIR": str(tmp_path / "var"),
            "QOSFORGE_KNOWN_HOSTS_FILE": str(tmp_path / "known_hosts"),
            "QOSFORGE_SSH_CONFIG_FILE": str(tmp_path / "ssh_config"),
            "QOSFORGE_CREDENTIALS_FILE": str(tmp_path / "credentials.yaml"),
            "VAULT_ADDR": vault.address,
            "VAULT_ROLE_ID": role_id,
            "VAULT_SECRET_ID_FILE": str(tmp_path / "secret-id"),
        }
        before, seen = router.running(), command_lines()
        words = ["push", str(tmp_path / "policy.yaml"), "--network", str(folder), "--json"]
        command = Command(words, environment, tmp_path / "printed")
        while command.alive:
            seen |= command_lines()
            time.sleep(0.05)
        ended = command.wait()
        assert ended.code == 0, ended.text
        assert json.loads(ended.stdout)["status"] == "kept"
        assert "service-policy output" in router.running()
        assert router.running() != before
        assert (USERNAME, PASSWORD) in router.logins
    # Three values of one secret, for all that the push does.
    assert vault.asked == [("POST", "auth/approle/login"), ("GET", "secret/data/campus/site")]
    tokens = [token.encode() for token in vault.tokens]
    assert tokens
    planted = [PASSWORD.encode(), SECRET.encode(), secret_id.encode(), *tokens]
    looked_at = 0
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "secret-id" and "router" not in path.parts:
            looked_at += 1
            held = path.read_bytes()
            assert not [one for one in planted if one in held], path
    assert looked_at > 5
    assert Path("/proc/self/cmdline").read_bytes() in seen
    assert not [line for line in seen for one in planted if one in line]
