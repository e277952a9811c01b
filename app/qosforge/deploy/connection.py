"""Nornir's connection to a device: a NAPALM driver whose every step has limits."""

from __future__ import annotations

from typing import Any

from cli_candidate.bounded import BoundedDriver
from cli_candidate.bounded_ios import BoundedIosDriver
from napalm import get_network_driver
from nornir.core.configuration import Config

NAME = "device"
"""What Nornir calls it."""


class DeviceConnection:
    """A connection plug-in of Nornir; ``extras`` are the driver's own arguments."""

    connection: BoundedDriver

    def open(  # noqa: PLR0917  (Nornir's signature)
        self,
        hostname: str | None,
        username: str | None,
        password: str | None,
        port: int | None,
        platform: str | None,
        extras: dict[str, Any] | None = None,
        configuration: Config | None = None,
    ) -> None:
        """Log in by the driver that ``platform`` names; the port is among the driver's arguments."""
        del port, configuration
        driver = BoundedIosDriver if platform == "ios" else get_network_driver(platform)
        made = driver(hostname=hostname, username=username, password=password, **(extras or {}))
        made.open()
        self.connection = made

    def close(self) -> None:
        """Log out."""
        self.connection.close()
