"""Connection settings of a device: Nornir's own fields, and three of ours in a host's data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from qosforge.errors import InputError
from qosforge.intent.yaml_source import Path_, YamlDocument
from qosforge.units import shortened

Transport = Literal["ssh", "ssh-legacy", "telnet"]
"""``ssh``; ``ssh-legacy`` with algorithms that are not safe any more, for devices that know no other; ``telnet``,
also to a port of a console server."""
OWN = ("transport", "credentials", "jump")
"""Keys of a host's data that are about reaching it."""

OPTIONS = frozenset(
    {
        "auth_timeout", "auto_rollback_on_error", "banner_timeout", "candidate_cfg",
        "conn_timeout", "default_enter", "dest_file_system", "fast_cli", "force_no_enable",
        "global_delay_factor", "inline_transfer", "keepalive", "merge_cfg", "rollback_cfg", "timeout",
    }
)  # fmt: skip
"""What ``connection_options`` may give a driver: arguments of Netmiko's ``ConnectHandler`` and NAPALM's ``ios``."""
_NUMBERS = frozenset(
    {"auth_timeout", "banner_timeout", "conn_timeout", "global_delay_factor", "keepalive", "timeout"}
)
Scalar = bool | int | float | str | None
_SECRETS = frozenset({"password", "secret", "passphrase", "key_file", "pkey", "use_keys", "allow_agent"})
_CONNECTIONS = ("netmiko", "napalm")
_HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9_.:%-]{0,252}")
_HOP = re.compile(r"(?:[A-Za-z0-9_.-]+@)?(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9][A-Za-z0-9_.-]*)(?::[0-9]{1,5})?")
_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


def _hostname(value: str) -> str:
    # One colon is no IPv6 address, which has two at least (RFC 4291, 2.2), but a host with its port.
    if _HOST.fullmatch(value) is None or value.count(":") == 1:
        raise ValueError(f"{shortened(value)} is not a host: write a name or an address, the port beside it")
    return value


def _jump(value: str) -> str:
    # They become words of a command: none may look like an option.
    for hop in value.split(","):
        if _HOP.fullmatch(hop) is None:
            raise ValueError(f"{shortened(hop)} is not a jump host: write it like netops@bastion.example.net:22")
    return value


def _named(value: str) -> str:
    if _NAMED.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} does not name credentials: letters, digits, '.', '-' and '_' only")
    return value


def _pairs(value: object) -> object:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


class Reach(BaseModel):
    """How a device is reached outside a lab.

    ``port`` and ``username`` are what the transport, and the credentials, have unless given. ``jump`` are the hosts
    on the way, with commas between them, as ``ssh -J`` takes them. ``options`` are arguments for the driver.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hostname: Annotated[str, AfterValidator(_hostname)] | None = None
    port: Annotated[int, Field(ge=1, le=65535, strict=True)] | None = None
    username: Annotated[str, Field(max_length=255)] | None = None
    transport: Transport = "ssh"
    credentials: Annotated[str, AfterValidator(_named)] | None = None
    jump: Annotated[str, AfterValidator(_jump)] | None = None
    options: Annotated[tuple[tuple[str, Scalar], ...], BeforeValidator(_pairs)] = ()


def written_reach(host: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """What a host of Nornir's says of its reach, for `Reach`; ``data`` is its data with that of its groups.

    Options of ``napalm`` weigh more than those of ``netmiko``, and both more than what stands beside them.
    """
    beside: dict[str, Any] = {key: getattr(host, key) for key in ("hostname", "port", "username")}
    found = dict(beside)
    options: dict[str, Any] = {}
    for connection in _CONNECTIONS:
        parameters = host.get_connection_parameters(connection)
        found |= {key: value for key in beside if (value := getattr(parameters, key)) != beside[key]}
        extras = dict(parameters.extras or {})
        options |= {**extras, **(extras.pop("optional_args", None) or {})}
        options.pop("optional_args", None)
    return {**found, **{key: data[key] for key in OWN if key in data}, "options": options}


def misplaced(body: Mapping[str, Any], document: YamlDocument, path: Path_) -> Iterator[InputError]:
    """What must not stand in an entry: secrets, and options that would loosen what is always checked."""
    if body.get("password") is not None:
        yield _secret("password", document, (*path, "password"))
    given = body.get("connection_options") or {}
    for name, options in given.items() if isinstance(given, dict) else ():
        at: Path_ = (*path, "connection_options", name)
        if name not in _CONNECTIONS:
            yield InputError(
                f"connection {shortened(name)} is not used here",
                document.key_place(at),
                "give options of napalm or netmiko",
            )
            continue
        if not isinstance(options, dict):
            yield InputError("must be a mapping", document.place(at), "write keys with values")
            continue
        if options.get("password") is not None:
            yield _secret("password", document, (*at, "password"))
        yield from _wrong_options(options.get("extras"), document, (*at, "extras"))


def _wrong_options(extras: Any, document: YamlDocument, path: Path_) -> Iterator[InputError]:
    if extras is None:
        return
    if not isinstance(extras, dict):
        yield InputError("must be a mapping", document.place(path), "write keys with values")
        return
    for key, value in extras.items():
        if key == "optional_args":
            yield from _wrong_options(value, document, (*path, key))
        elif key in _SECRETS:
            yield _secret(key, document, (*path, key))
        elif key not in OPTIONS:
            yield InputError(
                f"option {shortened(key)} is not taken from an inventory",
                document.key_place((*path, key)),
                f"known here: {', '.join(sorted(OPTIONS))}",
            )
        elif not _fits(key, value):
            what = "a number above 0" if key in _NUMBERS else "one value"
            yield InputError(f"{key} is not {shortened(value)}", document.place((*path, key)), f"write {what}")


def _fits(key: str, value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return number if key in _NUMBERS else isinstance(value, bool | int | float | str)


def _secret(key: str, document: YamlDocument, path: Path_) -> InputError:
    return InputError(
        f"{key} does not belong in an inventory",
        document.key_place(path),
        "name the credentials under data (credentials: NAME) and keep them where docs/reaching.md says",
    )
