"""Devices of a site that have an address, though nothing answers there."""

from collections.abc import Iterator
from contextlib import contextmanager

from qosforge.inventory.catalogue import Networks
from qosforge.inventory.overlay import state_folder
from qosforge.settings import Settings

NOBODY = 9
"""The port of discard, where no lab is."""


@contextmanager
def addresses(settings: Settings, network: str) -> Iterator[None]:
    """Every device of a network has an address on this machine while the block lasts, as of a lab."""
    state = state_folder(settings.var_dir, network)
    state.mkdir(parents=True, exist_ok=True)
    overlay = state / "overlay.yaml"
    devices = Networks(settings.inventories_dir).network(network).devices
    overlay.write_text(
        "boxes:\n" + "".join(f"  {d.name}: {{hostname: 127.0.0.1, port: {NOBODY}}}\n" for d in devices)
    )
    try:
        yield
    finally:
        overlay.unlink()
