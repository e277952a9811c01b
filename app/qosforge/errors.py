"""The error tree.

    QosforgeError                 anything a user can be told, with where it stands and how to correct it
    ├── InputError                wrong intent, inventory, file or option            (exit 2)
    ├── RefusedError              the compiler or a validator has error findings     (exit 1)
    ├── Interrupted               the user stopped the command                       (exit 130)
    └── ServiceError              something outside failed                           (exit 3)
        ├── NotInstalled          an optional part lacks packages
        ├── DeviceError           a device: unreachable, refused a line, read back wrong
        │   ├── HostKeyUnknown    nobody has confirmed the host key that it shows
        │   ├── LoginRefused      it does not take the credentials
        │   ├── EnableRefused     it took them, and does not take the enable secret
        │   ├── CommandRefused    it does not answer a show command
        │   ├── ChangeRefused     it does not take a line
        │   └── CommitPending     it takes no further change while one waits to be confirmed
        ├── DeviceErrors          several of them at once
        ├── TesterError           a tester could not measure
        ├── SourceError           an inventory source (NetBox, a plug-in of Nornir) could not be read
        ├── StoreError            run store, artifacts, migrations
        └── EngineBusy            another process owns the run engine

Exit codes are those of the command line (``docs/cli.md``); REST maps the same classes to statuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from qosforge.findings import Finding


def validator_message(message: str) -> str:
    """What one of our validators says, without the words that Pydantic puts before it."""
    return message.removeprefix("Value error, ")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file position, an intent path, a device, an interface and a direction."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None
    device: str | None = None
    interface: str | None = None
    direction: str | None = None
    traffic_class: str | None = None

    def __str__(self) -> str:
        parts: list[str] = []
        if self.file is not None:
            position = [str(n) for n in (self.line, self.column) if n is not None]
            parts.append(":".join([self.file, *position]))
        if self.path:
            parts.append(self.path)
        device = " ".join(p for p in (self.device, self.interface, self.direction) if p)
        if device:
            parts.append(device)
        if self.traffic_class:
            parts.append(f"class {self.traffic_class}")
        return ", ".join(parts)


@dataclass(eq=False)
class QosforgeError(Exception):
    """An error that a user can act on: what is wrong, where, and the hint."""

    message: str
    where: Place = field(default_factory=Place)
    hint: str = ""

    exit_code = 3

    def __str__(self) -> str:
        where = str(self.where)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} ({self.hint})" if self.hint else text

    def problems(self) -> list[QosforgeError]:
        """Every single problem this error carries (itself, unless it is a collection)."""
        return [self]

    def document(self) -> dict[str, Any]:
        """This problem as plain JSON: ``device`` (empty where none), ``message``, ``hint``, and what else is known
        of its place.
        """
        place = {name: value for name, value in asdict(self.where).items() if value is not None}
        return {**place, "device": self.where.device or "", "message": self.message, "hint": self.hint}


@dataclass(eq=False)
class InputError(QosforgeError):
    """Wrong input: nothing was done."""

    exit_code = 2


@dataclass(eq=False)
class InputErrors(InputError):
    """Several problems found in one reading."""

    errors: list[InputError] = field(default_factory=list)

    def problems(self) -> list[QosforgeError]:
        return list(self.errors)

    def __str__(self) -> str:
        return "\n".join(str(e) for e in self.errors) or self.message


@dataclass(eq=False)
class RefusedError(QosforgeError):
    """Error findings stand against the change: nothing was done."""

    findings: Sequence[Finding] = ()

    exit_code = 1


@dataclass(eq=False)
class Interrupted(QosforgeError):
    """The user stopped the command; what it had begun can be finished or undone."""

    exit_code = 130  # as a shell tells a process that SIGINT ended


@dataclass(eq=False)
class ServiceError(QosforgeError):
    """Something outside qosforge failed."""


@dataclass(eq=False)
class NotInstalled(ServiceError):
    """An optional part of qosforge lacks packages; ``hint`` says how they are installed."""


@dataclass(eq=False)
class DeviceError(ServiceError):
    """A device could not be reached, refused a line or does not hold what it was given."""


@dataclass(eq=False)
class HostKeyUnknown(DeviceError):
    """A device shows a host key, and no known_hosts has one of it."""


@dataclass(eq=False)
class LoginRefused(DeviceError):
    """A device does not take the user name, the password or the key."""


@dataclass(eq=False)
class EnableRefused(DeviceError):
    """A device let somebody in, and does not take the enable secret."""


@dataclass(eq=False)
class CommandRefused(DeviceError):
    """A device does not answer a show command."""


@dataclass(eq=False)
class ChangeRefused(DeviceError):
    """A device does not take a line that was entered.

    ``answer`` is what it said to that, in its own words, and ``refused`` names what was entered; either is empty
    where that is not known. Devices that gave the same answer to the same have one cause, however far each came.
    """

    answer: str = ""
    refused: str = ""

    def document(self) -> dict[str, Any]:
        return {**super().document(), "answer": self.answer, "refused": self.refused}


@dataclass(eq=False)
class CommitPending(DeviceError):
    """A device takes no further change: another one waits to be confirmed there. Nothing was entered."""


@dataclass(eq=False)
class DeviceErrors(ServiceError):
    """Several devices failed, each in its own way."""

    errors: list[QosforgeError] = field(default_factory=list)

    def problems(self) -> list[QosforgeError]:
        return list(self.errors)

    def __str__(self) -> str:
        return "\n".join(str(e) for e in self.errors) or self.message


@dataclass(eq=False)
class TesterError(ServiceError):
    """A tester could not measure."""


@dataclass(eq=False)
class SourceError(ServiceError):
    """A source of inventories could not be read."""


@dataclass(eq=False)
class StoreError(ServiceError):
    """The run store, its migrations or the artifacts."""


@dataclass(eq=False)
class EngineBusy(ServiceError):
    """Another process owns the run engine."""
