"""What fails over a device's configuration may quote names of it, and these may be secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from qosforge.errors import QosforgeError
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import Configuration, words_of


@contextmanager
def mask_errors(network: Network, running: Mapping[str, Configuration]) -> Iterator[None]:
    """Errors over a configuration that was read are without its device's secrets before anybody sees them.

    Raises:
        QosforgeError: as the block does, with a message that may be shown.
    """
    try:
        yield
    except QosforgeError as error:
        name = error.where.device
        if name is not None and name in running:
            words_of(running[name], name, network.device(name).platform).shown_in(error)
        raise
