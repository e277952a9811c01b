"""How the credentials file names the source of a value, and what a wrong form says."""

from __future__ import annotations

from pathlib import Path

import keyring
import pytest
from keyring.backends import null

from qosforge.deploy.credentials import CredentialStore
from qosforge.deploy.credentials_file import read_credentials_file
from qosforge.deploy.secret_source import FromFile, FromKeyring, FromVariable, FromVault
from qosforge.errors import InputError, InputErrors, Place
from tests.vault_servers import interface_vault

ONE = "a value has one source"
FORMS = "give {env: VARIABLE}, {file: PATH}, {vault: PATH, field: FIELD} or {keyring: SERVICE, user: NAME}"
NO_PATH = "is no path in a Vault"


def write(folder: Path, text: str) -> Path:
    file = folder / "credentials.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_every_form_is_read(tmp_path: Path) -> None:
    text = """\
core:
  username: {vault: campus/tacacs, field: username}
  password: {vault: campus/tacacs, field: password, mount: team/kv, kv: 1}
  secret: {keyring: campus-enable, user: netops}
  passphrase: {env: PHRASE}
other: {username: u, password: plain, secret: {file: /etc/enable}}
"""
    entries = read_credentials_file(write(tmp_path, text))
    core = entries["core"]
    assert core.username == FromVault(vault="campus/tacacs", field="username", mount="secret", kv=2)
    assert core.password == FromVault(vault="campus/tacacs", field="password", mount="team/kv", kv=1)
    assert core.secret == FromKeyring(keyring="campus-enable", user="netops")
    assert core.passphrase == FromVariable(env="PHRASE")
    assert entries["other"].secret == FromFile(file=Path("/etc/enable"))
    assert "plain" not in repr(entries)


@pytest.mark.parametrize(
    ("value", "column", "message", "hint"),
    [
        ("{env: A, vault: hunter2, field: p}", 13, ONE, FORMS),
        ("{hunter2: 3}", 13, ONE, FORMS),
        ("{}", 13, ONE, FORMS),
        ("{vault: hunter2}", 13, "missing key 'field'", "add it"),
        ("{vault: a, field: p, fild: hunter2}", 34, "unknown key 'fild'", "did you mean 'field'?"),
        ("{vault: a, field: p, user: hunter2}", 34, "unknown key 'user'", "known here: vault, field, mount, kv"),
        ("{vault: /hunter2, field: p}", 21, NO_PATH, "write it without / at its ends"),
        ("{vault: 'hunter2?x', field: p}", 21, NO_PATH, "such as campus/tacacs"),
        ("{vault: hunter2/../x, field: p}", 21, NO_PATH, "such as campus/tacacs"),
        ('{vault: "hunter2\\n", field: p}', 21, NO_PATH, "such as campus/tacacs"),
        ("{vault: a, field: p, mount: ''}", 41, NO_PATH, "such as campus/tacacs"),
        ("{vault: a, field: p, kv: 3}", 38, "is not possible here", "input should be 1 or 2"),
        ("{vault: [hunter2], field: p}", 21, "is not text", "write text"),
        ("{keyring: hunter2}", 13, "missing key 'user'", "add it"),
        ("{keyring: a, user: b, mount: hunter2}", 35, "unknown key 'mount'", "known here: keyring, user"),
        ("[hunter2]", 13, "is not text", "write text"),
    ],
)
def test_a_wrong_form_is_told_where_it_stands(
    tmp_path: Path, value: str, column: int, message: str, hint: str
) -> None:
    file = write(tmp_path, f"core:\n  username: u\n  password: {value}\n")
    with pytest.raises(InputErrors) as caught:
        read_credentials_file(file)
    problem = caught.value.problems()[-1]
    assert (problem.where.file, problem.where.line, problem.where.column) == (str(file), 3, column)
    assert (problem.where.path or "").startswith("core.password")
    assert message in problem.message
    assert hint in problem.hint
    assert "hunter2" not in str(caught.value)


def test_a_user_name_may_have_a_source_too(tmp_path: Path) -> None:
    with interface_vault() as vault:
        vault.write("core", {"username": "netops", "password": "word", "secret": "more"})
        environment = {"VAULT_ADDR": vault.address, "VAULT_TOKEN": vault.new_token("secret/data/core")}
        keys = ("username", "password", "secret")
        text = "core:\n" + "".join(f"  {key}: {{vault: core, field: {key}}}\n" for key in keys)
        found = CredentialStore(write(tmp_path, text), environment).of("r1", "core")
        assert (found.username, found.password, found.secret) == ("netops", "word", "more")
        assert found.secrets == {"word", "more"}
        assert "word" not in repr(found)
        assert len(vault.asked) == 1


def test_one_entry_that_fails_keeps_no_other_from_its_device(tmp_path: Path) -> None:
    """Nor does a device get what is meant for another."""
    text = "core: {username: c, password: {keyring: none, user: c}}\nedge: {username: e, password: of-edge}\n"
    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    try:
        file = write(tmp_path, text)
        store = CredentialStore(file, {})
        with pytest.raises(InputError, match="switched off") as caught:
            store.of("r1", "core")
        assert caught.value.where == Place(file=str(file), path="core.password")
        assert store.of("r2", "edge").password == "of-edge"
    finally:
        keyring.set_keyring(before)
