"""Whether the devices that a run reads have an address: known before it starts, by the inventory and the lab."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from qosforge.compiler.scope_resolution import devices_in
from qosforge.deploy.route import devices_without_address, lab_of
from qosforge.device_names import name_devices
from qosforge.errors import InputError, Place
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network
from qosforge.runs.record.rollout_record import may_leave_out
from qosforge.settings import Settings
from qosforge.validation.reads import devices_to_read


def require_addresses(settings: Settings, network: Network, intent: Intent, *, needs_all: bool) -> None:
    """Make sure that a run would not fail where it reads its devices because these have no address.

    ``needs_all``: it leaves no device out, whatever the rules of the network allow (see `may_leave_out`).

    Raises:
        InputError: devices that it reads have none and it could not go on without them, or the lab's overlay is
            damaged.
    """
    missing = devices_without_address(settings, network)
    if not missing:
        return
    concerned = devices_in(intent.apply, network)
    needed = devices_to_read(intent, network, concerned)
    lacking = [name for name in missing if name in needed]
    if lacking and not may_leave_out(network.changes.rollout, concerned, lacking, needs_all=needs_all):
        raise _no_address(settings, network, lacking, len(needed))


def no_address_at_all(settings: Settings, network: Network) -> InputError | None:
    """Why no device of a network can be reached, where none has an address; ``None`` where one has.

    Raises:
        InputError: the lab's overlay is damaged.
    """
    missing = devices_without_address(settings, network)
    if not missing or len(missing) < len(network.devices):
        return None
    message = (
        "the one device has no address" if len(missing) == 1 else f"all {len(missing)} devices have no address"
    )
    return InputError(message, Place(path="network"), _address_hint(settings, network))


def lacks_addresses(settings: Settings, network: Network) -> bool:
    """Whether no device of a network has an address; a lab that is damaged is told elsewhere."""
    with suppress(InputError):
        return no_address_at_all(settings, network) is not None
    return False


def _address_hint(settings: Settings, network: Network) -> str:
    lab = (
        "" if lab_of(settings, network) is None else f"; or start a lab of them: qosforge lab up -N {network.name}"
    )
    return f"give each a hostname in hosts.yaml{lab}"


def _no_address(settings: Settings, network: Network, devices: Sequence[str], needed: int) -> InputError:
    have = "has no address" if len(devices) == 1 else "have no address"
    return InputError(
        f"{len(devices)} of the {needed} devices that a run reads {have} ({name_devices(devices)}): it would fail",
        Place(path="network"),
        _address_hint(settings, network),
    )
