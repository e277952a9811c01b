"""Check references and syntax with Batfish, comparing snapshots before and after the change.

It sees names, access lists and where packets go; every number, queue, map and direction is for our own checks. The
question is made where the compilation is; `qosforge.batfish.service` asks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.batfish.answer_findings import answer_findings
from qosforge.batfish.snapshots import Snapshots, make_snapshots
from qosforge.compiler.compile import Compilation
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.device_names import name_devices
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import Configuration


@dataclass(frozen=True)
class BatfishCheck:
    """What Batfish is asked of a compilation, and what its answers are about.

    ``unmodelled`` are the devices, by platform, that it has no model of; ``excepted`` those that need no check by
    it, whoever requires one.
    """

    snapshots: Snapshots
    unmodelled: Mapping[str, tuple[str, ...]]
    excepted: frozenset[str] = frozenset()

    @property
    def question(self) -> Mapping[str, Any]:
        """What the process that asks is given; forwarding is computed where the change may alter it."""
        return {"snapshots": self.snapshots.files, "computing": self.snapshots.may_forward_otherwise}

    def findings_of(self, answers: Mapping[str, Any], *, require: bool = False) -> tuple[Finding, ...]:
        """What the answers to `question` say; with ``require``, a device that was not checked is an error.

        Raises:
            LookupError, TypeError, ValueError, AttributeError: they are not understood.
        """
        return answer_findings(self.snapshots, answers, require=require, excepted=self.excepted)

    def requires(self, *, require: bool) -> bool:
        """Whether it is an error that nothing was checked, where ``require`` asks for a check."""
        return require and not self.excepted.issuperset(copies.name for copies in self.snapshots.devices.values())

    def not_modelled(self, *, require: bool) -> tuple[Finding, ...]:
        """The devices that Batfish cannot check: an error with ``require``, unless a rule excepts them."""
        return tuple(self._not_modelled(require=require))

    def _not_modelled(self, *, require: bool) -> Iterator[Finding]:
        for name, devices in self.unmodelled.items():
            missed = [device for device in devices if require and device not in self.excepted]
            left = [device for device in devices if device not in missed]
            if missed:
                yield _unmodelled(name, missed, variant="required", required=True)
            if left:
                yield _unmodelled(name, left, required=False)


def _unmodelled(name: str, devices: Sequence[str], **said: Any) -> Finding:
    named = name_devices(devices)
    title = platform(name, devices[0]).family.title
    return note("batfish-not-modelled", name=title, named=named, devices=", ".join(devices), **said)


def prepare_check(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
) -> BatfishCheck:
    """What Batfish is to be asked of a compilation; pure.

    ``predicted`` are the configurations that the candidates are made of, where they are made already.
    """
    unmodelled: dict[str, tuple[str, ...]] = {}
    for device in compilation.devices:
        if platform(device.request.platform, device.name).batfish_format is None:
            unmodelled[device.request.platform] = (*unmodelled.get(device.request.platform, ()), device.name)
    excepted = frozenset(compilation.network.changes.batfish.except_)
    return BatfishCheck(make_snapshots(compilation, running, predicted), unmodelled, excepted)
