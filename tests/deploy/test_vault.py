"""Values of a Vault: what is read, how often, what logs in, and what every failure says without a secret in it."""

from __future__ import annotations

import logging
import re
import socket
import ssl
import time
import traceback
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from qosforge.deploy import lookup, vault
from qosforge.deploy.secret_source import FromVault
from qosforge.deploy.vault import VaultReader
from qosforge.deploy.vault_access import vault_access
from qosforge.errors import InputError, Place
from tests.certificates import make_certificates
from tests.stopwatch import Stopwatch
from tests.vault_servers import LEGACY_MOUNT, InterfaceVault, VaultServer, interface_vault, openbao
from tests.webhooks.receiver import Reply, receiving, saying, status

pytestmark = pytest.mark.hostile

WHERE = Place(file="credentials.yaml", path="core.password")
SECRET = "PLANTED-value"
TACACS = FromVault(vault="campus/tacacs", field="password")
READABLE = "secret/data/campus/tacacs"


@pytest.fixture(params=["interface", pytest.param("openbao", marks=pytest.mark.openbao)])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VaultServer]:
    """Vault's interface, and a real server."""
    with interface_vault() if request.param == "interface" else openbao(tmp_path) as made:
        made.write(
            "campus/tacacs", {"username": "netops", "password": SECRET, "number": 7, "two": "a\nb", "end": "a\n"}
        )
        made.write("switches", {"password": "of version 1"}, kv=1)
        yield made


@pytest.fixture
def interface() -> Iterator[InterfaceVault]:
    """Vault's interface, where what is asked can be counted."""
    with interface_vault() as made:
        made.write("campus/tacacs", {"password": SECRET, "secret": "enable"})
        yield made


