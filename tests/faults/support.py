"""Planted faults as data: each is put into what was compiled for a device, and validated as a run validates it.

The tables are the YAML files beside this module, one for each platform. An entry is a fault::

    - id: misspelt-keyword            # what pytest calls it
      policy: infn-fnal-pq            # the policy; `campus/POLICY` on the campus, else on `tests/golden/network*`
      device: ios-12-4
      beside: [r2]                    # other devices that the run changes too: the other end of a link
      told_of: r2                     # the device that the finding is of, where it is the other one
      in: rendered                    # or predicted: what the device comes to hold, lines of others included
      under: policy-map cdf-pq        # the heading at the top below which the line stands, where several are alike
      find: "  priority 800"          # the line with its indentation (or several); without it `put` is added
      put: ["  priority prcent 30"]   # what stands there instead; [] takes the line away
      code: line-unknown              # the finding, and the line that it has to name
      line: priority prcent 30        # none where it is of an interface as a whole
      class: pre7                     # and, where they are said here, the class of the intent and the interface
      interface: Serial0/0
      seen_by: [own, batfish]         # who finds it; `batfish` is asked where QOSFORGE_BATFISH_HOST is set
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field

from qosforge.compiler.candidate import predict_configurations
from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.configtree.tree_text import tree_text
from qosforge.findings import Finding
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.platforms.base import Block, platform
from qosforge.validation.checks import own_checks
from tests.compiler.goldens import ROOT, booted_with, library

FOLDER = Path(__file__).parent
CAMPUS = ROOT / "inventories" / "campus"


class PlantedFault(BaseModel):
    """One fault: where it is put, and how it has to be named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    policy: str
    device: str
    beside: tuple[str, ...] = ()
    told_of: str | None = None
    where: str = Field(alias="in", pattern="rendered|predicted")
    under: str | None = None
    find: str | None = None
    put: tuple[str, ...] = ()
    code: str
    line: str | None = None
    traffic_class: str | None = Field(default=None, alias="class")
    interface: str | None = None
    seen_by: tuple[str, ...] = Field(min_length=1)
    platform: str = ""


@dataclass(frozen=True)
class Validated:
    """What a run would validate: a compilation of one device, what it runs, and what it comes to hold."""

    compilation: Compilation
    running: Mapping[str, str]
    predicted: Mapping[str, PredictedConfiguration]

    def own_findings(self) -> tuple[Finding, ...]:
        """Findings of our own checks."""
        return own_checks(self.compilation, self.running, self.predicted)


@cache
def tables() -> tuple[PlantedFault, ...]:
    """All planted faults; the name of a file is that of the platform."""
    return tuple(
        PlantedFault.model_validate({**entry, "platform": path.stem})
        for path in sorted(FOLDER.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
    )


@cache
def campus(policy: str) -> Compilation:
    """A policy on the campus, beside what its devices run."""
    return compile_intent(load_intent(ROOT / "policies" / f"{policy}.yaml"), load_network(CAMPUS), campus_running())


@cache
def campus_running() -> Mapping[str, str]:
    """What the devices of the campus run."""
    devices = load_network(CAMPUS).devices
    return {d.name: (CAMPUS / d.startup).read_text(encoding="utf-8") for d in devices if d.startup}


def network_of(policy: str) -> Compilation:
    """A policy on the network that it is tried on."""
    return campus(policy.removeprefix("campus/")) if policy.startswith("campus/") else library(policy)


def compiled(policy: str, *devices: str) -> Validated:
    """Devices as a policy has them, without a fault."""
    whole = network_of(policy)
    texts = campus_running() if policy.startswith("campus/") else booted_with()
    made = tuple(next(d for d in whole.devices if d.name == name) for name in devices)
    return _validated(whole, made, {name: texts[name] for name in devices})


def with_fault(fault: PlantedFault) -> Validated:
    """The device with the fault in it."""
    right = compiled(fault.policy, fault.device, *fault.beside)
    device = right.compilation.devices[0]
    if fault.where == "rendered":
        devices = (_rendered_with(device, fault), *right.compilation.devices[1:])
        return _validated(right.compilation, devices, right.running)
    grammar = platform(device.request.platform).grammar
    before = right.predicted[device.name]
    lines = _edited(tree_text(before.target, grammar).splitlines(), fault)
    assert lines is not None, f"{fault.id}: no line {fault.find!r} below {fault.under!r}"
    after = PredictedConfiguration(before.current, grammar.parse("\n".join(lines)))
    return replace(right, predicted={**right.predicted, device.name: after})


def _validated(whole: Compilation, devices: tuple[CompiledDevice, ...], running: Mapping[str, str]) -> Validated:
    alone = replace(whole, devices=devices)
    return Validated(alone, running, predict_configurations(alone, running))


def _rendered_with(device: CompiledDevice, fault: PlantedFault) -> CompiledDevice:
    if fault.find is None:
        added = Block("planted", fault.id, "\n".join(fault.put) + "\n")
        return replace(device, blocks=(*device.blocks, added))
    blocks = list(device.blocks)
    for position, block in enumerate(blocks):
        lines = _edited(block.text.splitlines(), fault)
        if lines is not None:
            blocks[position] = replace(block, text="".join(f"{line}\n" for line in lines))
            return replace(device, blocks=tuple(blocks))
    raise AssertionError(f"{fault.id}: no line {fault.find!r} below {fault.under!r}")


def _edited(lines: Sequence[str], fault: PlantedFault) -> list[str] | None:
    """The lines with the fault in them; None where its line is not among them."""
    if fault.find is None:
        return [*lines, *fault.put]
    heading, sought = "", fault.find.split("\n")
    for position, line in enumerate(lines):
        heading = heading if line.startswith(" ") else line
        end = position + len(sought)
        if list(lines[position:end]) == sought and fault.under in (None, heading):
            return [*lines[:position], *fault.put, *lines[end:]]
    return None
