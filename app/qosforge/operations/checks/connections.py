"""Checks of what answers at the other end: devices, and the collector of traces."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from qosforge.deploy.route import InventoryRoute, route_to
from qosforge.errors import QosforgeError
from qosforge.inventory.loader import load_network
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState

_SECONDS = 3
_AT_ONCE = 64
_MOST_NAMED = 5


def check_reach(context: CheckContext) -> Iterator[CheckResult]:
    """Each device's port accepts a connection; nobody logs in. Those behind a jump host are not tried."""
    ends: dict[str, tuple[str, int]] = {}
    behind = 0
    for folder in context.network_folders():
        try:
            network = load_network(folder)
            route = route_to(context.settings, network, context.environment)
            if not isinstance(route, InventoryRoute):
                continue  # a lab's devices are there while it is up
            for device in (device for device in network.devices if device.reach.hostname):
                target = route.target_of(device.name, device.reach, logs_in=False)
                if target.arguments["jump"]:
                    behind += 1
                else:
                    ends[f"{network.name}/{device.name}"] = (target.hostname, int(target.arguments["port"]))
        except QosforgeError:
            continue  # the check of the networks says what is wrong
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        failures = dict(zip(ends, pool.map(_failure, ends.values()), strict=True))
    silent = {name: why for name, why in failures.items() if why}
    untried = f"; {behind} behind a jump host are not tried" if behind else ""
    if silent:
        named = ", ".join(f"{name} ({why})" for name, why in list(silent.items())[:_MOST_NAMED])
        more = f" and {len(silent) - _MOST_NAMED} more" if len(silent) > _MOST_NAMED else ""
        hint = "qosforge network check FOLDER tells more; are they up, and do firewalls let this machine through?"
        message = f"{len(silent)} of {len(ends)} devices do not answer: {named}{more}{untried}"
        yield CheckResult("reach", CheckState.WARNING, message, hint)
    else:
        yield CheckResult("reach", CheckState.GOOD, f"{len(ends)} devices accept connections{untried}")


def check_collector(context: CheckContext) -> Iterator[CheckResult]:
    """The collector of traces accepts a connection, where there is one."""
    endpoint = context.settings.otlp_endpoint
    if endpoint is None:
        return
    parts = urlsplit(endpoint)
    why = _failure((str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)))
    if why:
        hint = "start it, or correct or unset QOSFORGE_OTLP_ENDPOINT: traces are lost meanwhile"
        yield CheckResult("traces", CheckState.WARNING, f"{endpoint} does not answer: {why}", hint)
    else:
        yield CheckResult("traces", CheckState.GOOD, f"{endpoint} accepts connections")


def _failure(end: tuple[str, int]) -> str:
    """Why nothing accepts a connection there; empty where something does."""
    try:
        socket.create_connection(end, timeout=_SECONDS).close()
    except OSError as error:
        return "no answer" if isinstance(error, TimeoutError) else str(error.strerror or error)
    return ""
