"""Right configurations raise no fault of a line: what the library compiles to, and what people wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.findings import Finding, has_errors
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import Configuration
from tests.compiler.goldens import LIBRARY, every_platform, library

from .support import FOLDER, Validated, compiled, network_of

POLICIES = (*LIBRARY, "campus/campus-collaboration", "campus/itesm-paper")
WRITTEN = sorted((FOLDER / "right").glob("*.cfg"))
_PLATFORM = re.compile(r"! platform: (?P<platform>\S+) (?P<image>\S+)\n")


def about_lines(findings: tuple[Finding, ...]) -> list[str]:
    """The findings that name a line of a configuration."""
    return [f"{f.code}: {f.message}" for f in findings if {"number", "text", "part"} <= f.facts.keys()]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_compiled_without_an_error_has_no_fault(policy: str) -> None:
    right = list(compiled_without_errors(policy))
    assert right
    assert [fault for each in right for fault in about_lines(each.own_findings())] == []


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_what_people_wrote_has_no_fault(path) -> None:
    assert about_lines(written(path.read_text(encoding="utf-8")).own_findings()) == []


def test_there_are_right_configurations_of_every_platform() -> None:
    said = {_PLATFORM.match(path.read_text(encoding="utf-8"))["platform"] for path in WRITTEN}
    assert said == {device.platform for device in every_platform().devices}
    compiled_ones = sum(len(list(compiled_without_errors(policy))) for policy in POLICIES)
    assert len(WRITTEN) + compiled_ones >= 100


def compiled_without_errors(policy: str) -> Iterator[Validated]:
    """The devices that can have a policy."""
    for device in network_of(policy).devices:
        validated = compiled(policy, device.name)
        if not has_errors(validated.compilation.findings):
            yield validated


def written(text: Configuration) -> Validated:
    """A configuration as if all of it were what a device comes to hold anew, with nothing rendered beside it."""
    said = _PLATFORM.match(text)
    assert said is not None, "the first line names the platform and the image"
    name = next(d.name for d in every_platform().devices if d.platform == said["platform"])
    policy = next(p for p in LIBRARY if any(d.name == name for d in library(p).devices))
    validated = compiled(policy, name)
    device = validated.compilation.devices[0]
    request = device.request.model_copy(update={"image": said["image"], "interfaces": ()})
    plan = device.plan.model_copy(update={"interfaces": ()})
    bare = replace(device, request=request, plan=plan, blocks=())
    tree = platform(said["platform"]).commands.tree(text)
    return Validated(
        replace(validated.compilation, devices=(bare,)), {}, {name: PredictedConfiguration(None, tree)}
    )