@pytest.fixture(autouse=True)
def _no_log_has_a_secret(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does: no log has a planted secret, those of libraries at their most talkative included."""
    caplog.set_level(logging.DEBUG)
    for name in ("urllib3", "requests", "hvac"):
        caplog.set_level(logging.DEBUG, name)
    yield
    assert "PLANTED" not in caplog.text
    assert "hvs." not in caplog.text


def environment(server: VaultServer, *readable: str, **more: str) -> dict[str, str]:
    return {"VAULT_ADDR": server.address, "VAULT_TOKEN": server.new_token(*(readable or (READABLE,))), **more}


def refusal(variables: Mapping[str, str], source: FromVault = TACACS) -> InputError:
    """How reading fails; no secret is in the error, nor in what it came from."""
    with pytest.raises(InputError) as caught:
        VaultReader(variables).read(source, WHERE)
    secrets = [value for name, value in variables.items() if re.search("TOKEN|SECRET_ID$|ROLE_ID$", name)]
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    for secret in (*filter(None, secrets), "PLANTED"):
        assert secret not in told
    assert caught.value.hint
    return caught.value


def test_a_field_is_read_from_engines_of_both_versions(server: VaultServer) -> None:
    reader = VaultReader(environment(server, READABLE, f"{LEGACY_MOUNT}/switches"))
    assert reader.read(TACACS, WHERE) == SECRET
    assert reader.read(FromVault(vault="campus/tacacs", field="username"), WHERE) == "netops"
    assert reader.read(FromVault(vault="campus/tacacs", field="end"), WHERE) == "a"
    of_version_1 = FromVault(vault="switches", field="password", mount=LEGACY_MOUNT, kv=1)
    assert reader.read(of_version_1, WHERE) == "of version 1"
    assert SECRET not in repr(reader)


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        (FromVault(vault="campus/tacacs", field="none"), "has no field 'none'", "vault kv get -mount=secret"),
        (FromVault(vault="campus/tacacs", field="number"), "is not text", "store it as text"),
        (FromVault(vault="campus/tacacs", field="two"), "has several lines", "one line"),
        (FromVault(vault="campus/none", field="password"), "has no secret secret/campus/none", "without data/"),
        (FromVault(vault="switches", field="password", mount=LEGACY_MOUNT), "has no secret old/switches", "kv: 1"),
        (FromVault(vault="gone", field="password"), "or its newest version is deleted", "kv: 1"),
        (FromVault(vault="others", field="password"), "does not let this token read", "read on secret/data/others"),
    ],
)
def test_what_is_not_there_is_told(server: VaultServer, source: FromVault, message: str, hint: str) -> None:
    server.write("gone", {"password": SECRET})
    server.delete("gone")
    server.write("others", {"password": SECRET})
    readable = (READABLE, "secret/data/campus/none", f"{LEGACY_MOUNT}/data/switches", "secret/data/gone")
    told = refusal(environment(server, *readable), source)
    assert message in told.message
    assert hint in told.hint
    assert told.where == WHERE


def test_a_token_that_ended_is_not_one_that_may_too_little(server: VaultServer) -> None:
    variables = environment(server)
    server.revoke_tokens()
    told = refusal(variables)
    assert "does not take the token: it is expired, revoked" in told.message
    assert "vault login" in told.hint


def test_a_sealed_vault_is_told(server: VaultServer) -> None:
    variables = environment(server)
    server.seal()
    told = refusal(variables)
    assert "is sealed" in told.message
    assert "vault status" in told.hint


def test_an_approle_logs_in_once_and_again_when_its_token_ended(server: VaultServer, tmp_path: Path) -> None:
    server.write("other", {"password": "of another"})
    role, secret = server.new_role(READABLE, "secret/data/other")
    (tmp_path / "secret-id").write_text(f"{secret}\n")
    (tmp_path / "secret-id").chmod(0o600)
    variables = {
        "VAULT_ADDR": server.address,
        "VAULT_ROLE_ID": role,
        "VAULT_SECRET_ID_FILE": str(tmp_path / "secret-id"),
        "HOME": "/nowhere",
    }
    reader = VaultReader(variables)
    assert reader.read(TACACS, WHERE) == SECRET
    server.revoke_tokens()
    assert reader.read(FromVault(vault="other", field="password"), WHERE) == "of another"
    if isinstance(server, InterfaceVault):
        assert [path for _, path in server.asked].count("auth/approle/login") == 2


def test_an_approle_that_is_refused_is_told(server: VaultServer) -> None:
    role, secret = server.new_role(READABLE)
    variables = {"VAULT_ADDR": server.address, "VAULT_ROLE_ID": role, "VAULT_SECRET_ID": f"{secret}-PLANTED"}
    told = refusal(variables)
    assert "refuses the login by AppRole" in told.message
    assert "VAULT_APPROLE_MOUNT" in told.hint
    elsewhere = refusal({**variables, "VAULT_SECRET_ID": secret, "VAULT_APPROLE_MOUNT": "elsewhere"})
    assert "refuses the login by AppRole" in elsewhere.message


def test_fifty_devices_ask_once_for_each_path(interface: InterfaceVault) -> None:
    interface.write("campus/keys", {"passphrase": "of a key"})
    reader = VaultReader(environment(interface, READABLE, "secret/data/campus/keys"))
    sources = [
        FromVault(vault="campus/tacacs", field="password"),
        FromVault(vault="campus/tacacs", field="secret"),
        FromVault(vault="campus/keys", field="passphrase"),
    ]
    with ThreadPoolExecutor(50) as devices:
        read = list(devices.map(lambda number: reader.read(sources[number % 3], WHERE), range(150)))
    assert set(read) == {SECRET, "enable", "of a key"}
    assert sorted(interface.asked) == [("GET", "secret/data/campus/keys"), ("GET", READABLE)]


def test_a_vault_that_is_away_is_waited_for_once_and_found_when_it_is_back(
    interface: InterfaceVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = VaultReader(environment(interface, READABLE, "secret/data/none"))
    interface.is_sealed = True
    for path in ("campus/tacacs", "none", "campus/tacacs"):
        with pytest.raises(InputError, match="is sealed"):
            reader.read(FromVault(vault=path, field="password"), WHERE)
    assert len(interface.asked) == 1
    interface.is_sealed = False
    later = time.monotonic() + lookup.FAILURE_SECONDS
    monkeypatch.setattr(lookup.time, "monotonic", lambda: later)
    assert reader.read(TACACS, WHERE) == SECRET


def test_a_namespace_goes_with_every_request(interface: InterfaceVault) -> None:
    interface.namespace = "team"
    assert VaultReader(environment(interface, VAULT_NAMESPACE="team")).read(TACACS, WHERE) == SECRET
    told = refusal(environment(interface, VAULT_NAMESPACE="others"))
    assert "(namespace others) has no secret" in told.message


def test_neither_netrc_nor_a_proxy_gets_a_token(
    interface: InterfaceVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url("/"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert VaultReader(environment(interface)).read(TACACS, WHERE) == SECRET
    assert proxy.connections == 0


def drip(connection: socket.socket) -> None:
    """A header that never ends, a byte at a time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in range(600):
        connection.sendall(b"a")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (saying(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nPLANT"), "is no Vault"),
        (saying(b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n["PLANTED-x"]'), "is no Vault"),
        (saying(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data": 1}'), "is no Vault"),
        (saying(b"PLANTED PLANTED\r\n\r\n"), "is not reached"),
        (status(307, "Location: http://other.example.net/v1/PLANTED"), "sends elsewhere, to other.example.net"),
        (status(429), "has too many requests"),
        (status(500), "failed: InternalServerError"),
        (status(501), "is not initialised"),
        (status(418), "failed: UnexpectedError"),
        (lambda connection: time.sleep(1), "does not answer in time"),
        (drip, "does not answer in time"),
    ],
    ids=["page", "list", "no secret", "no HTTP", "redirect", "429", "500", "501", "418", "silence", "drip"],
)
def test_what_answers_otherwise_is_told(reply: Reply, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "_TIMEOUTS", (0.5, 0.3))
    monkeypatch.setattr(vault, "SECONDS", 0.6)
    watch = Stopwatch()
    with receiving(reply) as receiver:
        told = refusal({"VAULT_ADDR": receiver.url(""), "VAULT_TOKEN": "hvs.PLANTED"})
    assert message in told.message
    assert told.where == WHERE
    assert watch.seconds < 10
    assert len(receiver.requests) == 1  # nothing is tried again


def test_a_vault_that_nobody_hears_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = refusal({"VAULT_ADDR": f"http://127.0.0.1:{port}", "VAULT_TOKEN": "hvs.PLANTED"})
    assert told.message == f"the Vault at http://127.0.0.1:{port} is not reached: Connection refused"


def test_its_certificate_is_checked(tmp_path: Path) -> None:
    authority, chain = make_certificates(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    with interface_vault(tls) as made:
        made.write("campus/tacacs", {"password": SECRET})
        trusting = environment(made, VAULT_CACERT=str(authority))
        assert VaultReader(trusting).read(TACACS, WHERE) == SECRET
        unknown = refusal({**environment(made), "VAULT_SKIP_VERIFY": "true"})
        assert "is not good: " in unknown.message
        assert "VAULT_CACERT" in unknown.hint
        renamed = {**trusting, "VAULT_ADDR": made.address.replace("localhost", "127.0.0.1")}
        assert "is not good: " in refusal(renamed).message
        assert len(made.asked) == 1


TOKEN = {"VAULT_ADDR": "https://vault.example.net", "VAULT_TOKEN": "hvs.x"}


@pytest.mark.parametrize(
    ("variables", "place", "message", "hint"),
    [
        ({}, "VAULT_ADDR", "is not set", "https://"),
        ({"VAULT_ADDR": "vault.example.net:8200"}, "VAULT_ADDR", "is not an address", "https://"),
        ({"VAULT_ADDR": "https://[::1"}, "VAULT_ADDR", "is not an address", "https://"),
        ({"VAULT_ADDR": "https://h:99999"}, "VAULT_ADDR", "is not an address", "https://"),
        ({"VAULT_ADDR": "unix:///run/vault"}, "VAULT_ADDR", "is not an address", "https://"),
        ({"VAULT_ADDR": "https://u:PLANTED@h"}, "VAULT_ADDR", "has more than an address", "VAULT_TOKEN"),
        ({"VAULT_ADDR": "https://h?token=PLANTED"}, "VAULT_ADDR", "has more than an address", "VAULT_TOKEN"),
        ({"VAULT_ADDR": "http://vault.example.net"}, "VAULT_ADDR", "in clear", "use https"),
        ({"VAULT_ADDR": "http://10.0.0.1"}, "VAULT_ADDR", "in clear", "use https"),
        ({"VAULT_CACERT": "/nowhere/ca.pem"}, "VAULT_CACERT", "there is no /nowhere/ca.pem", "PEM"),
        ({"VAULT_TOKEN": "hvs.PLANTED\nx"}, "VAULT_TOKEN", "characters that cannot be sent", "correct it"),
        ({"VAULT_TOKEN": "hvs.PLANTÉD"}, "VAULT_TOKEN", "characters that cannot be sent", "correct it"),
        ({"VAULT_NAMESPACE": "a b"}, "VAULT_NAMESPACE", "characters that cannot be sent", "correct it"),
        ({"VAULT_TOKEN": ""}, "VAULT_TOKEN", "nothing logs in", "VAULT_ROLE_ID"),
        ({"VAULT_TOKEN": "", "VAULT_ROLE_ID": "PLANTED"}, "VAULT_SECRET_ID", "is not set", "VAULT_SECRET_ID_FILE"),
        ({"VAULT_TOKEN": "", "VAULT_SECRET_ID": "PLANTED"}, "VAULT_ROLE_ID", "is not set", "VAULT_ROLE_ID_FILE"),
    ],
)
def test_a_wrong_variable_is_named(variables: dict[str, str], place: str, message: str, hint: str) -> None:
    base = TOKEN | {"HOME": "/nowhere"} if variables else {"HOME": "/nowhere"}
    told = refusal(base | variables)
    assert told.where == Place(path=place)
    assert message in told.message
    assert hint in told.hint


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8200", "http://[::1]:8200/", "http://localhost", "https://h/p/"]
)
def test_addresses_that_are_taken(address: str) -> None:
    assert vault_access(TOKEN | {"VAULT_ADDR": address}).address == address.rstrip("/")


def test_the_first_of_three_logs_in(tmp_path: Path) -> None:
    file = tmp_path / ".vault-token"
    file.write_text("hvs.of-the-file\n")
    file.chmod(0o600)
    variables = {"VAULT_ADDR": "https://h", "HOME": str(tmp_path)}
    assert vault_access(variables).token == "hvs.of-the-file"
    with_role = variables | {"VAULT_ROLE_ID": "role-PLANTED", "VAULT_SECRET_ID": "secret-PLANTED"}
    by_role = vault_access(with_role)
    assert (by_role.token, by_role.role and by_role.role.mount) == ("", "approle")
    by_token = vault_access(with_role | {"VAULT_TOKEN": "hvs.PLANTED"})
    assert (by_token.token, by_token.role) == ("hvs.PLANTED", None)
    assert "PLANTED" not in repr(by_role) + repr(by_token)


@pytest.mark.parametrize("name", ["token", "VAULT_ROLE_ID", "VAULT_SECRET_ID"])
def test_a_file_that_others_may_read_is_not_used(tmp_path: Path, name: str) -> None:
    file = tmp_path / ".vault-token"
    file.write_text("PLANTED")
    file.chmod(0o644)
    variables = {"VAULT_ADDR": "https://h", "HOME": str(tmp_path)}
    if name != "token":
        variables |= {
            "VAULT_ROLE_ID": "PLANTED-1",
            "VAULT_SECRET_ID": "PLANTED-2",
            name: "",
            f"{name}_FILE": str(file),
        }
    told = refusal(variables)
    assert (told.where.file, told.message) == (str(file), "others than its owner may read it")


def test_work_that_takes_too_long_is_left() -> None:
    def work() -> Any:
        time.sleep(5)

    watch = Stopwatch()
    with pytest.raises(TimeoutError):
        lookup.call_within(0.05, work)
    assert watch.seconds < 3
