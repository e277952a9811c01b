"""How a Vault is reached, by the variables and the file of its own command line: address, authorities, token."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from qosforge.deploy.private_file import read_first_line
from qosforge.errors import InputError, Place

_ROLE = ("VAULT_ROLE_ID", "VAULT_SECRET_ID")
_NOT_SET = "set VAULT_TOKEN, or VAULT_ROLE_ID and VAULT_SECRET_ID, or log in with vault login"


@dataclass(frozen=True)
class AppRole:
    """A role of Vault's AppRole method, and where the method is mounted."""

    role: str = field(repr=False)
    secret: str = field(repr=False)
    mount: str


@dataclass(frozen=True)
class VaultAccess:
    """Where a Vault is, whom it is believed to be, and what logs in to it: a token, or else a role."""

    address: str
    verify: str | bool
    """File or folder of the authorities that may have signed its certificate; ``True``: those of Mozilla."""
    namespace: str | None = None
    token: str = field(default="", repr=False)
    role: AppRole | None = None


def vault_access(environment: Mapping[str, str]) -> VaultAccess:
    """What the environment says of a Vault.

    ``VAULT_ADDR``, ``VAULT_CACERT`` or ``VAULT_CAPATH``, ``VAULT_NAMESPACE``; and to log in the first of
    ``VAULT_TOKEN``, of ``VAULT_ROLE_ID`` with ``VAULT_SECRET_ID`` (each with ``_FILE`` for a file that has it), and
    of ``~/.vault-token``.

    Raises:
        InputError: one is missing or cannot be used. No value of a secret is in the message.
    """
    address = _address(environment)
    verify = _authorities(environment)
    namespace = _header(environment.get("VAULT_NAMESPACE", ""), Place(path="VAULT_NAMESPACE")) or None
    if token := _header(environment.get("VAULT_TOKEN", "").strip(), Place(path="VAULT_TOKEN")):
        return VaultAccess(address, verify, namespace, token)
    role, secret = (_of_role(name, environment) for name in _ROLE)
    if role or secret:
        if not (role and secret):
            missing = _ROLE[0] if secret else _ROLE[1]
            raise InputError("is not set", Place(path=missing), f"set it, or {missing}_FILE")
        mount = environment.get("VAULT_APPROLE_MOUNT") or "approle"
        return VaultAccess(address, verify, namespace, role=AppRole(role, secret, mount))
    file = Path(environment.get("HOME") or Path.home()) / ".vault-token"
    token = _header(read_first_line(file).strip(), Place(file=str(file))) if file.is_file() else ""
    if not token:
        raise InputError("nothing logs in to the Vault", Place(path="VAULT_TOKEN"), _NOT_SET)
    return VaultAccess(address, verify, namespace, token)


def _address(environment: Mapping[str, str]) -> str:
    place = Place(path="VAULT_ADDR")
    text = environment.get("VAULT_ADDR", "")
    if not text:
        raise InputError("is not set", place, "set it where qosforge runs, such as https://vault.example.net:8200")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = SplitResult("", "", "", "", ""), None
    if parts.scheme not in ("https", "http") or not host or not text.isprintable() or " " in text:
        raise InputError("is not an address", place, "write it as https://vault.example.net:8200")
    if "@" in parts.netloc or parts.query or parts.fragment:
        hint = "write it as https://vault.example.net:8200; a token belongs into VAULT_TOKEN"
        raise InputError("has more than an address", place, hint)
    if parts.scheme == "http" and not _is_loopback(host):
        raise InputError("would send the token in clear", place, "use https; http is for this machine alone")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _authorities(environment: Mapping[str, str]) -> str | bool:
    """The authorities to trust: those named, else those of the system, as Vault's own command line does."""
    for name in ("VAULT_CACERT", "VAULT_CAPATH"):
        path = environment.get(name)
        if path:
            if not Path(path).exists():
                raise InputError(f"there is no {path}", Place(path=name), "name the file of the authorities' PEM")
            return path
    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath or True


def _of_role(name: str, environment: Mapping[str, str]) -> str:
    value = environment.get(name, "").strip()
    file = environment.get(f"{name}_FILE")
    return value or (read_first_line(Path(file).expanduser()).strip() if file else "")


def _header(value: str, where: Place) -> str:
    """A value as it can stand in a header. Libraries quote one that cannot in their errors."""
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise InputError("has characters that cannot be sent", where, "correct it")
    return value
