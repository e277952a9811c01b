"""The library on every platform and train: as the files in ``tests/golden`` say, and as the devices take it.

``python -m tests.golden`` writes the files anew, for a look at the difference.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import has_errors
from qosforge.intent.loader import load_intent
from qosforge.inventory.models import Device
from qosforge.platforms.base import platform
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from tests.answers import refusals
from tests.compiler.goldens import (
    EXAMPLES,
    LIBRARY,
    booted_with,
    every_platform,
    expected,
    findings_of,
    golden_file,
    library,
    library_files,
)
from tests.compiler.support import ROOT

TAKEN = [
    (name, device.name)
    for name in LIBRARY
    for device in every_platform().devices
    if device.platform != "linux_tc" and golden_file(name, device.name).exists()
]
"""Policies and emulated devices with a configuration: a kernel takes those of Linux routers (tests/routers)."""


def emulated(device: Device) -> Box:
    """A device of the golden network that has booted."""
    features: dict[str, bool] = dict.fromkeys(device.features, True)
    if device.platform == "catalyst_2950":
        features["enhanced"] = device.image.endswith("EI")
    spec = BoxSpec(
        name=device.name,
        platform=device.platform,
        image=device.image,
        features=features,
        username="u",
        password="p",
    )
    with tempfile.TemporaryDirectory() as folder:
        box = make_box(spec, Storage(Path(folder), booted_with()[device.name]), Clock())
        box.boot()
    assert box.boot_messages == []
    return box


def made_for(policy: str, name: str) -> CompiledDevice:
    """A device of the golden network under a policy."""
    return next(d for d in library(policy).devices if d.name == name)


@pytest.mark.parametrize("name", LIBRARY)
def test_it_compiles_to_its_goldens(name: str) -> None:
    wanted = dict(expected(name))
    assert {path.name for path in library_files(name)} == {path.name for path in wanted}
    for path, text in wanted.items():
        assert path.read_text(encoding="utf-8") == text, path.name


@pytest.mark.parametrize("name", LIBRARY)
def test_what_is_refused_has_no_configuration(name: str) -> None:
    for made in library(name).devices:
        refused = has_errors(findings_of(library(name), made.name))
        assert golden_file(name, made.name).exists() is not refused, made.name


@pytest.mark.parametrize(("policy", "name"), TAKEN)
def test_the_box_takes_every_line_and_gives_it_back(policy: str, name: str) -> None:
    made, device = made_for(policy, name), every_platform().device(name)
    box = emulated(device)
    before = box.running_text()
    candidate = make_candidate(made, before)
    assert refusals(box.configure(candidate.delta)) == []
    held = platform(device.platform).parse(box.running_text(), name, device.image)
    assert find_plan_differences(made.plan, held) == ()
    assert held.unknown == ()
    assert refusals(box.configure(candidate.inverse)) == []
    assert box.running_text() == before


@pytest.mark.parametrize("name", [*LIBRARY, *EXAMPLES])
def test_it_is_documented(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs/library.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LIBRARY)
def test_every_parameter_is_used(name: str) -> None:
    assert load_intent(ROOT / "policies" / f"{name}.yaml").findings == ()


@pytest.mark.parametrize("count", [4, 8, 12])
def test_the_classes_of_rfc_4594_divide_everything(count: int) -> None:
    classes = load_intent(ROOT / "policies" / f"rfc4594-{count}.yaml").intent.classes
    assert len(classes) == count
    shares = [c.treatment.bandwidth for c in classes if c.treatment.bandwidth]
    assert sum(share.remaining_percent or 0 for share in shares) == 100
    matched = [value for c in classes if c.match for term in c.match.any for value in term.dscp]
    assert len(matched) == len(set(matched))
