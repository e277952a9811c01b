"""What goes wrong on the way to NetBox: told with its place and what to do, and never with the token."""

from __future__ import annotations

import datetime
import ipaddress
import logging
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from qosforge.errors import InputError, InputErrors, QosforgeError, SourceError
from qosforge.sources.netbox import client
from qosforge.sources.netbox.client import NetBox
from qosforge.sources.sync import compare_with_source
from tests.sources.conftest import DESCRIPTION, Networks
from tests.sources.netbox_server import TOKEN, NetBoxServer, recorded, serving

SECRET = "notInAnyOutput"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1 that nobody trusts yet, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "netbox of a test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def refused(folder: Path, caplog: pytest.LogCaptureFixture) -> QosforgeError:
    """The error of a comparison; the token is in none of its faces, nor in the log."""
    caplog.set_level(logging.DEBUG)
    with pytest.raises(QosforgeError) as caught:
        compare_with_source(folder)
    error = caught.value
    faces = [str(error), repr(error), str(error.problems()), repr(error.__cause__), caplog.text]
    assert not any(SECRET in face for face in faces)
    assert not list(folder.glob("hosts.yaml"))
    return error


def test_a_token_that_netbox_does_not_take(
    network: Networks, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", f"{TOKEN}x")
    error = refused(network(), caplog)
    assert isinstance(error, SourceError)
    assert "it does not let this token read devices (403)" in str(error)
    assert "permission to view devices" in str(error)


def test_a_token_that_may_not_read_circuits(
    network: Networks, netbox: NetBoxServer, caplog: pytest.LogCaptureFixture
) -> None:
    told = (403, {"Content-Type": "application/json"}, f'{{"detail": "no, {TOKEN}"}}'.encode())
    netbox.answer = lambda path: told if path.startswith("/api/circuits/circuits/") else None
    assert "read circuits (403)" in str(refused(network(), caplog))


def test_a_token_that_is_not_where_it_is_kept(
    network: Networks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("NETBOX_TOKEN")
    assert "the variable NETBOX_TOKEN is not set" in str(refused(network("one"), caplog))
    secret = tmp_path / "token"
    secret.write_text(f"{TOKEN}\n")
    secret.chmod(0o644)
    folder = network("two", token=f"  token: {{file: {secret}}}")
    assert "others than its owner may read it" in str(refused(folder, caplog))
    secret.chmod(0o600)
    assert compare_with_source(folder).changes


def test_a_filter_of_something_that_does_not_exist(network: Networks, caplog: pytest.LogCaptureFixture) -> None:
    folder = network(filter="  filter: {site: [north, nowhere], status: active}")
    error = refused(folder, caplog)
    assert isinstance(error, InputErrors)
    (problem,) = error.problems()
    assert (problem.where.line, problem.where.path) == (5, "options.filter.site")
    assert "nowhere is not one of the available choices" in str(problem)


def test_a_certificate_that_is_not_trusted(
    certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    folder = tmp_path / "library"
    folder.mkdir()
    with serving(recorded(), certificate) as server:
        text = DESCRIPTION.format(url=server.url)
        (folder / "source.yaml").write_text(text)
        error = refused(folder, caplog)
        assert "its certificate is not trusted" in str(error)
        assert "let 'ca' name the file" in str(error)
        assert server.requests == []
        (folder / "source.yaml").write_text(text.replace("options:\n", f"options:\n  ca: {certificate}\n"))
        assert compare_with_source(folder).changes
        (folder / "source.yaml").write_text(text.replace("options:\n", "options:\n  ca: nothing.pem\n"))
        assert "there is no file" in str(refused(folder, caplog))


def test_nothing_is_there(network: Networks, caplog: pytest.LogCaptureFixture) -> None:
    error = refused(network(url="  url: http://127.0.0.1:9/"), caplog)
    assert error.exit_code == 3
    assert "http://127.0.0.1:9: it cannot be reached" in str(error)


@pytest.mark.parametrize(
    ("status", "headers", "body", "told"),
    [
        (200, {"Content-Type": "text/html"}, b"<h1>A printer</h1>", "what answers is no NetBox"),
        (200, {"API-Version": "3.2"}, b"{}", "it is NetBox '3.2'"),
        (200, {"API-Version": "4.7"}, b"<h1>A proxy</h1>", "what answers is no NetBox"),
        (200, {"API-Version": "4.7"}, b"[]", ""),
        (200, {"API-Version": "4.7"}, b'{"results": 5, "count": 1, "next": null}', "not as NetBox documents it"),
        (200, {"API-Version": "4.7"}, b'{"results": [{"id": 1}], "count": 1, "next": null}', "not as NetBox doc"),
        (200, {"API-Version": "4.7"}, b'{"results": [7], "count": 1, "next": null}', "not as NetBox documents it"),
        (404, {"API-Version": "4.7"}, b"", "cannot be"),
        (500, {"API-Version": "4.7"}, b"{}", "it could not answer about"),
        (302, {"Location": "https://127.0.0.2/api/"}, b"", "leads to another address"),
    ],
)
def test_what_answers_is_no_netbox_or_is_broken(  # noqa: PLR0917  rows of a table
    network: Networks,
    netbox: NetBoxServer,
    caplog: pytest.LogCaptureFixture,
    status: int,
    headers: dict[str, str],
    body: bytes,
    told: str,
) -> None:
    netbox.answer = lambda _path: (status, headers, body)
    folder = network()
    if not told:
        assert compare_with_source(folder).changes == ()
        return
    error = refused(folder, caplog)
    assert error.exit_code == 3
    if status != 404:
        assert told in str(error)


def test_a_next_page_elsewhere_gets_no_token(
    network: Networks, netbox: NetBoxServer, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(recorded()) as other:
        page = f'{{"count": 9, "next": "{other.url}/api/dcim/devices/?offset=1", "results": []}}'.encode()
        netbox.answer = lambda path: (200, {"API-Version": "4.7"}, page) if "offset" in path else None
        netbox.max_page = 1
        assert "leads to another address" in str(refused(network(), caplog))
        assert other.requests == []


def test_a_netbox_that_says_nothing_is_left_after_a_while(
    network: Networks,
    netbox: NetBoxServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)

    def silent(path: str) -> None:
        if path.startswith("/api/dcim/interfaces"):
            time.sleep(1)

    netbox.answer = silent
    assert "no answer about interfaces in time" in str(refused(network(), caplog))
    monkeypatch.setattr(client, "ANSWER_SECONDS", 60.0)
    monkeypatch.setattr(client, "WHOLE_SECONDS", -1.0)
    assert "it took more than" in str(refused(network("slow"), caplog))


def test_a_client_does_not_show_its_token() -> None:
    assert SECRET not in repr(NetBox("http://127.0.0.1:9", TOKEN))
    with pytest.raises(SourceError) as caught:
        NetBox("http://127.0.0.1:9", TOKEN).require_version()
    assert isinstance(caught.value, SourceError)
    assert not isinstance(caught.value, InputError)
