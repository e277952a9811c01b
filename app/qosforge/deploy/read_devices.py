"""What the devices of a network hold now, as a fleet reads it. Nothing is changed or recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet, Outcome
from qosforge.deploy.not_saved import LiveState
from qosforge.deploy.transaction import running
from qosforge.deploy.unsaved import read_in_the_way
from qosforge.errors import DeviceErrors, QosforgeError
from qosforge.platforms.device_text import DeviceText

DeviceRead = tuple[DeviceText, tuple[str, ...] | None]
"""A running configuration, and the unsaved lines in the way of a push; ``None`` where they are not known."""


def read_running(fleet: Fleet, devices: Collection[str] = ()) -> dict[str, DeviceText]:
    """The running configurations of devices of the network, by device: of all unless ``devices`` are named.

    Raises:
        DeviceErrors: devices cannot be read; carries the error of each.
    """
    texts, errors = read_each(fleet, devices)
    if errors:
        raise DeviceErrors("devices cannot be read", errors=list(errors.values()))
    return texts


def read_each(
    fleet: Fleet, devices: Collection[str] = ()
) -> tuple[dict[str, DeviceText], dict[str, QosforgeError]]:
    """As `read_running`, for who can do with less: the configurations of the devices that can be read, and the
    errors of those that cannot, by device.
    """
    outcomes = fleet.run(_chosen(fleet, devices), lambda _name, driver: running(driver))
    texts = {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}
    return texts, {name: outcome.error for name, outcome in outcomes.items() if outcome.error is not None}


def read_live_state(fleet: Fleet, devices: Collection[str] = ()) -> LiveState:
    """What devices hold, for who will change it: as `read_running`, and whether it is saved.

    Raises:
        DeviceErrors: devices cannot be read; carries the error of each.
    """

    def both(name: str, driver: DeviceDriver) -> DeviceRead:
        held = running(driver)
        return held, read_in_the_way(fleet.network.device(name), driver, held)

    now, errors = _live_state(fleet.run(_chosen(fleet, devices), both))
    if errors:
        raise DeviceErrors("devices cannot be read", errors=list(errors.values()))
    return now


def read_each_live_state(
    fleet: Fleet, devices: Collection[str] = (), each: Callable[[Outcome[DeviceRead]], None] | None = None
) -> tuple[LiveState, dict[str, QosforgeError]]:
    """As `read_live_state`, for who can do with less: of the devices that can be read, and the errors of those that
    cannot, by device. Of one whose startup configuration cannot be read it is not known what is saved.

    ``each`` is told every outcome as it comes about, from several threads.
    """

    def both(name: str, driver: DeviceDriver) -> DeviceRead:
        held = running(driver)
        try:
            return held, read_in_the_way(fleet.network.device(name), driver, held)
        except QosforgeError:
            return held, None

    return _live_state(fleet.run(_chosen(fleet, devices), both, each=each))


def _live_state(outcomes: Mapping[str, Outcome[DeviceRead]]) -> tuple[LiveState, dict[str, QosforgeError]]:
    found = {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}
    now = LiveState(
        {name: held for name, (held, _) in found.items()},
        {name: lines for name, (_, lines) in found.items() if lines is not None},
    )
    return now, {name: outcome.error for name, outcome in outcomes.items() if outcome.error is not None}


def _chosen(fleet: Fleet, devices: Collection[str]) -> list[str]:
    return [d.name for d in fleet.network.devices if not devices or d.name in devices]
