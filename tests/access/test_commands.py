"""`qosforge user`, `token` and `tester`, as on the host of the database."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from joserfc.jwk import OKPKey, RSAKey

from qosforge.access.audit_log import calls_page
from qosforge.access.authentication import Access
from qosforge.access.clients import Client
from qosforge.access.roles import NotAuthenticated, Role
from qosforge.database.connections import Database
from qosforge.settings import Settings
from tests.cli.conftest import Command, qosforge

__all__ = ["qosforge"]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Access]:
    """What the service would see of the same installation."""
    settings = Settings(var_dir=tmp_path / "var")
    database = Database(settings.database_url)
    yield Access(database, settings)
    database.close()


def test_the_first_admin_is_made_by_a_command_and_has_no_password(qosforge: Command, opened: Access) -> None:
    assert qosforge("user", "add", "root", "--role", "admin").code == 0
    (user,) = json.loads(qosforge("user", "list", "--json").stdout)
    assert (user["name"], user["roles"], user["has_password"]) == ("root", {"*": "admin"}, False)
    made = qosforge("token", "create", "root", "--role", "admin", "--days", "7")
    assert opened.authenticate(made.stdout.strip()).roles == {"*": Role.ADMIN}


def test_grants_come_and_go(qosforge: Command) -> None:
    qosforge("user", "add", "ann")
    qosforge("user", "grant", "ann", "operator", "-n", "campus", "-n", "lab")
    qosforge("user", "revoke", "ann", "-n", "lab")
    (user,) = json.loads(qosforge("user", "list", "--json").stdout)
    assert user["roles"] == {"campus": "operator"}
    assert "operator of campus" in qosforge("user", "list").stdout


def test_a_token_is_shown_once_and_revoked(qosforge: Command, opened: Access) -> None:
    qosforge("user", "add", "ann", "--role", "operator")
    made = json.loads(qosforge("token", "create", "ann", "--name", "ci", "-n", "campus", "--json").stdout)
    assert opened.authenticate(made["token"]).roles == {"campus": Role.OPERATOR}
    call = calls_page(opened.database, None)[-1]
    assert (call.network, call.detail) == ("campus", {"role": "operator", "token": made["id"]})
    listed = qosforge("token", "list", "ann")
    assert made["id"] in listed.stdout
    assert "never" not in listed.stdout
    qosforge("token", "create", "ann")
    assert "never" in qosforge("token", "list", "ann").stdout
    assert made["token"] not in listed.stdout + qosforge("token", "list", "--json").stdout
    assert qosforge("token", "revoke", made["id"]).code == 0
    assert "revoked" in qosforge("token", "list").stdout
    with pytest.raises(NotAuthenticated):
        opened.authenticate(made["token"])


def test_a_token_is_shown_also_where_the_networks_cannot_be_looked_up(
    qosforge: Command, opened: Access, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    networks = tmp_path / "networks"
    networks.mkdir()
    monkeypatch.setenv("QOSFORGE_INVENTORIES_DIR", str(networks))
    listed = Path.iterdir

    def refused(folder: Path) -> Iterator[Path]:  # whatever its mode, root may list a folder
        if folder == networks:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refused)
    assert qosforge("user", "add", "ann", "--role", "viewer", "-n", "campus").code == 0
    assert qosforge("user", "grant", "ann", "operator", "-n", "campus").code == 0
    made = qosforge("token", "create", "ann", "-n", "campus", "--json")
    assert made.code == 0, made.stderr
    assert opened.authenticate(json.loads(made.stdout)["token"]).roles == {"campus": Role.OPERATOR}


def test_every_network_is_not_told_as_one_that_is_missing(qosforge: Command) -> None:
    qosforge("user", "add", "ann")
    granted = qosforge("user", "grant", "ann", "viewer", "--network", "*", "--network", "nowhere")
    assert granted.code == 0
    assert "there is no network 'nowhere' yet" in granted.stderr
    assert "'*'" not in granted.stderr


def test_a_password_is_read_from_standard_input(
    qosforge: Command, opened: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    qosforge("user", "add", "ann", "--role", "viewer")
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long enough password\n"))
    assert qosforge("user", "password", "ann").code == 0
    assert opened.session(opened.log_in("ann", "a long enough password", Client("192.0.2.1"))[0]).name == "ann"
    monkeypatch.setattr(sys, "stdin", io.StringIO("too short\n"))
    short = qosforge("user", "password", "ann")
    assert (short.code, "15 to 256 characters" in short.stderr) == (2, True)
    assert qosforge("user", "password", "ann", "--remove").code == 0
    with pytest.raises(NotAuthenticated):
        opened.log_in("ann", "a long enough password", Client("192.0.2.1"))


def test_testers_are_registered_by_public_key(qosforge: Command, tmp_path: Path) -> None:
    key = OKPKey.generate_key("Ed25519")
    public, private, other = tmp_path / "public.pem", tmp_path / "private.pem", tmp_path / "rsa.pem"
    public.write_bytes(key.as_pem(private=False))
    private.write_bytes(key.as_pem(private=True))
    other.write_bytes(RSAKey.generate_key(2048).as_pem(private=False))
    for wrong in (private, other, tmp_path / "missing.pem"):
        assert qosforge("tester", "add", "probe", wrong).code == 2
    assert qosforge("tester", "add", "probe", public, "-n", "campus").code == 0
    assert qosforge("tester", "add", "probe", public).code == 2
    (tester,) = json.loads(qosforge("tester", "list", "--json").stdout)
    assert (tester["name"], tester["networks"], tester["revoked"]) == ("probe", ["campus"], None)
    assert qosforge("tester", "revoke", "probe").code == 0
    assert "revoked" in qosforge("tester", "list").stdout


def test_changing_commands_are_logged_also_refused_ones(qosforge: Command, opened: Access) -> None:
    qosforge("user", "add", "root", "--role", "admin")
    qosforge("user", "list")
    assert qosforge("user", "disable", "root").code == 2
    calls = calls_page(opened.database, None)
    assert [(call.action, call.resource, call.status, call.credential) for call in calls] == [
        ("qosforge user add", "users/root", 200, "local"),
        ("qosforge user disable", "users/root", 422, "local"),
    ]
    assert calls[0].detail == {"role": "admin", "subject": None}
    assert (calls[0].reason, "last admin" in calls[1].reason) == ("", True)
    assert all(call.actor for call in calls)


@pytest.mark.parametrize(
    "words",
    [
        ("user", "add", "Ann Smith"),
        ("user", "add", "ann", "--subject", "1"),
        ("user", "add", "ann", "--issuer", "https://id.example.net"),
        ("user", "add", "ann", "--role", "king"),
        ("user", "grant", "nobody", "viewer"),
        ("user", "password", "nobody"),
        ("token", "create", "nobody"),
        ("token", "list", "nobody"),
        ("token", "revoke", "0123456789abcdef"),
        ("tester", "revoke", "nobody"),
    ],
)
def test_wrong_words_are_reported_with_a_hint(qosforge: Command, words: tuple[str, ...]) -> None:
    ended = qosforge(*words)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: ")
