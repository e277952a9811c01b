"""The application catalogue: names that intents use, with the ports that recognise them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from qosforge.intent.base import IntentModel, Name, Some
from qosforge.intent.match import Ports
from qosforge.intent.ports import merge_services
from qosforge.resources import read_yaml


class Application(BaseModel):
    """How an application is recognised by header fields alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    protocol: Literal["tcp", "udp"]
    ports: tuple[tuple[int, int], ...]
    beyond_ports: bool = False
    source: str

    @property
    def protocol_number(self) -> int:
        """IANA protocol number."""
        return {"tcp": 6, "udp": 17}[self.protocol]


class OwnApplication(IntentModel):
    """An application of an intent's own, recognised by its ports; one of the catalogue's name takes its place."""

    name: Name
    protocol: Literal["tcp", "udp"]
    ports: Some[Ports]


Catalogue = dict[str, Application]


def extend_catalogue(catalogue: Catalogue, own: Iterable[OwnApplication]) -> Catalogue:
    """The catalogue with an intent's own applications; of two of one name the later holds."""
    added = {
        a.name: Application(protocol=a.protocol, ports=merge_services(a.ports), source="the intent") for a in own
    }
    return {**catalogue, **added}


@cache
def load_catalogue() -> Catalogue:
    """The catalogue that ships with qosforge."""
    data = read_yaml("qosforge/intent/applications.yaml")
    return {name: Application.model_validate(entry) for name, entry in data["applications"].items()}
