"""The options of NetBox as a source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from qosforge.deploy.secret_source import Sourced

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
Text = Annotated[str, Field(min_length=1, max_length=200)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("https", "http") or parts.query or parts.fragment:
        raise ValueError("this is not the address of a NetBox: write it like https://netbox.example.net")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a user name or password does not belong in an address: give a token")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise ValueError(
            "the token would be sent in clear: write https (with 'ca' where its certificate is your own)"
        )
    return value.rstrip("/")


def _reference(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("a token does not belong here: write token: {env: NETBOX_TOKEN}, or another source")
    return value


def _listed(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value if value is None else (value,)


Values = Annotated[tuple[Text, ...] | None, BeforeValidator(_listed)]
Ids = Annotated[tuple[Annotated[int, Field(strict=True)], ...] | None, BeforeValidator(_listed)]


class DeviceFilter(_Model):
    """Filters of NetBox's list of devices, by its own names; slugs where NetBox has them.

    NetBox takes no notice of a filter that it does not know, and answers with all devices: so there are no others.
    """

    q: Text | None = None
    id: Ids = None
    name: Values = None
    region: Values = None
    site_group: Values = None
    site: Values = None
    location: Values = None
    tenant_group: Values = None
    tenant: Values = None
    role: Values = None
    manufacturer: Values = None
    device_type: Values = None
    platform: Values = None
    status: Values = None
    tag: Values = None
    has_primary_ip: bool | None = None
    custom_fields: dict[Text, Text | int | bool] = {}

    def parameters(self) -> dict[str, Any]:
        """What is sent: parameters of the request by their names."""
        named = {key: value for key, value in self if value is not None and key != "custom_fields"}
        found = {key: list(value) if isinstance(value, tuple) else value for key, value in named.items()}
        if self.has_primary_ip is not None:
            found["has_primary_ip"] = str(self.has_primary_ip).lower()
        return {**found, **{f"cf_{name}": value for name, value in self.custom_fields.items()}}


class CustomFields(_Model):
    """Names of NetBox's custom fields: of devices that with the software's release, of interfaces that with the
    framing (``hdlc``, ``ppp``).
    """

    image: Text | None = None
    encapsulation: Text | None = None


class NetBoxOptions(_Model):
    """Where NetBox is, what logs in, and which of its devices are read.

    ``ca`` is a file of certificates that its own is checked against instead of the system's; it is always checked.
    """

    url: Annotated[str, AfterValidator(_url)]
    token: Annotated[Sourced, BeforeValidator(_reference)]
    ca: Path | None = None
    filter: DeviceFilter = DeviceFilter()
    custom_fields: CustomFields = CustomFields()
