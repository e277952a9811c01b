"""``probes.yaml``: the hosts behind a network's stations that send and receive packets, and what they may send."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    IPvAnyAddress,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from qosforge.inventory.changes import Window
from qosforge.units import shortened

Clock = Literal["chrony", "ntp", "ptp", "exchange"]
"""What tells how far a host's clock is off: chronyd, ntpd, ptp4l; or exchanges of packets between both hosts."""

_LOGIN = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9_.:-]*")
_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


def _login(value: str) -> str:
    # It becomes a word of a command: it must not look like an option.
    if _LOGIN.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} is no host to log in to: write it like probe@192.0.2.10")
    return value


def _namespace(value: str) -> str:
    if _NAMESPACE.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} names no namespace: letters, digits, '.', '-' and '_' only")
    return value


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ProbeHost(_Model):
    """The host behind a station: one that OpenSSH logs in to, or a network namespace of this machine."""

    station: str
    ssh: Annotated[str, AfterValidator(_login)] | None = None
    port: Annotated[int, Field(ge=1, le=65535, strict=True)] = 22
    namespace: Annotated[str, AfterValidator(_namespace)] | None = None
    clock: Clock = "exchange"

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.ssh is None) == (self.namespace is None):
            raise ValueError("a host is reached in one way: give ssh or namespace")
        return self


class OtgPort(_Model):
    """A port of a traffic generator in the place of a station: it has the station's address, behind ``gateway``."""

    station: str
    location: Annotated[str, Field(min_length=1, max_length=200)]
    gateway: IPvAnyAddress
    prefix: Annotated[int, Field(ge=1, le=128, strict=True)] = 24


class OtgController(_Model):
    """A traffic generator that speaks Open Traffic Generator at a URL. ``verify``: whether its certificate has to
    be one that is trusted here.
    """

    controller: Annotated[str, Field(pattern=r"^https?://[^\s@/]+(/\S*)?$", max_length=500)]
    verify: bool = True
    ports: tuple[OtgPort, ...] = ()


class LabHost(_Model):
    """A station of the lab that runs: the network of a process there, which has no name outside."""

    station: str
    process: int
    clock: Clock = "exchange"


class AbortBounds(_Model):
    """What stops packets that are sent through a network, looked at each ``look_seconds``: more than
    ``control_packets`` of its classes of network control lost on a device, or a processor busier than
    ``cpu_percent``; ``None`` where nobody looks at processors.
    """

    control_packets: Annotated[int, Field(ge=0, strict=True)] = 0
    cpu_percent: Annotated[float, Field(gt=0, le=100)] | None = 80.0
    look_seconds: Annotated[float, Field(ge=1, le=60)] = 5.0

    @model_serializer(mode="wrap")
    def _as_said(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only what was said: a bound that nobody named is another one in a lab, also in a run that is resumed."""
        return {name: value for name, value in serialize(self).items() if name in self.model_fields_set}


class GuestHost(_Model):
    """A station of the lab in virtual time, behind a port of loopback; all stations there have one clock. ``key``
    logs in, and ``known_hosts`` has the key that its server shows.
    """

    station: str
    port: int
    key: str
    known_hosts: str
    clock: Clock = "exchange"


class ProbePermission(_Model):
    """Whether probes may load a network, how much of each link, and when; and what stops them.

    Namespaces of this machine are a lab, and need none. ``percent_of_link`` is of each line that a flow passes, in
    each direction, all flows together. Without ``windows`` it is always open; their times are those of ``zone``.
    """

    allowed: bool = False
    percent_of_link: Annotated[float, Field(gt=0, le=100)] = 5.0
    windows: tuple[Window, ...] = ()
    zone: str = "UTC"
    abort: AbortBounds = AbortBounds()


class Probes(_Model):
    """What ``probes.yaml`` says: the host of each station, a traffic generator, and the permission.

    ``replications`` is how often probes begin a scenario anew; unless said as often as its objectives take.
    """

    hosts: tuple[ProbeHost, ...] = ()
    replications: Annotated[int, Field(ge=1, le=48, strict=True)] | None = None
    permission: ProbePermission = ProbePermission()
    otg: OtgController | None = None

    @model_validator(mode="after")
    def _once(self) -> Self:
        stations = [host.station for host in self.hosts]
        twice = next((station for station in stations if stations.count(station) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} has two hosts: name each station once")
        return self
