"""Runs as they are stored, without devices: what a kept run left on a network, and what later runs read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qosforge.artifacts.store import Artifacts
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.models import Network
from qosforge.resources import root
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import RunStatus
from tests.runs.support import WHY


def startups(network: Network) -> dict[str, str]:
    """The configurations that devices are delivered with."""
    folder = root() / "inventories" / network.name
    return {device.name: (folder / str(device.startup)).read_text() for device in network.devices}


def configured(network: Network, policy: Path) -> dict[str, str]:
    """The lines of a policy, as devices hold them that have no others."""
    compiled = compile_intent(load_intent(policy), network)
    return {device.name: "\n".join(block.text for block in device.blocks) for device in compiled.devices}


def record(store: RunStore, artifacts: Artifacts, network: str, texts: Mapping[str, str], status: RunStatus) -> str:
    """A run that ended so, and read these configurations last; returns its id."""
    run = store.create_run(network, "campus-collaboration", "f" * 64, {})
    running = {device: artifacts.put_text(text) for device, text in texts.items()}
    with store.stage(run.id, "read", ReadSummary(running=running, errors=[])):
        pass
    store.set_status(run.id, RunStatus.RUNNING)
    store.set_status(run.id, status, reason=WHY)
    return run.id
