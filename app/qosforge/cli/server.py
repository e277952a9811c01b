"""Which service the commands speak to, where they do not work on this machine."""

from __future__ import annotations

import os
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from qosforge.errors import InputError, Place
from qosforge.variables import Variable

if TYPE_CHECKING:
    from qosforge.client.connection import Connection

REMOTE = frozenset(
    {
        "lint", "compile", "validate", "diff", "predict", "measure", "run", "push", "runs", "show", "wait",
        "approve", "reject", "cancel", "pause", "resume", "retry", "rollback", "take-over",
        "policy list", "policy show",
    }
)  # fmt: skip
"""Commands that a service can do."""

_GROUPS = frozenset(command.partition(" ")[0] for command in REMOTE if " " in command)
"""Groups of commands of which a service can do some."""

LARGEST_TOKEN = 8192

_address: ContextVar[str | None] = ContextVar("address", default=None)
_named: ContextVar[bool] = ContextVar("named", default=False)
_token_file: ContextVar[Path | None] = ContextVar("token_file", default=None)


def choose(url: str | None, token_file: Path | None, command: str | None) -> None:
    """Take the service that the options name, else that of ``QOSFORGE_SERVER``; none of it stands for this machine.

    Raises:
        InputError: the options name a service, and the command works on this machine only.
    """
    able = command in REMOTE or command in _GROUPS
    if command is not None and not able and (url is not None or token_file is not None):
        raise InputError(f"{command} works on this machine only", hint="leave --server out")
    address = url if url is not None else os.environ.get(Variable.SERVER)
    if token_file is not None and not address:
        raise InputError("--token-file belongs to a service", hint="name it: --server URL, or QOSFORGE_SERVER")
    _address.set(address or None if able else None)
    _token_file.set(token_file)
    _named.set(url is not None or token_file is not None)


def choose_within(group: str, command: str | None) -> None:
    """Stay on this machine for a command of a group that a service cannot do.

    Raises:
        InputError: the options name a service.
    """
    if command is not None and f"{group} {command}" not in REMOTE:
        if _named.get():
            raise InputError(f"{group} {command} works on this machine only", hint="leave --server out")
        _address.set(None)


def remote() -> bool:
    """Whether the command speaks to a service."""
    return _address.get() is not None


def connect() -> Connection:
    """The service, with the token of the caller.

    Raises:
        InputError: there is no token, it cannot be read, or the address is none.
    """
    # Only now: it takes a fifth of a second to import.
    from qosforge.client.connection import Connection  # noqa: PLC0415

    address = _address.get()
    assert address is not None
    return Connection(address, _token(), plain=os.environ.get(Variable.PLAIN_HTTP) == "1")


def _token() -> str:
    path = _token_file.get()
    if path is None:
        token = os.environ.get(Variable.TOKEN, "").strip()
        if not token:
            hint = "set QOSFORGE_TOKEN, or name a file: --token-file"
            raise InputError("a service asks for a token", Place(path="QOSFORGE_TOKEN"), hint)
        return token
    place = Place(file=str(path))
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_TOKEN + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place, "name the file that has the token") from None
    token = data.decode("utf-8", errors="replace").strip()
    if not token or len(data) > LARGEST_TOKEN:
        raise InputError("has no token", place, "put the token there, and nothing else")
    return token
