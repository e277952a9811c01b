"""Checks of the networks with their credentials, and of Batfish."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.batfish.http_exchange import Address
from qosforge.batfish.release import Match, NoRelease, client_release, match, service_release
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.route import route_to
from qosforge.errors import InputError, QosforgeError
from qosforge.finding_codes import explain
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState

_SECONDS = 5


def check_networks(context: CheckContext) -> Iterator[CheckResult]:
    """Every inventory can be read, and there are credentials for its devices."""
    found = context.network_folders()
    if not found:
        message = f"none in {context.settings.inventories_dir}"
        yield CheckResult("networks", CheckState.FAILED, message, "set QOSFORGE_INVENTORIES_DIR")
    for entry in found:
        name = f"network {entry.resolve().name}"
        try:
            network = load_network(entry)
            require_installed(network, entry)
        except QosforgeError as error:
            problem = error.problems()[0]
            yield CheckResult(
                name, CheckState.FAILED, f"{problem.where}: {problem.message}", problem.hint or "correct the file"
            )
            continue
        yield from _reach(name, network, context)


def _reach(name: str, network: Network, context: CheckContext) -> Iterator[CheckResult]:
    """How the devices of a network are reached: credentials, and transports that whoever listens can read."""
    try:
        route = route_to(context.settings, network, context.environment)
    except QosforgeError as error:
        yield CheckResult(name, CheckState.FAILED, str(error), error.hint)
        return
    reached = [device for device in network.devices if device.reach.hostname]
    if not reached:
        yield CheckResult(name, CheckState.GOOD, f"{len(network.devices)} devices, for a lab: none has a hostname")
        return
    nowhere = [device.name for device in network.devices if not device.reach.hostname]
    if nowhere and route.lab is None:
        hint = "give them one in hosts.yaml"
        yield CheckResult(name, CheckState.WARNING, f"no hostname: {', '.join(nowhere)}", hint)
    without: dict[str, list[str]] = {}
    for device in reached:
        try:
            route.login(device)
        except InputError as error:
            without.setdefault(error.problems()[0].hint, []).append(device.name)
    devices = f"{len(network.devices)} devices ({route.told})"
    for hint, names in without.items():
        yield CheckResult(name, CheckState.WARNING, f"{devices}; no credentials for {', '.join(names)}", hint)
    if not without:
        yield CheckResult(name, CheckState.GOOD, f"{devices}, with credentials")
    if route.lab is None:
        for transport, why, hint in _DOUBTFUL:
            names = [device.name for device in network.devices if device.reach.transport == transport]
            if names:
                yield CheckResult(name, CheckState.WARNING, f"{transport} to {', '.join(names)}: {why}", hint)


_DOUBTFUL = (
    ("ssh-legacy", "its algorithms can be broken", "give the device a newer image, or keep it behind a jump host"),
    ("telnet", "passwords and configurations go in clear", "use SSH where the device has it, or a jump host"),
)
"""Transports that are there because old devices know no other, with what is wrong with them."""


def check_batfish(context: CheckContext) -> Iterator[CheckResult]:
    """The service that the settings name answers, as Batfish."""
    host, port = context.settings.batfish_host, context.settings.batfish_port
    if host is None:
        yield CheckResult("batfish", CheckState.GOOD, "not configured: findings say that it did not check")
        return
    hint = f"{explain('batfish-not-checked').hint} and QOSFORGE_BATFISH_PORT"
    address, client = Address(host, port), client_release()
    try:
        release = service_release(address, _SECONDS)
    except OSError as error:
        yield CheckResult("batfish", CheckState.FAILED, f"{address} does not answer: {error}", hint)
        return
    except NoRelease as error:
        yield CheckResult("batfish", CheckState.FAILED, f"{address} {error}", hint)
        return
    state = {Match.SAME: CheckState.GOOD, Match.NEAR: CheckState.WARNING, Match.OTHER: CheckState.FAILED}[
        match(release, client)
    ]
    if state is CheckState.GOOD:
        yield CheckResult("batfish", state, f"{address}, release {release}")
        return
    told = f"{address}, release {release}; the client (pybatfish) is release {client}"
    image = f"run the image batfish/batfish:{client}"
    yield CheckResult("batfish", state, told, f"{image}: docker compose -f docker-compose.batfish.yml up -d")
