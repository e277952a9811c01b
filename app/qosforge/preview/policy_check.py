"""Compile a policy for a network and validate it against what the devices hold; no device is touched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from qosforge.batfish.check import BatfishCheck, prepare_check
from qosforge.compiler.candidate import Candidate, make_candidate, predict_configurations
from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.compiler.unconfirmed import as_pushed, unconfirmed_findings
from qosforge.deploy.not_saved import not_saved
from qosforge.errors import InputError, Place
from qosforge.finding_rows import gather_findings
from qosforge.findings import Finding, complete_devices, has_errors
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import Configuration, DeviceWords, words_of
from qosforge.platforms.masked_findings import mask_findings
from qosforge.units import listed

OwnChecks = Callable[
    [Compilation, Mapping[str, Configuration], Mapping[str, PredictedConfiguration]], tuple[Finding, ...]
]
"""Such as `qosforge.validation.checks.own_checks`, or a part of these."""


@dataclass(frozen=True)
class PolicyCheck:
    """The outcome of compiling and validating a policy: the compilation, of the whole network where it was checked,
    else of the chosen devices; and of these the findings, in which secrets are masked. ``running`` are
    the configurations that were read, ``predicted`` what devices come to hold, where it was made for the checks.
    """

    compilation: Compilation
    devices: tuple[CompiledDevice, ...]
    findings: tuple[Finding, ...]
    running: Mapping[str, Configuration]
    strict: bool = False
    predicted: Mapping[str, PredictedConfiguration] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether nothing stands against a push."""
        return not has_errors(self.findings, strict=self.strict)

    @cached_property
    def complete(self) -> frozenset[str]:
        """The chosen devices against whose configuration nothing stands."""
        return complete_devices(self.findings, (device.name for device in self.devices), strict=self.strict)

    def words(self, device: CompiledDevice) -> DeviceWords:
        """The filter that masks the secrets of a device that was read in what quotes it."""
        return words_of(self.running[device.name], device.name, device.request.platform)

    @property
    def batfish(self) -> BatfishCheck:
        """What Batfish is to be asked of the compilation."""
        return prepare_check(self.compilation, self.running)

    def with_findings(self, findings: Iterable[Finding]) -> PolicyCheck:
        """This with what Batfish found."""
        names = {device.name for device in self.devices}
        found = shown_findings(findings, self.compilation.network, self.running, names)
        return replace(self, findings=(*self.findings, *found))

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidate of every chosen device that was read."""
        return tuple(
            make_candidate(device, self.running[device.name], self.predicted.get(device.name))
            for device in self.devices
            if device.name in self.running
        )


def check_policy(
    loaded: LoadedIntent,
    network: Network,
    running: Mapping[str, Configuration] | None = None,
    *,
    unsaved: Mapping[str, Sequence[str]] | None = None,
    devices: Collection[str] = (),
    own_checks: OwnChecks | None = None,
    strict: bool = False,
    accepted: bool = False,
) -> PolicyCheck:
    """Compile a policy for a network and put it to ``own_checks``; findings of ``devices`` alone where given.
    What Batfish finds of it comes later: see `PolicyCheck.batfish`.

    ``accepted``: lines that no published source confirms may be entered, as in a lab.

    ``unsaved`` are lines of devices that stand in the way of a push: a finding where there is something to push.

    Raises:
        InputError: the network has no such device, or one has a platform that is not installed.
    """
    names = chosen_devices(network, devices)
    texts = dict(running or {})
    # Checks look at links and paths as well; without them nothing is asked of the other devices.
    compilation = compile_intent(loaded, network, texts, names if own_checks is None else ())
    unconfirmed = unconfirmed_findings(compilation.devices)
    findings = (*compilation.findings, *(as_pushed(unconfirmed, accepted=True) if accepted else unconfirmed))
    predicted = predict_configurations(compilation, texts) if own_checks is not None else {}
    if own_checks is not None:
        findings += own_checks(compilation, texts, predicted)
    findings += tuple(
        not_saved(device.name, unsaved[device.name])
        for device in compilation.devices
        if unsaved
        and unsaved.get(device.name)
        and not make_candidate(device, texts[device.name], predicted.get(device.name)).empty
    )
    return PolicyCheck(
        compilation,
        tuple(d for d in compilation.devices if d.name in names),
        shown_findings(findings, network, texts, names),
        texts,
        strict,
        predicted,
    )


def shown_findings(
    findings: Iterable[Finding], network: Network, running: Mapping[str, Configuration], devices: Collection[str]
) -> tuple[Finding, ...]:
    """The findings of ``devices`` and of none, without the secrets of configurations that were read."""
    found = tuple(findings)
    if running:  # else nothing of a device is quoted
        found = mask_findings(found, running, {device.name: device.platform for device in network.devices})
    return gather_findings(f for f in found if f.device is None or f.device in devices)


def chosen_devices(network: Network, devices: Collection[str]) -> frozenset[str]:
    """The devices that are named, all without a name.

    Raises:
        InputError: the network has no such device.
    """
    known = dict.fromkeys(d.name for d in network.devices)
    for name in devices:
        if name not in known:
            place = Place(path="devices")
            raise InputError(f"{network.name} has no device {name!r}", place, f"one of {listed(known)}")
    return frozenset(devices or known)
