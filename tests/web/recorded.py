"""Runs as they are stored, without devices: what a kept run left on a network, and what later runs read.

A service that looks on takes up whatever is pending, or under way with nobody to carry it out. So a run that a test
only pretends waits for an approval from its first moment on, until it has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.models import Network
from qosforge.resources import root
from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import RUNS, SCHEMA_VERSION, RunStatus
from tests.runs.support import WHY


def startups(network: Network) -> dict[str, str]:
    """The configurations that devices are delivered with."""
    folder = root() / "inventories" / network.name
    return {device.name: (folder / str(device.startup)).read_text() for device in network.devices}


def configured(network: Network, policy: Path) -> dict[str, str]:
    """The lines of a policy, as devices hold them that have no others."""
    compiled = compile_intent(load_intent(policy), network)
    return {device.name: "\n".join(block.text for block in device.blocks) for device in compiled.devices}


def waiting_run(store: RunStore, network: str, policy: str, params: Mapping[str, Any] | None = None) -> str:
    """A run that waits for an approval and that no service has seen pending; returns its id."""
    now = store.now()
    row = {
        "id": new_run_id(),
        "network": network,
        "policy": policy,
        "policy_version": "f" * 64,
        "status": RunStatus.NEEDS_APPROVAL.value,
        "created": now,
        "updated": now,
        "params": dict(params or {}),
        "schema_version": SCHEMA_VERSION,
    }
    with store.database.write() as connection:
        connection.execute(sa.insert(RUNS).values(row))
    return row["id"]


def record(store: RunStore, artifacts: Artifacts, network: str, texts: Mapping[str, str], status: RunStatus) -> str:
    """A run that ended so, and read these configurations last; returns its id."""
    run = waiting_run(store, network, "campus-collaboration")
    running = {device: artifacts.put_text(text) for device, text in texts.items()}
    with store.stage(run, "read", ReadSummary(running=running, errors=[])):
        pass
    store.set_status(run, status, reason=WHY)
    return run
