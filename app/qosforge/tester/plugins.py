"""Testers of packets by their names: those that qosforge brings, and plug-ins of the entry point group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from pydantic import ValidationError

from qosforge.errors import InputError, Place, TesterError
from qosforge.tester.measurement.document import Measurement, Side
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.otg.tester import TESTER as OTG
from qosforge.tester.otg.tester import OtgTester
from qosforge.tester.permission import require_permission
from qosforge.tester.probes.tester import TESTER as PROBES
from qosforge.tester.probes.tester import ProbeTester
from qosforge.tester.watch import Watch

GROUP = "qosforge.testers"


class PacketTester(Protocol):
    """What sends packets and says what became of them. An entry point of the group names an instance."""

    def measure(self, plan: MeasurementPlan, when: Side) -> Measurement:
        """Carry a plan out, and give what every flow saw, lost packets included, with evidence ``measured``.

        Raises:
            InputError: the network does not say what this tester needs.
            TesterError: it could not measure.
        """
        ...


@cache
def installed() -> Mapping[str, EntryPoint]:
    """Entry points of the installed plug-ins by their names."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def tester_names() -> tuple[str, ...]:
    """The names of all testers of packets."""
    return (PROBES, OTG, *sorted(installed().keys() - {PROBES, OTG}))


def measure_packets(
    name: str,
    plan: MeasurementPlan,
    when: Side,
    *,
    ssh_options: tuple[str, ...] = (),
    watch: Watch | None = None,
) -> Measurement:
    """Have a tester measure, and look at what it gives. ``ssh_options`` are of the way to hosts of probes; what
    ``watch`` has begun to look at is looked at meanwhile, and once more at the end.

    A plug-in's packets go where nobody but it knows: they take the network's permission.

    Raises:
        InputError: there is no such tester, or it may not send.
        TesterError: it could not measure, gives what cannot be judged, or a device suffered from it.
    """
    if watch is not None:
        plan = replace(plan, meanwhile=watch.look)
    if name not in (PROBES, OTG):
        tester = _plugin(name)
        require_permission(plan, plan.network.probes.permission)
    elif name == PROBES:
        tester = ProbeTester(plan.network.probes, ssh_options)
    else:
        tester = OtgTester()
    try:
        measured = tester.measure(plan, when)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        hint = "keep what it says, and report it: nothing can be judged by this measurement"
        raise TesterError(f"the tester {name!r} gives a faulty measurement: {first['msg']}", hint=hint) from None
    if watch is not None:
        watch.look(at_once=True)
    _check(name, plan, measured, when)
    return measured


def _plugin(name: str) -> PacketTester:
    place = Place(path="tester")
    if name not in installed():
        raise InputError(f"there is no tester {name!r}", place, f"there are: twin, {', '.join(tester_names())}")
    try:
        plugin: PacketTester = installed()[name].load()
    except Exception as error:  # noqa: BLE001  somebody else's code: whatever it raises is told, not shown as ours
        raise InputError(f"the tester {name!r} cannot be loaded: {error}", place, "install it again") from None
    if not callable(getattr(plugin, "measure", None)):
        raise InputError(f"the tester {name!r} cannot measure", place, "bring it to what docs/probes.md says")
    return plugin


def _check(name: str, plan: MeasurementPlan, measured: object, when: Side) -> None:
    if not isinstance(measured, Measurement):
        raise TesterError(f"the tester {name!r} gives no measurement", hint="let its author read docs/probes.md")
    if measured.evidence != "measured" or measured.when != when:
        said = f"{measured.evidence} {measured.when}"
        raise TesterError(f"the tester {name!r} says {said}, and was asked for measured {when}")
    missing = {each.name for each in plan.scenarios} - {each.name for each in measured.scenarios}
    if missing:
        raise TesterError(f"the tester {name!r} left out scenario {sorted(missing)[0]}")
