"""Environment variables that are no settings: secrets, and what the command line as a client reads.

Who reads one names it here, so that whatever else begins like ours is known to be read by nobody.
"""

from __future__ import annotations

from enum import StrEnum

PREFIX = "QOSFORGE_"


class Variable(StrEnum):
    """A variable that is no setting."""

    SERVER = PREFIX + "SERVER"
    TOKEN = PREFIX + "TOKEN"
    PLAIN_HTTP = PREFIX + "PLAIN_HTTP"


class SecretVariable(StrEnum):
    """A secret of the installation: the variable has it, or the one of `file` names the file that does."""

    OIDC_CLIENT_SECRET = PREFIX + "OIDC_CLIENT_SECRET"
    WEBHOOK_KEY = PREFIX + "WEBHOOK_KEY"

    @property
    def file(self) -> str:
        """The variable that names a file."""
        return f"{self}_FILE"


class DeviceVariable(StrEnum):
    """Credentials of devices: of all, or with ``_`` and a name appended of one."""

    USERNAME = PREFIX + "USERNAME"
    PASSWORD = PREFIX + "PASSWORD"
    SECRET = PREFIX + "SECRET"


CREDENTIALS = PREFIX + "CREDENTIALS_"
"""What variables of named credentials begin with."""


def other_variables() -> frozenset[str]:
    """Every one whose whole name is known."""
    return frozenset({*Variable, *SecretVariable, *(one.file for one in SecretVariable), *DeviceVariable})


def names_a_device(variable: str) -> bool:
    """Whether a variable has the form of one that ends with the name of a device or of credentials."""
    return variable.startswith((CREDENTIALS, *(f"{one}_" for one in DeviceVariable)))
