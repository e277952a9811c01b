"""A device as somebody adds it to an inventory: what has to be said of it, the rest is its platform's."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from qosforge.deploy.driver_capabilities import driver_capabilities
from qosforge.inventory.models import DeviceRole
from qosforge.inventory.reach import Transport
from qosforge.platforms.base import platform

Word = Annotated[str, Field(min_length=1, max_length=253)]


class NewDevice(BaseModel):
    """How a device is reached, and what it is; ``interfaces`` are rates by the names of interfaces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hostname: Word = Field(examples=["192.0.2.7"])
    platform: Word = Field(examples=["cisco_ios"])
    image: Word = Field(examples=["12.4(15)T"])
    role: DeviceRole | None = Field(default=None, description="The platform's usual one without it.")
    driver: Word | None = Field(default=None, description="The platform's NAPALM driver without it.")
    port: Annotated[StrictInt, Field(ge=1, le=65535)] | None = None
    username: Word | None = None
    credentials: Word | None = Field(default=None, description="Their name; secrets are never sent.")
    transport: Transport | None = None
    jump: Word | None = Field(default=None, description="Jump hosts, with commas between them.")
    interfaces: Annotated[dict[Word, Word], Field(max_length=1000)] = Field(
        default={}, examples=[{"Serial0/0": "2 Mb/s"}]
    )

    def entry(self, name: str) -> dict[str, Any]:
        """What stands below the device's name in ``hosts.yaml``.

        Raises:
            InputError: there is no such platform or driver.
        """
        family = platform(self.platform, name).family
        driver = self.driver or family.driver
        driver_capabilities(driver, name)
        reached = {"hostname": self.hostname, "port": self.port, "username": self.username}
        data = {
            "role": (self.role or family.role).value,
            "image": self.image,
            "driver": driver,
            "transport": self.transport,
            "credentials": self.credentials,
            "jump": self.jump,
            "interfaces": {interface: {"rate": rate} for interface, rate in self.interfaces.items()},
        }
        return {**_given(reached), "platform": self.platform, "data": _given(data)}


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
