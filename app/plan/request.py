"""The device request: one device's part of an intent, resolved against the inventory."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from app.intent.applications import Application
from app.intent.models import Mark, Treatment
from app.inventory.models import Framing, Role


class Model(BaseModel):
    """Base of the request's models."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)


class Term(Model):
    """One alternative of a class: all given fields hold, each field lists alternatives."""

    dscp: tuple[int, ...] = ()
    cos: tuple[int, ...] = ()
    application: str | None = None


class ClassRequest(Model):
    """A class as this device must serve it; the last one is always ``default``.

    ``terms`` say what the intent lists; ``trusted`` is the DSCP that an edge before this device has set (none
    where the class carries no mark), so that a device in the middle need not recognise it again.
    """

    name: str
    line: int | None = None
    terms: tuple[Term, ...] = ()
    mark: Mark | None = None
    treatment: Treatment = Treatment()

    @property
    def is_default(self) -> bool:
        """Whether this is the class of everything else."""
        return not self.terms


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
