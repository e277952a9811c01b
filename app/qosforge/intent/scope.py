"""Where an intent applies: devices, interfaces, directions."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from qosforge.intent.base import Flag, IntentModel, Many, Name, Requirement, Some
from qosforge.intent.match import Vlan
from qosforge.intent.shaping import Shape
from qosforge.units import shortened

OWN_PREFIX = "QOSFORGE"
"""How the names begin that objects get on a device where the intent gives none."""
_PORT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 /.:_-]{0,61}[A-Za-z0-9])?")
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


def _own(value: str) -> str:
    if value.upper().startswith(OWN_PREFIX):
        raise ValueError(f"{value!r} begins like the names that are given where none is: choose another")
    return value


def _device(value: str) -> str:
    if _DEVICE.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} is not a device: write its name as the inventory does")
    return value


def _port(value: str) -> str:
    if _PORT.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} is not a port: write its name as the inventory does")
    return value


PortName = Annotated[str, AfterValidator(_port)]
DeviceName = Annotated[str, AfterValidator(_device)]
Trust = Literal["dscp", "cos", "phone", "none"]
"""What an input trusts: a mark, the marks of an IP phone alone (where one is detected), or nothing."""


class PortShape(Shape):
    """What a whole port sends at most; what exceeds waits in the classes' queues."""


class Scope(IntentModel):
    """Where an intent applies: all given selectors must hold, each lists alternatives.

    ``role`` is that of an interface, ``interfaces`` its tags, ``devices`` and ``ports`` are names of the
    inventory (a port that is a link aggregation stands for its members too), ``vlan`` one that the port carries.
    With ``requires_phone`` what arrives is looked at only while the device sees an IP phone at the port, and has no
    mark else. ``tunnels`` are interfaces of the device whose packets leave here and are told by what they carry.
    ``recognise_by: mark`` tells the classes at an output by the marks that inputs have set, on an edge
    too.
    """

    role: Some[Name] = ()
    interfaces: Some[Name] = ()
    devices: Some[DeviceName] = ()
    ports: Some[PortName] = ()
    vlan: Some[Vlan] = ()
    direction: Literal["input", "output"]
    policy: Annotated[Name, AfterValidator(_own)] | None = None
    trust: Trust | None = None
    requires_phone: Flag = False
    recognise_by: Literal["match", "mark"] = "match"
    shape: PortShape | None = None
    tunnels: Annotated[Many[PortName], Field(max_length=64)] = ()

    @property
    def selectors(self) -> tuple[str, ...]:
        """Names of the selectors that are given."""
        return tuple(n for n in ("role", "interfaces", "devices", "ports", "vlan") if getattr(self, n))

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.selectors:
            raise ValueError("a scope without a selector: give role, interfaces (tags), devices, ports or vlan")
        if self.trust is not None and self.direction == "output":
            raise ValueError("trust is for what arrives: use direction input")
        if self.requires_phone and self.direction == "output":
            raise ValueError("a phone sends what arrives: use requires_phone with direction input")
        if self.requires_phone and self.trust is not None:
            raise ValueError("trust and requires_phone exclude each other: give trust phone, or recognise classes")
        if self.recognise_by == "mark" and self.direction == "input":
            raise ValueError("marks are set at an input: recognise_by mark is for direction output")
        if self.tunnels and self.direction == "input":
            raise ValueError("packets go into tunnels where they leave: tunnels are for direction output")
        if self.shape is not None and self.direction == "input":
            raise ValueError("a port is shaped where it sends: use direction output")
        return self


class TransmitRing(IntentModel):
    """Packets that the hardware takes in advance: the fewer, the less a priority packet waits behind them."""

    packets: Annotated[int, Field(ge=1, le=32767, strict=True)]
    prefer: Requirement = True
