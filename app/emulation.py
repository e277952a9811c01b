"""An inventory as a lab: one emulated box for every device, with credentials made for it alone."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from app.errors import InputError, Place, ServiceError
from app.inventory.models import Network
from app.lab import control
from app.lab.errors import LabError
from app.lab.spec import BoxSpec, NetworkSpec

USERNAME = "qosforge"


def state_folder(var: Path, network: str) -> Path:
    """Where a network's lab keeps its state."""
    return var / "lab" / network


def start_lab(network: Network, folder: Path, state: Path, clock_scale: float = 1.0) -> control.Overlay:
    """Start the lab of a network and wait until every box listens; a running one is left as it is.

    ``folder`` is the inventory's, which holds the startup configurations.

    Raises:
        InputError: a device has no startup configuration.
        ServiceError: the lab does not start.
    """
    login = _credentials(state)
    boxes = []
    for device in network.devices:
        path = (folder / device.startup).resolve() if device.startup else None
        if path is None or not path.is_file():
            raise InputError(
                "no startup configuration for its emulated box",
                Place(device=device.name),
                "give 'startup' in hosts.yaml a file below the inventory",
            )
        boxes.append(
            BoxSpec(
                name=device.name,
                platform=device.platform,
                image=device.image,
                features=dict.fromkeys(device.features, True),
                startup_config=path,
                **login,
            )
        )
    spec = NetworkSpec(network=network.name, boxes=boxes, clock_scale=clock_scale)
    try:
        return control.start(spec, state)
    except LabError as error:
        raise ServiceError(str(error), mend=f"see {state / 'lab.log'}") from None


def _credentials(state: Path) -> dict[str, str]:
    path = state / "credentials.json"
    if path.is_file():
        held: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return held
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = {
        "username": USERNAME,
        "password": secrets.token_urlsafe(12),
        "secret": secrets.token_urlsafe(12),
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(made), encoding="utf-8")
    return made
