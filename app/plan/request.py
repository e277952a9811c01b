"""The device request: one device's part of an intent, resolved against the inventory."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from app.intent.applications import Application
from app.intent.models import RESERVED_CLASS, Mark, Treatment
from app.inventory.models import Framing, Role


class Model(BaseModel):
    """Base of the request's models."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)


class Feature(StrEnum):
    """What the language has beyond its core (applications, DSCP, CoS, marks, priority, bandwidth, WRED).

    A platform declares those that it lowers; what it does not declare is refused before it is asked. The values
    are the words of findings.
    """

    MATCH_PRECEDENCE = "a match by IP precedence"
    MATCH_FLOW = "a match by protocol, IPv4 prefixes or ports"
    MATCH_IPV6 = "a match by IPv6 prefixes"
    MATCH_VLAN = "a match by VLAN"
    MATCH_MAC = "a match by MAC address"
    MATCH_INPUT_INTERFACE = "a match by input interface"
    MATCH_NONE = "a match by what a packet is not ('none')"
    QUEUE_LIMIT = "a queue limit in packets"
    POLICE_INPUT = "policing on input"
    POLICE_OUTPUT = "policing on output"
    SHAPE = "shaping of a class"


class Term(Model):
    """One alternative of a class: all given fields hold, each field lists alternatives.

    The fields are those of the language; ports are inclusive ranges.
    """

    dscp: tuple[int, ...] = ()
    cos: tuple[int, ...] = ()
    application: str | None = None
    precedence: tuple[int, ...] = ()
    protocol: tuple[int, ...] = ()
    source: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    source_port: tuple[tuple[int, int], ...] = ()
    destination_port: tuple[tuple[int, int], ...] = ()
    vlan: tuple[int, ...] = ()
    source_mac: tuple[str, ...] = ()
    destination_mac: tuple[str, ...] = ()
    input_interface: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the fields that ask for something."""
        return tuple(name for name in Term.model_fields if getattr(self, name))


class ClassRequest(Model):
    """A class as this device must serve it; the last one is always ``default``.

    ``terms`` say what the intent lists (none where it says only what a class is not), ``none_of`` what must not
    hold beside.
    """

    name: str
    line: int | None = None
    terms: tuple[Term, ...] = ()
    none_of: tuple[Term, ...] = ()
    mark: Mark | None = None
    treatment: Treatment = Treatment()

    @property
    def is_default(self) -> bool:
        """Whether this is the class of everything else."""
        return self.name == RESERVED_CLASS


class EfficiencyRequest(Model):
    """Link efficiency wanted on one interface; ``fragment_bytes`` is never rounded up."""

    header_compression: bool = False
    fragment_bytes: int | None = None
    blocking_delay: float | None = None
    prefer: bool = True


class InterfaceRequest(Model):
    """What is wanted at one interface."""

    name: str
    rate: int
    usable: int
    framing: Framing
    tagged: bool = False
    tags: frozenset[str] = frozenset()
    recognise: bool = False
    """Recognise and mark classes on input (an edge); otherwise marks are trusted where ``trust`` is set."""
    trust: bool = False
    schedule: bool = False
    input_policy: str | None = None
    output_policy: str | None = None
    efficiency: EfficiencyRequest | None = None


class DeviceRequest(Model):
    """What lowering starts from."""

    device: str
    platform: str
    image: str
    role: Role
    features: frozenset[str] = frozenset()
    intent: str
    tolerance: float
    classes: tuple[ClassRequest, ...]
    interfaces: tuple[InterfaceRequest, ...]
    applications: dict[str, Application]
