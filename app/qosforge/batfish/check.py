"""Check references and syntax with Batfish, comparing snapshots before and after the change.

Only rows that the change adds count, so that what Batfish does not know of a valid configuration cancels out.
It sees names and first keywords; every number, queue, map and direction is for our own checks. The question is made
where the compilation is; `qosforge.batfish.service` asks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.batfish.rows import Answers, new_rows
from qosforge.batfish.snapshots import Snapshots, make_snapshots
from qosforge.compiler.compile import Compilation
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.errors import Place
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
    def question(self) -> Mapping[str, Mapping[str, str]]:
        """What the process that asks is given."""
        return {"before": self.snapshots.before, "after": self.snapshots.after}

    def findings_of(self, answers: Answers) -> tuple[Finding, ...]:
        """What the answers to `question` say.

        Raises:
            LookupError, TypeError, ValueError, AttributeError: they are not understood.
        """
        return (*new_rows(answers), note("batfish-checked", Place(), count=len(self.snapshots.after)))

    def requires(self, *, require: bool) -> bool:
        """Whether it is an error that nothing was checked, where ``require`` asks for a check."""
        return require and not self.excepted.issuperset(name.removesuffix(".cfg") for name in self.snapshots.after)

    def not_modelled(self, *, require: bool) -> tuple[Finding, ...]:
        """The devices that Batfish cannot check: an error with ``require``, unless a rule excepts them."""
        return tuple(self._not_modelled(require=require))

    def _not_modelled(self, *, require: bool) -> Iterator[Finding]:
        for name, devices in self.unmodelled.items():
            missed = [device for device in devices if require and device not in self.excepted]
            left = [device for device in devices if device not in missed]
            if missed:
                names = ", ".join(missed)
                yield note("batfish-not-modelled", variant="required", name=name, devices=names, required=True)
            if left:
                yield note("batfish-not-modelled", name=name, devices=", ".join(left), required=False)


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
