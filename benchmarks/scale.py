"""Large campuses: what stands before a push, of all devices, and of a change that concerns three of many."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campus import PORTS, bare_configuration, change, change_of_all, write_campus
from benchmarks.fleet import IMAGES, fleet, recognised_classes
from benchmarks.timing import Ratio, alone_in_its_process, best, peak, seconds
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import compile_document, policy_document
from qosforge.validation.checks import own_checks
from qosforge.validation.classification import check_classification
from qosforge.validation.context import ValidationContext

LARGE = 1_000
MANY = 300
FEW = 3


@dataclass(frozen=True)
class Stage:
    """Seconds of processor time of a stage for a large campus, once, and the most memory so far in megabytes."""

    name: str
    seconds: float
    megabytes: float

    def __str__(self) -> str:
        each = self.seconds / LARGE * 1e3
        return f"{self.name}: {self.seconds:.2f} s ({each:.2f} ms a device), {self.megabytes:.0f} MB at most so far"


def measure() -> Iterator[Stage | Ratio]:
    """The stages of a large campus one after another; then the cost of three devices among many against alone."""
    yield from alone_in_its_process(_stages)
    alone, among = alone_in_its_process(_few)
    yield Ratio(f"preview of a change of {FEW} of {MANY} devices / of {FEW} of {FEW}", among, alone, at_most=1.5)
    compiled, proven = alone_in_its_process(_proofs)
    name = f"proof that {MANY} devices × 12 classes, all differ, tell them apart / compile of them"
    yield Ratio(name, proven, compiled, at_most=5.0)


def _stages() -> list[Stage]:
    found = []
    size = f"{LARGE} devices × {PORTS} ports"

    def stage(name: str, took: float) -> None:
        found.append(Stage(f"{name} {size}", took, peak() / 1000))

    with tempfile.TemporaryDirectory() as folder:
        small, large, written_out = (Path(folder) / name for name in ("small", "large", "out"))
        write_campus(small, FEW)
        write_campus(large, LARGE)
        write_campus(written_out, LARGE, ranges=False)
        _preview(change_of_all(), load_network(small))  # reads data and templates
        stage("load, ports as ranges,", seconds(lambda: load_network(large)))
        stage("load, port by port,", seconds(lambda: load_network(written_out)))
        network = load_network(large)
    intent = change_of_all()
    stage("lint", seconds(lambda: compile_document(check_policy(intent, network))))
    stage("compile", seconds(lambda: compile_intent(intent, network)))
    stage("preview", seconds(lambda: _preview(intent, network)))
    return found


def _few() -> tuple[float, float]:
    """Seconds of a preview of three devices alone, and among many."""
    networks = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (FEW, MANY):
            write_campus(Path(folder) / str(count), count, changed=FEW)
            networks.append(load_network(Path(folder) / str(count)))
    _preview(change(), networks[0])
    alone, among = (best(lambda network=network: _preview(change(), network)) for network in networks)  # type: ignore[misc]
    return alone, among


def _proofs() -> tuple[float, float]:
    """Seconds of a compile of devices that all differ, and of the proofs of what they do."""
    intent, network = recognised_classes(), fleet(MANY)
    compile_intent(intent, fleet(len(IMAGES)))  # reads data and templates
    compiled = seconds(lambda: compile_intent(intent, network))
    context = ValidationContext(compile_intent(intent, network), {})
    return compiled, seconds(lambda: deque(check_classification(context), maxlen=0))


def _preview(intent: LoadedIntent, network: Network) -> None:
    running = {device.name: bare_configuration(device) for device in network.devices}
    policy_document(check_policy(intent, network, running, own_checks=own_checks)).model_dump_json()
