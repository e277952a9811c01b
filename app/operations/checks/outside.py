"""What lies outside: networks and their credentials, Batfish."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

from app.deploy.credentials import credentials
from app.deploy.traits import require_installed
from app.emulation import state_folder
from app.errors import InputError, QosforgeError
from app.inventory.loader import load_network
from app.operations.checks.model import Result, State, Surroundings
from app.validation.batfish import START_MEND

_SECONDS = 5
_LONGEST_ANSWER = 1 << 16


def check_networks(around: Surroundings) -> Iterator[Result]:
    """Every inventory can be read, and there are credentials for its boxes."""
    folder = around.settings.inventories_dir
    found = (
        sorted(entry for entry in folder.iterdir() if (entry / "hosts.yaml").is_file()) if folder.is_dir() else []
    )
    if not found:
        yield Result("networks", State.FAILED, f"none in {folder}", "set QOSFORGE_INVENTORIES_DIR")
    for entry in found:
        name = f"network {entry.name}"
        try:
            network = load_network(entry)
            require_installed(network)
        except QosforgeError as error:
            problem = error.problems()[0]
            yield Result(
                name, State.FAILED, f"{problem.where}: {problem.message}", problem.mend or "correct the file"
            )
            continue
        lab = state_folder(around.settings.var_dir, network.name)
        without = []
        for device in network.devices:
            try:
                credentials(device.name, lab, around.environment)
            except InputError:
                without.append(device.name)
        boxes = f"{len(network.devices)} boxes"
        if without:
            message = f"{boxes}; no credentials for {', '.join(without)}"
            mend = "set QOSFORGE_USERNAME and QOSFORGE_PASSWORD, if runs shall reach them"
            yield Result(name, State.WARNING, message, mend)
        else:
            yield Result(name, State.GOOD, f"{boxes}, with credentials")


def check_batfish(around: Surroundings) -> Iterator[Result]:
    """The service that the settings name answers, as Batfish."""
    host, port = around.settings.batfish_host, around.settings.batfish_port
    if host is None:
        yield Result("batfish", State.GOOD, "not configured: findings say that it did not check")
        return
    mend = f"{START_MEND} and QOSFORGE_BATFISH_PORT"
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("GET", "/v2/version")
        answer = connection.getresponse()
        versions = json.loads(answer.read(_LONGEST_ANSWER))
        told = versions["Batfish"]
    except (OSError, http.client.HTTPException) as error:
        yield Result("batfish", State.FAILED, f"{host}:{port} does not answer: {error}", mend)
    except (ValueError, KeyError, TypeError):
        yield Result("batfish", State.FAILED, f"{host}:{port} answers, and is no Batfish", mend)
    else:
        yield Result("batfish", State.GOOD, f"{host}:{port}, release {told}")
    finally:
        connection.close()
