"""A service beside a lab of two routers, with policies and people, as tests of pages use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qosforge.access.roles import Role
from qosforge.artifacts.store import open_artifacts
from qosforge.emulation import start_lab
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.policy_library.library import PolicyLibrary
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings
from qoslab import control
from tests.api.served import serving
from tests.principals import somebody
from tests.web.conftest import Site

ROOT = Path(__file__).parents[2]
INVENTORY = ROOT / "inventories" / "infn-fnal"
GOOD = (ROOT / "examples/policies/remote-control.yaml").read_text()
OURS = GOOD.replace("intent: remote-control", "intent: of-fnal")
TOO_MUCH = GOOD.replace("intent: remote-control", "intent: too-much").replace("75 ms", "62 ms")


@contextmanager
def two_routers(var_dir: Path) -> Iterator[Site]:
    """A service where four eyes are asked for, the lab's two routers, three policies and three people.

    Of the people, ann is an operator, bob an approver and vic a viewer.
    """
    lab = state_folder(var_dir, "infn-fnal")
    settings = Settings(var_dir=var_dir)
    start_lab(load_network(INVENTORY), INVENTORY, lab)
    try:
        with serving(var_dir, fork=True, four_eyes="true") as served:
            made = Site(served, settings)
            for name, role in (("ann", Role.OPERATOR), ("bob", Role.APPROVER), ("vic", Role.VIEWER)):
                made.person(name, role)
            with RunStore(settings.database_url) as store:
                library = PolicyLibrary(store.database, open_artifacts(settings, store.database))
                policies = (
                    ("remote-control", GOOD, "*"),
                    ("too-much", TOO_MUCH, "*"),
                    ("of-fnal", OURS, "infn-fnal"),
                )
                for name, text, network in policies:
                    library.seen_by(somebody("ann")).store(
                        name, PolicySource(text, f"{name}.yaml"), network=network
                    )
            yield made
    finally:
        control.stop(lab)


def held(site: Site) -> list[object]:
    """What the routers hold, as the lab itself tells."""
    lab = state_folder(site.settings.var_dir, "infn-fnal")
    return [control.request(lab, {"op": "running", "box": name})["running"] for name in ("router1", "router3")]
