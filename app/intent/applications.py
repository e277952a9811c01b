"""The application catalogue: names that intents use, with the ports that recognise them."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from app.resources import read_text


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


Catalogue = dict[str, Application]


@cache
def load_catalogue() -> Catalogue:
    """The catalogue that ships with qosforge."""
    data = YAML(typ="safe", pure=True).load(read_text("app/intent/applications.yaml"))
    return {name: Application.model_validate(entry) for name, entry in data["applications"].items()}
