"""Compile and validate a run's intent and make the candidates of its devices, in a computing process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qosforge.batfish.check import BatfishCheck, prepare_check
from qosforge.compiler.candidate import Candidate, make_candidate, predict_configurations
from qosforge.compiler.compile import Compilation, compile_devices, compile_intent
from qosforge.compiler.unconfirmed import as_pushed, unconfirmed_findings
from qosforge.findings import Finding, has_errors
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.packed import Packed
from qosforge.platforms.device_text import DeviceText
from qosforge.validation.checks import own_checks


@dataclass(frozen=True)
class RunCompilation:
    """A compilation, and the running configurations (by device) that it was made against."""

    compilation: Compilation
    running: Mapping[str, DeviceText]


@dataclass(frozen=True)
class RunValidation:
    """Our own findings on a compilation, what Batfish is to be asked of it, and of every device that was read its
    whole configuration and its candidate: of none where the findings refuse the change.
    """

    findings: tuple[Finding, ...]
    batfish: BatfishCheck
    devices: Mapping[str, tuple[str, Candidate]]


def compile_run(
    intent: LoadedIntent, network: Network, running: Mapping[str, DeviceText]
) -> tuple[tuple[str, ...], Packed[RunCompilation]]:
    """The devices that an intent is about on a whole network, and what it becomes there, for `validate_run`.

    Of the network it has the devices that were read.
    """
    compilation = compile_intent(intent, network, running).narrowed(running)
    return tuple(device.name for device in compilation.devices), Packed(RunCompilation(compilation, running))


def refuse_unconfirmed(intent: LoadedIntent, network: Network) -> tuple[Finding, ...]:
    """Errors on devices that would be given lines that no published source confirms and nobody accepted, as far as
    that is known without a look at them.
    """
    devices, _ = compile_devices(intent, network)
    found = as_pushed(unconfirmed_findings(devices), accepted=False)
    return tuple(finding for finding in found if has_errors((finding,)))


def validate_run(
    compiled: Packed[RunCompilation],
    *,
    strict: bool,
    accepted: bool,
) -> RunValidation:
    """Put what was compiled to our own checks, and make the candidates.

    ``strict`` lets warnings refuse a change, too; lines that no published source confirms do unless ``accepted``.
    """
    compilation, running = compiled.value().compilation, compiled.value().running
    # What is checked is what the candidates are made of.
    predicted = predict_configurations(compilation, running)
    unconfirmed = as_pushed(unconfirmed_findings(compilation.devices), accepted=accepted)
    findings = (*compilation.findings, *unconfirmed, *own_checks(compilation, running, predicted))
    made = (
        ()
        if has_errors(findings, strict=strict)
        else [device for device in compilation.devices if device.name in running]
    )
    devices = {
        device.name: (device.text, make_candidate(device, running[device.name], predicted[device.name]))
        for device in made
    }
    return RunValidation(findings, prepare_check(compilation, running, predicted), devices)
