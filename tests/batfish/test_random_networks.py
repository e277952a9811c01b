"""Random networks put to a live Batfish: no false alarm, no loss unnamed, and no secret in its storage."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from qosforge.batfish import questions
from qosforge.batfish.check import BatfishCheck
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.networks import clean_up
from qosforge.findings import Finding, Severity
from qosforge.validation.checks import own_checks

from .random_networks import DEVICES, RandomNetwork, networks

NETWORKS = int(os.environ.get("QOSFORGE_BATFISH_NETWORKS", "6"))
"""How many networks; 200 say more."""
CONTAINERS = os.environ.get("QOSFORGE_BATFISH_CONTAINERS")
"""Folder where the service keeps its networks (its ``-containerslocation``), to look for secrets in."""
SECONDS = 120.0
BEGUN = time.time()
KINDS = {
    "classes within classes": re.compile(r"^ match (?:not )?class-map ", re.MULTILINE),
    "policies of layer 2": re.compile(r"^ service-policy input \S+ layer2", re.MULTILINE),
}
"""What has to be among many networks, by lines that devices come to hold."""


@pytest.mark.batfish
@pytest.mark.timeout(80 * NETWORKS)
def test_random_networks(live: Address) -> None:
    faults: list[str] = []
    counts: Counter[str] = Counter()

    @settings(
        max_examples=NETWORKS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(network=networks())
    def each(network: RandomNetwork) -> None:
        faults.extend(faults_of(network, live, counts))

    each()
    logging.getLogger(__name__).info("%s", dict(counts))
    assert faults == [], counts
    if NETWORKS >= 50:
        assert {f"devices of {name}" for name in DEVICES.values()} | set(KINDS) <= set(counts)


def faults_of(network: RandomNetwork, live: Address, counts: Counter[str]) -> Iterator[str]:
    """What is not as it has to be, each with the network."""
    counts["networks"] += 1
    counts.update(f"devices of {DEVICES[name]}" for name in network.running)
    counts.update(
        kind for kind, words in KINDS.items() if any(words.search(text) for text in network.after.values())
    )
    for fault in (*_alarms(network, live, counts), *_unnamed(network, live, counts), *_kept(network, counts)):
        yield f"{fault}\n    {network!r}"


def _alarms(network: RandomNetwork, live: Address, counts: Counter[str]) -> Iterator[str]:
    found = _ask(network.check(), live)
    own = own_checks(network.compilation, network.running, network.predicted)
    shadowed = any(f.code == "class-shadowed" for f in own)  # a class of the intent, on all devices
    serious = [
        f
        for f in found
        if f.severity is not Severity.INFO and not (shadowed and f.code == "batfish-class-never-reached")
    ]
    counts["false alarms"] += len(serious)
    counts["refused networks"] += any(f.severity is Severity.ERROR for f in serious)
    yield from (f"{f.device}: {f.severity.value} {f.code}: {f.message}" for f in serious)
    missed = network.modelled - _checked(found)
    counts["devices not checked"] += len(missed)
    yield from (
        f"{f.device}: {f.message}" for f in found if f.code == "batfish-device-not-checked" and f.device in missed
    )


def _unnamed(network: RandomNetwork, live: Address, counts: Counter[str]) -> Iterator[str]:
    check, losses = network.with_losses()
    if not losses:
        return
    found = _ask(check, live)
    checked = _checked(found)
    for loss in losses:
        of_device = [f for f in found if f.device == loss.device and f.severity is not Severity.INFO]
        if any(repr(loss.name) in f.message or f" {loss.name}" in f.message for f in of_device):
            counts["losses named"] += 1
        elif loss.device in checked:
            counts["losses unnamed"] += 1
            yield f"not named: {loss}"
        else:
            counts["losses on devices not checked"] += 1


def _kept(network: RandomNetwork, counts: Counter[str]) -> Iterator[str]:
    """Secrets in the service's storage, where those of deleted networks stay for some minutes."""
    if CONTAINERS is None:
        return
    marked = False
    words = [secret.encode() for secret in network.secrets]
    for path, content in _contents(Path(CONTAINERS)):
        marked = marked or network.marker.encode() in content
        for word in words:
            if word in content:
                counts["secrets found"] += 1
                yield f"kept by the service: {word!r} in {path}"
    if not marked:
        yield "nothing of the network is in the folder of the service"


def _contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """What files say that are newer than this process. What is unlike all before it LZ4 leaves as it is."""
    for path in (Path(parent) / name for parent, _, names in os.walk(folder) for name in names):
        try:
            if path.stat().st_mtime < BEGUN:
                continue
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    yield from ((path, archive.read(name)) for name in archive.namelist())
            else:
                yield path, path.read_bytes()
        except (FileNotFoundError, zipfile.BadZipFile):
            continue  # one that the service deletes, or writes, meanwhile


def _ask(check: BatfishCheck, live: Address) -> tuple[Finding, ...]:
    """What a service answers, asked in this process: the client takes longest to start."""
    name = f"qosforge-test-{secrets.token_hex(8)}"
    try:
        answers = questions.ask(live.host, live.port, network=name, seconds=SECONDS, **check.question)
    finally:
        clean_up(live, "test", name, 10)
    return check.findings_of(json.loads(json.dumps(answers, default=str)))


def _checked(findings: tuple[Finding, ...]) -> set[str]:
    found = [f for f in findings if f.code == "batfish-checked"]
    return {name for f in found for name in str(f.facts["devices"]).split(", ")}


@pytest.mark.batfish
def test_storage_is_searched() -> None:
    if CONTAINERS is None:
        pytest.skip("set QOSFORGE_BATFISH_CONTAINERS to the folder where the service keeps its networks")
    assert (Path(CONTAINERS) / "networks").is_dir()
